#!/usr/bin/env bash
# Figures of speed and size: bench.sh [section…] [--fresh]. Sections: search connect segment import, and
# scale, which runs only when named. Results are written to bench/results. To be run on an idle machine.
. "$(dirname "$0")/env.sh"

scripts/server.sh status >/dev/null 2>&1 || scripts/server.sh start
python3 bench/bench.py "$@"
