//! The BM25 arm: exact BM25 over candidates from the GIN index.
//!
//! `Bm25Arm` is what search knows of it; an index of our own can take its place. Statistics are those of
//! the rows the caller may see in the searched namespace: document frequency counted over the candidates,
//! number of rows and their length from an index-only scan, so both are right directly after a delete.
//! Filters choose among the candidates and do not change scores.

use memory_bm25::{Accumulator, Params, Stats};
use pgrx::pg_sys;
use pgrx::spi::SpiClient;
use pgrx::PgOid;

use crate::error::Failure;
use crate::pg::tsvector::{self, TsVector};
use crate::search::{Arm, Scope};
use crate::{settings, store};

/// One word of the question.
#[derive(Debug, Clone)]
pub struct Term {
    pub lexeme: String,
    pub df: u64,
    pub idf: f64,
}

/// How the arm looks for candidates.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Words, any of which makes a row a candidate.
    Words(Vec<String>),
    /// A folded text that must occur: for a question without any word the index has (茶, 的).
    Substring(String),
    /// Nothing to look for.
    Nothing,
}

/// What the arm found, best first.
#[derive(Debug)]
pub struct Bm25Result {
    pub hits: Vec<Arm>,
    pub candidates: usize,
    pub stats: Stats,
    pub terms: Vec<Term>,
}

/// Whether a character carries meaning of its own, so that it is worth looking for.
fn is_meaningful(c: char) -> bool {
    c.is_alphanumeric()
}

/// Most bytes of a question that are cut into words, and most different words that are looked for: what a
/// `tsquery` of alternatives takes within the smallest usual `max_stack_depth`.
const QUESTION_BYTES: usize = 64 * 1024;
const QUESTION_WORDS: usize = 4_000;

/// The first `most` bytes of a text, or a little less: whole characters.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// The different words of a question, or of as much of its beginning as one search takes.
fn words_of(configuration: pg_sys::Oid, text: &str) -> Vec<String> {
    let mut text = beginning(text, QUESTION_BYTES);
    loop {
        let Some(vector) = tsvector::to_tsvector(configuration, text) else { return Vec::new() };
        if vector.len() <= QUESTION_WORDS {
            return vector
                .lexemes()
                .map(|(lexeme, _)| String::from_utf8_lossy(lexeme).into_owned())
                .collect();
        }
        text = beginning(text, text.len() / 2);
    }
}

/// What to look for: the words of the configuration, or the text itself where it has none.
pub fn read_question(schema: &store::Schema, text: &str) -> Result<Question, Failure> {
    let configuration = tsvector::configuration_oid(c"jieba", schema.oid)
        .ok_or_else(|| Failure::missing("text search configuration \"jieba\" does not exist"))?;
    let mut words = words_of(configuration, text);
    words.sort_unstable();
    let folded = memory_segment::fold(text.trim()).into_owned();
    let mut characters = folded.chars();
    let single = matches!((characters.next(), characters.next()), (Some(c), None) if is_meaningful(c) && !c.is_ascii());
    if single || (words.is_empty() && folded.chars().any(is_meaningful)) {
        return Ok(Question::Substring(folded));
    }
    if words.is_empty() {
        return Ok(Question::Nothing);
    }
    Ok(Question::Words(words))
}

/// A tsquery that any of the words satisfies, in its input syntax.
pub fn any_of(words: &[String]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push_str(" | ");
        }
        text.push('\'');
        for c in word.chars() {
            if c == '\'' || c == '\\' {
                text.push(c);
            }
            text.push(c);
        }
        text.push('\'');
    }
    text
}

/// SQL of the candidates: id, path, words of the row, whether the filters accept it.
pub fn candidates_sql(schema: &store::Schema, scope: &Scope) -> String {
    format!(
        "select m.id, {document}, m.search, ({filters}) from {schema}.memories m \
         where m.search operator(pg_catalog.@@) ($1::pg_catalog.text)::pg_catalog.tsquery and {visible}",
        document = scope.document_sql(),
        filters = scope.filters_sql(),
        schema = schema.name,
        visible = scope.visible_sql(),
    )
}

/// SQL: how often `$1` occurs in the folded text `f.folded`.
pub const OCCURRENCES: &str = "(pg_catalog.length(f.folded) operator(pg_catalog.-) \
    pg_catalog.length(pg_catalog.replace(f.folded, $1, ''))) operator(pg_catalog./) pg_catalog.length($1)";

