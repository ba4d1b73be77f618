#!/usr/bin/env bash
# Tests with servers of their own: crash, dump, restart, sessions, standby. cluster.sh [name…]
# Without a name all of tests/cluster; a name is a file (crash) or a part of one (test_crash.Kill.test_all).
. "$(dirname "$0")/env.sh"

[ -f "$("$PG_CONFIG" --sharedir)/extension/summer_memory.control" ] ||
    die "the extension is not installed" "run: make install"

names=()
for name in "$@"; do
    name=${name%.py}
    names+=("test_${name#test_}")
done
if [ ${#names[@]} -eq 0 ]; then
    for file in tests/cluster/test_*.py; do names+=("$(basename "$file" .py)"); done
fi

# The whole run is in the server's user namespace, so tests start, stop and kill servers without ado.
# Psycopg is the only client; nothing here may come from the caller's own PostgreSQL settings.
unset PGHOST PGPORT PGDATABASE PGUSER
export SUMMER_MEMORY_PGBIN=$pgbin SUMMER_MEMORY_INITDB=$initdb_locale
export PYTHONPATH=$root/tests/cluster:$PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1
as_server python3 -W error::ResourceWarning -m unittest --verbose "${names[@]}"
