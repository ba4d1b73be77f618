# PostgreSQL 18 with summer_memory, its model and pgvector.
#
#   docker build -t summer_memory .
#   docker run -d --name summer_memory -p 127.0.0.1:5432:5432 -e POSTGRES_PASSWORD=change-me \
#       -v summer_memory:/var/lib/postgresql summer_memory
#
# The database of POSTGRES_DB has the extension; in others run: create extension summer_memory cascade.

FROM rust:1.95-bookworm AS rust

FROM postgres:18-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        build-essential ca-certificates git libssl-dev make pkg-config python3 python3-pip \
        postgresql-server-dev-18
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
ENV PATH=/usr/local/cargo/bin:$PATH \
    CARGO_HOME=/usr/local/cargo \
    RUSTUP_HOME=/usr/local/rustup \
    PG_CONFIG=/usr/lib/postgresql/18/bin/pg_config \
    PG_MAJOR=18
WORKDIR /src
# Tools and model first: they change less often than the sources.
COPY requirements.txt requirements-test.txt ./
COPY model ./model
COPY scripts ./scripts
RUN scripts/setup.sh
COPY . .
RUN scripts/install.sh

FROM postgres:18-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-18-pgvector \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/lib/postgresql/18/lib/summer_memory.so /usr/lib/postgresql/18/lib/
COPY --from=build /usr/lib/postgresql/18/lib/libonnxruntime.so.1.28.0 /usr/lib/postgresql/18/lib/
COPY --from=build /usr/share/postgresql/18/extension/summer_memory.control /usr/share/postgresql/18/extension/
COPY --from=build /usr/share/postgresql/18/extension/summer_memory--*.sql /usr/share/postgresql/18/extension/
COPY --from=build /usr/share/postgresql/18/extension/summer_memory /usr/share/postgresql/18/extension/summer_memory
COPY LICENSE-MIT LICENSE-APACHE THIRD-PARTY-NOTICES.md /usr/share/doc/summer_memory/
RUN echo "shared_preload_libraries = 'summer_memory'" >>/usr/share/postgresql/postgresql.conf.sample \
    && echo 'create extension summer_memory cascade;' >/docker-entrypoint-initdb.d/10-summer_memory.sql
