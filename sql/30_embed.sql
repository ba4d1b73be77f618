-- Embed: texts into vectors of the store's model.

create function @extschema@.memory_embed(text text, kind text default 'passage')
returns vector
language c stable parallel safe cost 100000
as 'MODULE_PATHNAME', 'memory_embed_text_wrapper';
comment on function @extschema@.memory_embed(text, text) is
    'Vector of a text by the store''s model; kind is passage (what is stored) or query (what is asked). NULL for a blank text';

create function @extschema@.memory_embed(texts text[], kind text default 'passage')
returns vector[]
language c stable strict parallel safe cost 1000000
as 'MODULE_PATHNAME', 'memory_embed_texts_wrapper';
comment on function @extschema@.memory_embed(text[], text) is
    'Vectors of many texts, in order; NULL where a text is NULL or blank';

create function @extschema@.memory_try_embed(text text)
returns vector
language c volatile parallel safe cost 100000
as 'MODULE_PATHNAME', 'memory_try_embed_wrapper';
comment on function @extschema@.memory_try_embed(text) is
    'Like memory_embed, but NULL and one WARNING a statement when the model cannot answer';

create function @extschema@.memory_try_embed(texts text[])
returns vector[]
language c volatile strict parallel safe cost 1000000
as 'MODULE_PATHNAME', 'memory_try_embed_many_wrapper';
comment on function @extschema@.memory_try_embed(text[]) is
    'Vectors of many texts, NULL where one cannot be had';

create function @extschema@.memory_model_tokens(text text)
returns integer
language c stable strict parallel safe cost 1000
as 'MODULE_PATHNAME', 'memory_token_count_model_wrapper';
comment on function @extschema@.memory_model_tokens(text) is
    'Number of tokens a text has for the store''s model, prefix and special tokens included; NULL if no model answers';

create function @extschema@.memory_model_runs()
returns bigint
language c volatile parallel safe
as 'MODULE_PATHNAME', 'memory_model_runs_wrapper';
comment on function @extschema@.memory_model_runs() is
    'Model runs since the server started (without preload: since this session started); one run a window of text';

create function @extschema@.memory_check_model(name text)
returns integer
language c stable strict parallel safe
as 'MODULE_PATHNAME', 'memory_check_model_wrapper';
comment on function @extschema@.memory_check_model(text) is 'Dimensions of a model, or an error if it cannot be used';

create function @extschema@.memory_active_model()
returns text
language c stable parallel safe
as 'MODULE_PATHNAME', 'memory_active_model_wrapper';
comment on function @extschema@.memory_active_model() is 'Name of the store''s model';

create function @extschema@.memory_embed_place()
returns text
language c volatile parallel safe
as 'MODULE_PATHNAME', 'memory_embed_place_wrapper';
comment on function @extschema@.memory_embed_place() is 'Where embeddings are computed: model processes or this backend';

create function @extschema@.memory_list_models()
returns table (
    name text,
    dims integer,
    max_tokens integer,
    pooling text,
    query_prefix text,
    passage_prefix text,
    active boolean,
    problem text
)
language c volatile parallel safe rows 10
as 'MODULE_PATHNAME', 'memory_list_models_wrapper';
comment on function @extschema@.memory_list_models() is 'Models in summer_memory.model_dir and the installed default';

create view @extschema@.memory_models
with (security_invoker = true) as
select name, dims, max_tokens, pooling, query_prefix, passage_prefix, active, problem
from @extschema@.memory_list_models();
grant select on @extschema@.memory_models to public;
comment on view @extschema@.memory_models is 'Models that can be used, which of them the store uses, and what is wrong with a broken one';

create function @extschema@.memory_embed_trigger()
returns trigger
language plpgsql
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    old_text text;
    new_text text;
    given text;
    vector_type regtype;
begin
    if tg_nargs <> 2 or tg_level <> 'ROW' or tg_when <> 'BEFORE' then
        raise exception 'memory_embed_trigger must be a before row trigger with two arguments'
            using errcode = '22023',
                  hint = 'create trigger t before insert or update on my_table for each row execute function memory_embed_trigger(''text column'', ''vector column'').';
    end if;
    if not to_jsonb(new) ?& array[tg_argv[0], tg_argv[1]] then
        raise exception 'memory_embed_trigger: table "%" lacks column "%" or "%"', tg_table_name, tg_argv[0], tg_argv[1]
            using errcode = '42703';
    end if;
    new_text := to_jsonb(new) ->> tg_argv[0];
    given := to_jsonb(new) ->> tg_argv[1];
    if tg_op = 'UPDATE' then
        old_text := to_jsonb(old) ->> tg_argv[0];
        -- An explicit vector wins; an unchanged text keeps what it has.
        if new_text is not distinct from old_text
            or (given is not null and given is distinct from (to_jsonb(old) ->> tg_argv[1])) then
            return new;
        end if;
    elsif given is not null then
        return new;
    end if;
    new := jsonb_populate_record(new, jsonb_build_object(tg_argv[1], memory_try_embed(new_text)::text));
    return new;
end
$$;
comment on function @extschema@.memory_embed_trigger() is
    'Trigger for any table: fills the vector column (second argument) from the text column (first) on insert and when the text changes';
