#!/usr/bin/env bash
# Regression tests: regress.sh [name…] [--accept]. Runs tests/pg_regress/sql/<name>.sql, all of them by
# default, with PostgreSQL's own pg_regress, each in a fresh database of its own on the private cluster, and
# compares the output with tests/pg_regress/expected/<name>.out. --accept makes the output the expectation:
# read it first. Exit code 1 if a file differs, 2 if one could not be run.
. "$(dirname "$0")/env.sh"

suite=tests/pg_regress
results=build/regress
names=()
accept=no
for argument in "$@"; do
    case $argument in
    --accept) accept=yes ;;
    -*) die "usage: regress.sh [name…] [--accept]" ;;
    *) names+=("$(basename "$argument" .sql)") ;;
    esac
done
if [ ${#names[@]} -eq 0 ]; then
    for file in "$suite"/sql/*.sql; do names+=("$(basename "$file" .sql)"); done
fi

pg_regress=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress
[ -x "$pg_regress" ] || die "no pg_regress at $pg_regress" "PostgreSQL's server headers are not installed; run: make setup"
scripts/server.sh status >/dev/null 2>&1 || scripts/server.sh start
mkdir -p "$suite/expected"

# Up to 15 the expectations are looked for beside the input.
expectations=()
[ "$PG_MAJOR" -lt 16 ] || expectations=(--expecteddir="$suite")

passed=0 failed=0 worst=0
for name in "${names[@]}"; do
    [ -f "$suite/sql/$name.sql" ] || die "there is no regression test \"$name\"" "they are in $suite/sql"
    out=$results/$name
    database=regress_$name
    rm -rf "$out"
    mkdir -p "$out"
    [ -f "$suite/expected/$name.out" ] || [ "$accept" = no ] || : >"$suite/expected/$name.out"
    start=$SECONDS
    code=0
    "$pg_regress" --bindir="$("$PG_CONFIG" --bindir)" --inputdir="$suite" "${expectations[@]}" \
        --outputdir="$out" --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --dbname="$database" \
        --encoding=UTF8 --load-extension=vector --load-extension=summer_memory \
        "$name" >"$out/log" 2>&1 || code=$?
    result=$out/results/$name.out
    if [ "$accept" = yes ] && [ -s "$result" ]; then
        cp "$result" "$suite/expected/$name.out"
        echo "accepted  $name ($((SECONDS - start)) s)"
        passed=$((passed + 1))
    elif [ "$code" = 0 ]; then
        echo "ok        $name ($((SECONDS - start)) s)"
        passed=$((passed + 1))
    else
        echo "FAILED    $name ($((SECONDS - start)) s)"
        if [ -s "$out/regression.diffs" ]; then cat "$out/regression.diffs"; else cat "$out/log"; fi
        failed=$((failed + 1))
        [ "$code" -le "$worst" ] || worst=$code
    fi
    "$pgbin/psql" -X -q -d postgres -c "set client_min_messages = error" -c "drop database if exists $database with (force)"
done
echo "$passed passed, $failed failed"
exit "$worst"
