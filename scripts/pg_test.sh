#!/usr/bin/env bash
# Tests written in Rust that run inside PostgreSQL, on a throw-away cluster with the library preloaded.
. "$(dirname "$0")/env.sh"

# Unix socket paths are short, and the folder must belong to the user the server runs as.
CARGO_PGRX_TEST_PGDATA=$(mktemp -d "${TMPDIR:-/tmp}/pgt.XXXXXX")
export CARGO_PGRX_TEST_PGDATA
trap 'rm -rf "$CARGO_PGRX_TEST_PGDATA"' EXIT
unset PGHOST PGPORT PGDATABASE PGUSER
as_server env CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" cargo pgrx test --release "pg$PG_MAJOR"
