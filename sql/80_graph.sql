-- Graph: documents as nodes, what they have in common as edges; as JSON, and as a page.
--
-- Cost: the memories of the largest max_nodes documents are read once and their vectors averaged; then every
-- pair of those documents is compared, max_nodes² / 2 distances, 125,000 for 500. Nothing else is quadratic.

create function @extschema@.memory_graph(
    threshold double precision default null,
    namespace text default null,
    max_nodes integer default 500
)
returns jsonb
language c stable parallel restricted cost 100000
as 'MODULE_PATHNAME', 'memory_graph_wrapper';
comment on function @extschema@.memory_graph(double precision, text, integer) is
    'Documents and their relations as JSON: nodes (path, size, dates, names), edges (similarity of the centroids, names in common, weight). threshold is a similarity; NULL takes one from the documents'' own distribution';

create function @extschema@.memory_graph_page()
returns text
language c immutable parallel safe
as 'MODULE_PATHNAME', 'memory_graph_page_wrapper';
comment on function @extschema@.memory_graph_page() is 'The graph page without data';

create function @extschema@.memory_graph_html(
    lang text default 'en',
    threshold double precision default null,
    namespace text default null,
    max_nodes integer default 500
)
returns text
language plpgsql stable parallel restricted
set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
    if $1 not in ('en', 'zh') then
        raise exception 'unknown language: "%"', left($1, 20)
            using errcode = '22023', hint = 'Use ''en'' or ''zh''.';
    end if;
    -- No < in the data: it cannot end the element it stands in.
    return replace(
        replace(memory_graph_page(), '__GRAPH_LANG__', coalesce($1, 'en')),
        '__GRAPH_DATA__',
        replace(memory_graph($2, $3, $4)::text, '<', '\u003c')
    );
end
$$;
comment on function @extschema@.memory_graph_html(text, double precision, text, integer) is
    'The graph of memory_graph() as one page that needs no network; lang is ''en'' or ''zh''';
