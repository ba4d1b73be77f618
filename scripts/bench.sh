#!/usr/bin/env bash
# Figures of speed and size: bench.sh [section…] [--fresh]. Sections: search connect segment import, and
# archive, scale and link, which run only when named. Results are written to bench/results. To be run on an idle machine.
. "$(dirname "$0")/env.sh"

# A new start, so that the memory measured is what the run needs and not what was read before.
scripts/server.sh stop
scripts/server.sh start
python3 bench/bench.py "$@"
