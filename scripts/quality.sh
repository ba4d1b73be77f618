#!/usr/bin/env bash
# Retrieval metrics: quality.sh [folder]. Without a folder the labelled set in tests/quality, with thresholds.
. "$(dirname "$0")/env.sh"

scripts/server.sh status >/dev/null 2>&1 || scripts/server.sh start
if [ $# -gt 0 ] && [ -n "$1" ]; then
    python3 scripts/quality.py --data "$1"
else
    python3 scripts/quality.py
fi
