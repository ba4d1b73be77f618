#!/usr/bin/env bash
# Checks the Dockerfile without a container engine, as far as that goes: docker_check.sh
#
#   - stages that COPY --from names exist, and every base image has a tag;
#   - what COPY takes from the checkout is there in a clean export of it, and not ignored;
#   - scripts that RUN calls are there and executable, and their own folders were copied before;
#   - what the last stage copies from the build is what `make install` puts into PostgreSQL: each path is
#     there, and nothing that is there is left out. Needs an installed extension (make install).
#
# Not checked: that apt, pip and cargo find what they are asked for, and that the image starts.
. "$(dirname "$0")/env.sh"

clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar --null -T - -cf - | tar -C "$clean" -xf -

passed=0 failed=0
check() { # check DESCRIPTION COMMAND…
    local what=$1
    shift
    if "$@" >/dev/null 2>&1; then passed=$((passed + 1)); else
        echo "failed: $what"
        failed=$((failed + 1))
    fi
}
any() { compgen -G "$1"; }
has_tag() { [[ $1 == *:* ]]; }

# Folders of .dockerignore are not in the build context.
sed '/^#/d; /^$/d' .dockerignore | while IFS= read -r ignored; do
    (cd "$clean" && shopt -s globstar nullglob dotglob && rm -rf -- $ignored)
done

# The Debian paths of the image, in the PostgreSQL that is installed here.
share=$("$PG_CONFIG" --sharedir)
library=$("$PG_CONFIG" --pkglibdir)
here() { sed "s|^/usr/share/postgresql/$PG_MAJOR|$share|; s|^/usr/lib/postgresql/$PG_MAJOR/lib|$library|" <<<"$1"; }

stages=() copied=() from_build=()
# Instructions on one line each, comments left out.
while read -r instruction rest; do
    read -r -a words <<<"$rest"
    case $instruction in
    FROM)
        check "image ${words[0]} has a tag" has_tag "${words[0]}"
        [ ${#words[@]} -lt 3 ] || stages+=("${words[2]}")
        copied=()
        ;;
    COPY)
        if [[ ${words[0]} == --from=* ]]; then
            stage=${words[0]#--from=}
            check "stage $stage comes before its use" grep -qxF "$stage" <<<"$(printf '%s\n' "${stages[@]}")"
            [ "$stage" != build ] || from_build+=("${words[@]:1:${#words[@]}-2}")
            continue
        fi
        for source in "${words[@]:0:${#words[@]}-1}"; do
            check "COPY $source: it is in the checkout" any "$clean/$source"
            copied+=("$source")
        done
        ;;
    RUN)
        for word in "${words[@]}"; do
            [[ $word == scripts/* ]] || continue
            check "RUN $word: it is executable" test -x "$clean/$word"
            check "RUN $word: it was copied before" grep -qxE '\.|\./?scripts|scripts' <<<"$(printf '%s\n' "${copied[@]}")"
        done
        ;;
    esac
done < <(sed '/^ *#/d' Dockerfile | sed -e ':join' -e '/\\$/{N;s/\\\n */ /;b join' -e '}')

[ -f "$share/extension/summer_memory.control" ] || die "the extension is not installed" "run: make install"
taken=$(mktemp -p "$clean")
for source in "${from_build[@]}"; do
    check "COPY --from=build $source: make install puts it there" any "$(here "$source")"
    # shellcheck disable=SC2086 # a pattern
    find $(here "$source") -type f >>"$taken" 2>/dev/null || true
done
while IFS= read -r file; do
    check "$file is copied into the image" grep -qxF "$file" "$taken"
done < <(find "$share/extension" "$library" \( -path '*summer_memory*' -o -name 'libonnxruntime*' \) -type f)

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
