#!/usr/bin/env bash
# Formatting and lints of everything; changes nothing. --offline parts only, no server needed.
. "$(dirname "$0")/env.sh"

cargo fmt --all --check
cargo clippy --release --workspace --all-targets --features pg_test --quiet -- -D warnings
# `unsafe` has one home, and tests are never skipped.
if grep -rnE 'allow\(unsafe_code\)' --include='*.rs' src crates | grep -v '^src/pg/mod.rs:'; then
    die "unsafe code outside src/pg"
fi
if grep -rnE '#\[ignore|todo!\(|unimplemented!\(' --include='*.rs' src crates; then
    die "unfinished code or skipped tests"
fi
for script in scripts/*.sh .ci/run; do bash -n "$script"; done
python3 - <<'PY'
import ast, pathlib
for folder in ("scripts", "bench", "model", "tests"):
    for path in pathlib.Path(folder).rglob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"), str(path))
PY
