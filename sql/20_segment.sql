-- Segment: the text search parser, dictionary and configuration "jieba", and words as SQL functions.

create function @extschema@.jieba_parser_start(internal, integer)
returns internal
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_parser_start';
comment on function @extschema@.jieba_parser_start(internal, integer) is 'Text search parser jieba: start';

create function @extschema@.jieba_parser_nexttoken(internal, internal, internal)
returns internal
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_parser_nexttoken';
comment on function @extschema@.jieba_parser_nexttoken(internal, internal, internal) is
    'Text search parser jieba: next token';

create function @extschema@.jieba_parser_end(internal)
returns void
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_parser_end';
comment on function @extschema@.jieba_parser_end(internal) is 'Text search parser jieba: end';

create function @extschema@.jieba_parser_lextype(internal)
returns internal
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_parser_lextype';
comment on function @extschema@.jieba_parser_lextype(internal) is 'Text search parser jieba: kinds of tokens';

-- Kinds 1 to 23 have the numbers of PostgreSQL's own parser, so its headline function fits.
create text search parser @extschema@.jieba (
    start = @extschema@.jieba_parser_start,
    gettoken = @extschema@.jieba_parser_nexttoken,
    end = @extschema@.jieba_parser_end,
    headline = pg_catalog.prsd_headline,
    lextypes = @extschema@.jieba_parser_lextype
);
comment on text search parser @extschema@.jieba is
    'Chinese by jieba''s precise cut, everything else as PostgreSQL''s default parser, identifiers kept whole';

create function @extschema@.jieba_dictionary_init(internal)
returns internal
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_dictionary_init';
comment on function @extschema@.jieba_dictionary_init(internal) is 'Text search dictionary jieba: options';

create function @extschema@.jieba_dictionary_lexize(internal, internal, internal, internal)
returns internal
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_dictionary_lexize';
comment on function @extschema@.jieba_dictionary_lexize(internal, internal, internal, internal) is
    'Text search dictionary jieba: lexemes of a token';

create text search template @extschema@.jieba (
    init = @extschema@.jieba_dictionary_init,
    lexize = @extschema@.jieba_dictionary_lexize
);
comment on text search template @extschema@.jieba is
    'Folds, drops stop words (option stopwords: builtin, none, or a file), adds inner words and parts';

create text search dictionary @extschema@.jieba (template = @extschema@.jieba);
comment on text search dictionary @extschema@.jieba is
    'Folded words with their inner words and parts at the same position; Chinese and English stop words dropped';

create text search configuration @extschema@.jieba (parser = @extschema@.jieba);
comment on text search configuration @extschema@.jieba is 'Chinese and English text';

alter text search configuration @extschema@.jieba
    add mapping for
        asciiword, word, asciihword, hword, hword_asciipart, hword_part
    with @extschema@.jieba, pg_catalog.english_stem;

alter text search configuration @extschema@.jieba
    add mapping for
        numword, numhword, hword_numpart, email, url, host, url_path, file, version,
        sfloat, float, int, uint, han, identifier, emoji
    with @extschema@.jieba, pg_catalog.simple;

create function @extschema@.jieba_cut(text text, hmm boolean default true)
returns text[]
language c stable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_cut_wrapper';
comment on function @extschema@.jieba_cut(text, boolean) is
    'Words of a text by jieba''s precise mode, with unknown words by HMM unless hmm is false';

create function @extschema@.jieba_cut_for_search(text text, hmm boolean default true)
returns text[]
language c stable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_cut_for_search_wrapper';
comment on function @extschema@.jieba_cut_for_search(text, boolean) is
    'Words of a text by jieba''s search mode: words inside long words come before them';

create function @extschema@.jieba_cut_all(text text)
returns text[]
language c stable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_cut_all_wrapper';
comment on function @extschema@.jieba_cut_all(text) is 'All dictionary words in a text, overlaps included';

create function @extschema@.jieba_tag(text text)
returns table (word text, tag text)
language c stable strict parallel safe rows 100
as 'MODULE_PATHNAME', 'jieba_tag_wrapper';
comment on function @extschema@.jieba_tag(text) is 'Words of a text with jieba''s part-of-speech tags';

create function @extschema@.jieba_keywords(text text, k integer default 10, method text default 'tfidf')
returns table (word text, weight double precision)
language c stable strict parallel safe rows 10
as 'MODULE_PATHNAME', 'jieba_keywords_wrapper';
comment on function @extschema@.jieba_keywords(text, integer, text) is
    'The k weightiest words of a text, by tfidf or textrank';

create function @extschema@.jieba_fold(text text)
returns text
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_fold_wrapper';
comment on function @extschema@.jieba_fold(text) is
    'A text as it is indexed: NFKC, lower case, traditional characters simplified, zero-width characters removed';

create function @extschema@.jieba_check_word(word text)
returns boolean
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_check_word_wrapper';
comment on function @extschema@.jieba_check_word(text) is 'True if a word can be a dictionary entry, else an error that says why';

create function @extschema@.jieba_parse_dictionary(text text)
returns table (word text, freq integer, tag text)
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'jieba_parse_dictionary_wrapper';
comment on function @extschema@.jieba_parse_dictionary(text) is
    'Lines "word [frequency] [tag]" of a jieba user dictionary as rows; an error names the first bad line';

create function @extschema@.memory_words_changed()
returns trigger
language c
as 'MODULE_PATHNAME', 'memory_words_changed';
comment on function @extschema@.memory_words_changed() is
    'Trigger of memory_words: every session reads the user dictionary again after the commit';

create function @extschema@.jieba_add_word(word text, freq integer default null, tag text default null)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_variable
begin
    perform jieba_check_word(word);
    if freq < 1 then
        raise exception 'freq must be at least 1'
            using errcode = '22023', hint = 'It is how often the word is counted; leave it out to have one chosen.';
    end if;
    insert into memory_words as w (word, freq, tag)
    values (word, freq, tag)
    on conflict on constraint memory_words_pkey do update
    set freq = excluded.freq,
        tag = excluded.tag;
end
$$;
comment on function @extschema@.jieba_add_word(text, integer, text) is
    'Adds or changes a word of the user dictionary; without a frequency jieba chooses one that makes it a word';

create function @extschema@.jieba_load_userdict(dictionary text)
returns bigint
language plpgsql volatile strict parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    loaded bigint;
begin
    insert into memory_words as w (word, freq, tag)
    select distinct on (d.word) d.word, d.freq, d.tag
    from jieba_parse_dictionary(dictionary) d
    order by d.word
    on conflict on constraint memory_words_pkey do update
    set freq = excluded.freq,
        tag = excluded.tag;
    get diagnostics loaded = row_count;
    return loaded;
end
$$;
comment on function @extschema@.jieba_load_userdict(text) is
    'Adds all words of a jieba user dictionary given as text; all or nothing. Returns the number of words';
