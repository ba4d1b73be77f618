#!/usr/bin/env bash
# Runs the SQL of README and docs and compares its output, and the figures of the READMEs: docs_test.sh [file…]
. "$(dirname "$0")/env.sh"

export PYTHONDONTWRITEBYTECODE=1
python3 tests/docs/figures.py
scripts/server.sh status >/dev/null 2>&1 || scripts/server.sh start
PSQL=$pgbin/psql PGTZ=UTC python3 tests/docs/run.py "$@"
