//! Files into rows: what `memory_import` and `memory_add` need from the crate `memory_chunk`.

use memory_chunk::{date_from_path, normalize_path, split_markdown, split_text, Chunk, CivilDate, Options};
use pgrx::iter::TableIterator;
use pgrx::prelude::*;
use pgrx::JsonB;

use crate::error::Failure;
use crate::{embed, settings};

/// Tokens a chunk leaves free for what the model adds to it.
const SPARE_TOKENS: usize = 8;

/// Splits with the store's model as the measure; without a model by a cautious estimate.
fn with_options<R>(max_chars: Option<i32>, body: impl FnOnce(&Options) -> R) -> R {
    let max_chars =
        usize::try_from(max_chars.unwrap_or_else(|| settings::CHUNK_CHARS.get())).unwrap_or(800).max(1);
    let model = embed::active_model().unwrap_or_else(|| embed::DEFAULT_MODEL.to_owned());
    let max_tokens = embed::window_tokens(&model).unwrap_or(512).saturating_sub(SPARE_TOKENS).max(16);
    let measures =
        settings::EMBED.get() != settings::EmbedMode::Off && embed::count_tokens(&model, "。").is_some();
    // A text of few characters fits whatever the tokenizer makes of it: no need to ask.
    let count = |text: &str| {
        if text.len() * 2 < max_tokens {
            return text.len();
        }
        embed::count_tokens(&model, text).unwrap_or(text.chars().count())
    };
    let options = Options { max_chars, max_tokens, count_tokens: if measures { Some(&count) } else { None } };
    body(&options)
}

fn is_markdown(path: Option<&str>) -> bool {
    path.is_none_or(|path| {
        let lower = path.to_lowercase();
        ![".txt", ".text", ".log"].iter().any(|ending| lower.ends_with(ending))
    })
}

fn to_date(date: CivilDate) -> Option<Date> {
    Date::new(date.year, date.month, date.day).ok()
}

/// Chunks of one file, numbered from 0, with the file's own properties repeated.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn memory_split(
    content: Option<&str>,
    path: Option<&str>,
    max_chars: Option<i32>,
) -> TableIterator<
    'static,
    (name!(chunk_index, i32), name!(title, Option<String>), name!(content, String), name!(document, JsonB)),
> {
    let Some(content) = content else {
        Failure::argument("content must not be NULL").hint("An empty text has no chunks.").raise();
    };
    if let Some(max_chars @ ..=0) = max_chars {
        Failure::argument(format!("max_chars must be positive, not {max_chars}"))
            .hint("It is the most characters a chunk may have.")
            .raise();
    }
    let (chunks, properties): (Vec<Chunk>, serde_json::Value) = with_options(max_chars, |options| {
        if is_markdown(path) {
            let document = split_markdown(content, options);
            let mut properties = document.front_matter;
            if let (Some(title), false) = (document.title, properties.contains_key("title")) {
                properties.insert("title".to_owned(), serde_json::Value::String(title));
            }
            (document.chunks, serde_json::Value::Object(properties))
        } else {
            (split_text(content, options), serde_json::Value::Object(serde_json::Map::new()))
        }
    });
    TableIterator::new(chunks.into_iter().enumerate().map(move |(index, chunk)| {
        (i32::try_from(index).unwrap_or(i32::MAX), chunk.title, chunk.content, JsonB(properties.clone()))
    }))
}

#[pg_extern(sql = false)]
fn memory_path(path: &str) -> String {
    normalize_path(path)
}

#[pg_extern(sql = false)]
fn memory_path_date(path: &str) -> Option<Date> {
    date_from_path(path).and_then(to_date)
}