/// SQL of the candidates of a substring question: how often it occurs is counted here.
fn substring_sql(schema: &store::Schema, scope: &Scope) -> String {
    format!(
        "select m.id, {document}, m.token_count, {OCCURRENCES}, ({filters}) \
         from {schema}.memories m, lateral (select {schema}.jieba_fold({schema}.memory_whole_text(m.title, m.content)) as folded) f \
         where pg_catalog.strpos(f.folded, $1) operator(pg_catalog.>) 0 and {visible}",
        document = scope.document_sql(),
        filters = scope.filters_sql(),
        schema = schema.name,
        visible = scope.visible_sql(),
    )
}

/// SQL of the statistics.
pub fn stats_sql(schema: &store::Schema, scope: &Scope) -> String {
    format!(
        "select pg_catalog.count(*), coalesce(pg_catalog.sum(m.token_count), 0)::pg_catalog.int8 \
         from {schema}.memories m where {visible}",
        schema = schema.name,
        visible = scope.visible_sql(),
    )
}

fn stats(client: &SpiClient<'_>, schema: &store::Schema, scope: &Scope) -> Result<Stats, Failure> {
    let (types, arguments) = scope.arguments(PgOid::from(pg_sys::TEXTOID), "".into());
    let rows = store::query(client, &stats_sql(schema, scope), &types, &arguments, |row| {
        Ok((row[1].value::<i64>()?.unwrap_or(0), row[2].value::<i64>()?.unwrap_or(0)))
    })?;
    let (docs, total) = rows.first().copied().unwrap_or((0, 0));
    Ok(Stats { docs: docs.unsigned_abs(), total_len: total.unsigned_abs() })
}

/// The best `limit` rows.
pub fn search(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    scope: &Scope,
    question: &Question,
    limit: usize,
) -> Result<Bm25Result, Failure> {
    let words: Vec<String> = match question {
        Question::Words(words) => words.clone(),
        Question::Substring(text) => vec![text.clone()],
        Question::Nothing => Vec::new(),
    };
    if words.is_empty() {
        return Ok(Bm25Result {
            hits: Vec::new(),
            candidates: 0,
            stats: Stats::default(),
            terms: Vec::new(),
        });
    }
    let mut accumulator = Accumulator::new(words.len());
    let mut accepted: std::collections::HashMap<i64, Option<String>> = std::collections::HashMap::new();
    let mut candidates = 0usize;
    let mut excluded = 0usize;
    let mut frequencies = vec![0u32; words.len()];
    let mut note = |id: i64, document: Option<String>, passes: bool| {
        candidates += 1;
        if candidates.is_multiple_of(4_096) {
            pgrx::check_for_interrupts!();
        }
        if passes {
            accepted.insert(id, document);
        } else {
            excluded += 1;
        }
    };
    if let Question::Substring(text) = question {
        let (types, arguments) = scope.arguments(PgOid::from(pg_sys::TEXTOID), text.as_str().into());
        store::query(client, &substring_sql(schema, scope), &types, &arguments, |row| {
            let id = row[1].value::<i64>()?.unwrap_or(0);
            let length = row[3].value::<i32>()?.unwrap_or(0).unsigned_abs();
            let count = row[4].value::<i32>()?.unwrap_or(0).unsigned_abs();
            note(id, row[2].value()?, row[5].value::<bool>()?.unwrap_or(false));
            accumulator.push(id, length, &[count]);
            Ok(())
        })?;
    } else {
        let tsquery = any_of(&words);
        let (types, arguments) = scope.arguments(PgOid::from(pg_sys::TEXTOID), tsquery.as_str().into());
        store::query(client, &candidates_sql(schema, scope), &types, &arguments, |row| {
            let id = row[1].value::<i64>()?.unwrap_or(0);
            let passes = row[4].value::<bool>()?.unwrap_or(false);
            let Some(vector) = row[3].value::<TsVector>()? else { return Ok(()) };
            for (slot, word) in frequencies.iter_mut().zip(&words) {
                *slot = vector.frequency(word.as_bytes());
            }
            note(id, row[2].value()?, passes);
            accumulator.push(id, vector.total(), &frequencies);
            Ok(())
        })?;
    }
    let stats = stats(client, schema, scope)?;
    let params = Params::new(settings::BM25_K1.get(), settings::BM25_B.get())
        .map_err(|error| Failure::argument(error.to_string()))?;
    let terms = words
        .iter()
        .zip(accumulator.dfs())
        .map(|(lexeme, &df)| Term { lexeme: lexeme.clone(), df, idf: memory_bm25::idf(stats.docs, df) })
        .collect();
    // Rows the filters refuse count for the statistics and are taken out after scoring.
    let hits = accumulator
        .finish(params, stats, limit.saturating_add(excluded))
        .into_iter()
        .filter_map(|hit| {
            accepted.remove(&hit.id).map(|document| Arm { id: hit.id, score: hit.score, document })
        })
        .take(limit)
        .collect();
    Ok(Bm25Result { hits, candidates, stats, terms })
}
