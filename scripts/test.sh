#!/usr/bin/env bash
# All tests, cheap ones first. Run by `make test` and by CI. A name runs one part:
# test.sh [lint|web|crates|model|pg_test|install|regress|docs|cluster|quality]
. "$(dirname "$0")/env.sh"

# No `a && b` in here: where a fails, `set -e` would let it pass.
part() {
    local start=$SECONDS
    say "$2"
    case "$1" in
    lint) scripts/lint.sh ;;
    web)
        # The built page is committed, so neither Node nor a browser is needed to build or to use the extension.
        if ! command -v npm >/dev/null 2>&1; then
            echo "skipped: npm is not installed"
        else
            npm --prefix web ci --no-audit --no-fund --silent
            npm --prefix web run check
            if [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
                npm --prefix tests/browser ci --no-audit --no-fund --silent
                npm --prefix tests/browser test
            else
                echo "skipped: the tests in a browser; chromium is not installed"
            fi
        fi
        ;;
    crates)
        # The pure crates, the tests with the model included.
        cargo test --release --workspace --exclude summer_memory --features memory_embed/model-tests
        ;;
    model)
        PYTHONPATH=$root/build/model-inputs/site python3 -m unittest discover -s model
        ;;
    pg_test)
        scripts/server.sh stop
        scripts/install.sh --files-only
        scripts/pg_test.sh
        ;;
    install)
        scripts/install.sh
        scripts/server.sh stop
        scripts/server.sh start
        ;;
    regress) scripts/regress.sh ;;
    docs)
        scripts/docs_test.sh
        scripts/docker_check.sh
        ;;
    cluster)
        # The others take minutes: run them by name.
        scripts/cluster.sh archive durability crash concurrency security standby.StandbyTest limits dictionary \
            embed_worker.BadTextTest embed_worker.BrokenModelTest \
            embed_worker.InBackendTest embed_worker.ModelFolderTest embed_worker.ModelFolderWithoutPreloadTest \
            embed_worker.NoModelInBackendTest embed_worker.OverloadTest embed_worker.ManyWorkersTest
        ;;
    quality) scripts/quality.sh ;;
    *) die "no part of the tests is called \"$1\"" ;;
    esac
    say "$2: passed in $((SECONDS - start)) s"
}

title_lint="Formatting and lints"
title_web="Graph page"
title_crates="Pure crates"
title_model="Model build"
title_install="Build and install"
title_pg_test="Tests inside PostgreSQL (pg_test)"
title_regress="Regression tests (pg_regress)"
title_docs="SQL in README and docs, Dockerfile"
title_cluster="Cluster tests: crash, dump, restart, sessions"
title_quality="Retrieval quality on the labelled set"

if [ $# -gt 0 ]; then
    for name in "$@"; do
        title=title_$name
        part "$name" "${!title:-$name}"
    done
    exit 0
fi
for name in lint web crates model pg_test install regress docs cluster quality; do
    title=title_$name
    part "$name" "${!title}"
done
scripts/server.sh stop
say "All tests passed"
