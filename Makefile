# Everything a newcomer needs; each target is a short script in scripts/. `make` alone says what there is.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test server stop psql bench quality majors lint setup build copy install clean

help:
	@echo 'make demo       fetches and builds what it needs, starts a private PostgreSQL, imports a diary, searches'
	@echo 'make psql       a session in that database           ARGS='"'"'-Atc "select 1"'"'"
	@echo 'make server     starts the private PostgreSQL         SUMMER_MEMORY_PORT=54318 is its port'
	@echo 'make stop       stops it'
	@echo 'make test       all tests'
	@echo 'make lint       formatting and lints'
	@echo 'make quality    retrieval metrics                     DATA=folder with other labelled sets'
	@echo 'make bench      figures of speed and size, against peers'
	@echo 'make majors     tests with older PostgreSQL           MAJORS="15 16"'
	@echo 'make setup      only fetches what a build needs, into the checkout'
	@echo 'make install    builds, and installs into PostgreSQL  PG_CONFIG=/path/to/pg_config PG_MAJOR=18'
	@echo 'make build      the first half of it, make copy the second, for which root needs no Rust'
	@echo 'make clean      stops the server and removes all that was built or fetched, and its database'

setup:
	@scripts/setup.sh

install: setup
	@scripts/install.sh

build: setup
	@scripts/install.sh --build-only

copy:
	@scripts/install.sh --copy-only

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
