#!/usr/bin/env bash
# Retrieval metrics: quality.sh [folder]. Without a folder the labelled set in tests/quality, with thresholds.
# The rows live in a database of their own, summer_quality, which is kept: a second run loads nothing.
. "$(dirname "$0")/env.sh"

scripts/server.sh status >/dev/null 2>&1 || scripts/server.sh start
export PGDATABASE=summer_quality
if ! "$pgbin/psql" -X -qAt -d postgres -c "select 1 from pg_database where datname = '$PGDATABASE'" | grep -q 1; then
    "$pgbin/psql" -X -q -d postgres -c "create database $PGDATABASE"
fi
"$pgbin/psql" -X -q -v ON_ERROR_STOP=1 <<'SQL'
set client_min_messages = warning;
create extension if not exists summer_memory cascade;
alter extension summer_memory update;
SQL
if [ $# -gt 0 ] && [ -n "$1" ]; then
    python3 scripts/quality.py --data "$1"
else
    python3 scripts/quality.py
fi
