#!/usr/bin/env bash
# The private cluster: server.sh start | stop | status. It lives in .server, listens on a Unix socket only,
# and has summer_memory preloaded. SUMMER_MEMORY_CONF adds lines to its configuration.
. "$(dirname "$0")/env.sh"

ctl() { as_server "$pgbin/pg_ctl" -D "$PGDATA_DIR" "$@"; }
running() { ctl status >/dev/null 2>&1; }

case "${1:-}" in
start)
    [ -f "$("$PG_CONFIG" --sharedir 2>/dev/null)/extension/summer_memory.control" ] ||
        die "nothing is built yet" "run: make demo"
    mkdir -p "$server" "$socket_dir"
    chmod 700 "$socket_dir"
    if [ ! -f "$PGDATA_DIR/PG_VERSION" ]; then
        say "Creating the private cluster in ${PGDATA_DIR#"$root"/}"
        # shellcheck disable=SC2086 # several options
        as_server "$pgbin/initdb" -D "$PGDATA_DIR" -U postgres --auth=trust $initdb_locale \
            >"$server/initdb.log" 2>&1 || {
            cat "$server/initdb.log" >&2
            die "initdb failed"
        }
    fi
    cat >"$PGDATA_DIR/summer_memory.conf" <<EOF
listen_addresses = ''
port = $server_port
unix_socket_directories = '$socket_dir'
shared_preload_libraries = 'summer_memory'
shared_buffers = 256MB
max_wal_size = 2GB
logging_collector = off
timezone = 'UTC'
${SUMMER_MEMORY_CONF:-}
EOF
    grep -q summer_memory.conf "$PGDATA_DIR/postgresql.conf" ||
        echo "include 'summer_memory.conf'" >>"$PGDATA_DIR/postgresql.conf"
    if ! running; then
        ctl -w -t 60 -l "$server/server.log" start >/dev/null || {
            tail -n 20 "$server/server.log" >&2
            die "the server did not start" "the log is .server/server.log"
        }
    fi
    if ! "$pgbin/psql" -X -qAt -d postgres -c "select 1 from pg_database where datname = '$server_db'" | grep -q 1; then
        "$pgbin/psql" -X -q -d postgres -c "create database $server_db"
    fi
    "$pgbin/psql" -X -q -v ON_ERROR_STOP=1 -c "set client_min_messages = warning; create extension if not exists summer_memory cascade"
    ;;
stop)
    if [ -f "$PGDATA_DIR/PG_VERSION" ] && running; then
        ctl -w -m fast stop >/dev/null
        rmdir "$socket_dir" 2>/dev/null || true
    fi
    ;;
status)
    ctl status
    ;;
*)
    die "usage: server.sh start|stop|status"
    ;;
esac
