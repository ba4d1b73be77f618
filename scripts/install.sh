#!/usr/bin/env bash
# Builds the extension and installs it, with the model and ONNX Runtime, into the PostgreSQL of PG_CONFIG
# (by default the one under the checkout). Files of a running server are replaced, never written over.
#
#   --build-only   only builds, into build/package: as the user who has Rust
#   --copy-only    only copies what was built: as the user who may write to PostgreSQL's folders
#   --files-only   copies the model and ONNX Runtime, and leaves the extension itself alone
. "$(dirname "$0")/env.sh"

[ -x "$PG_CONFIG" ] || command -v "$PG_CONFIG" >/dev/null 2>&1 || die "no pg_config at $PG_CONFIG" "run: make setup"
[ -f "$model_folder/manifest.json" ] || die "the default model is missing" "run: make setup"

mode=${1:-}
package=build/package/$PG_MAJOR
if [ -z "$mode" ] || [ "$mode" = --build-only ]; then
    if [ -f "${CARGO_TARGET_DIR:-target}/release/libsummer_memory.so" ]; then
        say "Checking the build"
    else
        say "Building the extension (the first time takes several minutes)"
    fi
    rm -rf "$package"
    mkdir -p build/package
    cargo pgrx package --pg-config "$PG_CONFIG" --out-dir "$package" --no-default-features \
        --features "pg$PG_MAJOR" >build/install.log 2>&1 || {
        tail -n 60 build/install.log >&2
        die "the build failed" "the whole log is build/install.log"
    }
fi
[ "$mode" != --build-only ] || exit 0

if [ "$mode" != --files-only ]; then
    [ -d "$package" ] || die "nothing is built for PostgreSQL $PG_MAJOR yet" "run: make build"
    # `install` puts a new file in place of an old one, so a running server keeps the one it has loaded.
    find "$package" -type f | while read -r file; do
        target=/${file#"$package"/}
        rights=644
        [ "${file##*.}" != so ] || rights=755
        cmp -s "$file" "$target" || install -D -m "$rights" "$file" "$target"
    done
fi

share=$("$PG_CONFIG" --sharedir)/extension/summer_memory
library=$("$PG_CONFIG" --pkglibdir)
mkdir -p "$share/$model_name"
for file in "$model_folder"/*; do
    cmp -s "$file" "$share/$model_name/$(basename "$file")" || install -m 644 "$file" "$share/$model_name/"
done
cmp -s "$ort_library" "$library/$(basename "$ort_library")" || install -m 755 "$ort_library" "$library/"
