# Everything a newcomer needs; each target is a short script in scripts/.
#
#   make demo      installs what it needs, builds, starts a private PostgreSQL, imports a diary, searches
#   make test      all tests
#   make server    starts the private cluster        make stop     stops it
#   make psql ARGS='-Atc "select 1"'                  make lint     formatting and lints
#   make bench     ratios against peers               make quality  retrieval metrics (DATA=folder)
#   make majors MAJORS="15 16"                        tests with older versions of PostgreSQL
#   make install PG_CONFIG=/path/to/pg_config PG_MAJOR=17    into a PostgreSQL of your own

SHELL := /bin/bash
.PHONY: demo test server stop psql bench quality majors lint setup install clean

setup:
	@scripts/setup.sh

install: setup
	@scripts/install.sh

server: install
	@scripts/server.sh start

stop:
	@scripts/server.sh stop

psql:
	@scripts/server.sh start
	@. scripts/env.sh && "$$pgbin/psql" -X $(ARGS)

demo: server
	@scripts/demo.sh

test: setup
	@scripts/test.sh

bench: server
	@scripts/bench.sh

quality: server
	@scripts/quality.sh $(DATA)

majors: setup
	@scripts/majors.sh $(MAJORS)

lint: setup
	@scripts/lint.sh

clean: stop
	rm -rf target build .server .pgenv .tools .majors
