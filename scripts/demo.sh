#!/usr/bin/env bash
# Imports the sample diary into the private cluster and shows real searches. Run by `make demo`.
. "$(dirname "$0")/env.sh"

psql() { "$pgbin/psql" -X -q -v ON_ERROR_STOP=1 "$@"; }

say "Importing the sample diary (examples/diary) into namespace diary"
for file in examples/diary/*.md; do
    # One statement a file; psql reads the file as the client, nothing on the server does.
    PGOPTIONS="-c client_min_messages=warning" psql -At -v path="${file#examples/}" -v bytes="$(od -An -v -tx1 "$file" | tr -d ' \n')" <<'SQL' |
select added || ' added, ' || updated || ' updated, ' || unchanged || ' unchanged, ' || removed || ' removed'
from memory_import(:'path', decode(:'bytes', 'hex'), namespace => 'diary');
SQL
        # The name last: a Chinese character is two columns wide, which printf does not know.
        while read -r line; do printf '    %s: %s\n' "$line" "${file#examples/}"; done
done

say "Questions"
cat <<'TEXT'

    vec and bm25: place of the text by meaning and by words, empty if that arm did not return it.
    score: 1 / (60 + place), summed over both arms; a file scores as its best section.
TEXT
for question in 水果 通勤 我最近使用的前端技术 博客RSS配置 我之前买了什么水果？ 0x610000f6; do
    printf '\n    select … from memory_search('"'%s'"', 3, namespace => '"'diary'"');\n' "$question"
    psql -v question="$question" <<'SQL'
\pset footer off
select path, title, left(regexp_replace(content, '\s+', ' ', 'g'), 36) as content,
    round(score::numeric, 4) as score, vector_rank as vec, bm25_rank as bm25
from memory_search(:'question', 3, namespace => 'diary');
select 'took ' || round((e #>> '{milliseconds,total}')::numeric, 1) || ' ms: embedding '
    || round((e #>> '{milliseconds,embed}')::numeric, 1) || ', vector arm '
    || round((e #>> '{milliseconds,vector}')::numeric, 1) || ', BM25 arm '
    || round((e #>> '{milliseconds,bm25}')::numeric, 1) as "time"
from memory_explain(:'question' || ' ', 3, namespace => 'diary') e;
SQL
done

say "The database keeps running; the diary is in namespace diary of database $server_db"
cat <<TEXT
    make psql       a session, for example:
        set summer_memory.namespace = 'diary';
        select path, title, content from memory_search('周末做了什么');
    make psql ARGS="-Ato diary.html -c \\"select memory_graph_html(namespace => 'diary')\\""
        the graph of the diary, as a page for any browser
    psql "host=$PGHOST port=$PGPORT dbname=$PGDATABASE user=$PGUSER"
        the same database for other programs: a Unix socket, no TCP
    make stop       stops it, and make server starts it again
TEXT
