#!/usr/bin/env bash
# Runs the SQL of README and docs and compares its output: docs_test.sh [file…]
. "$(dirname "$0")/env.sh"

scripts/server.sh status >/dev/null 2>&1 || scripts/server.sh start
PSQL=$pgbin/psql PYTHONDONTWRITEBYTECODE=1 PGTZ=UTC python3 tests/docs/run.py "$@"
