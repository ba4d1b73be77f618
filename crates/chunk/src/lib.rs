//! Markdown and plain text into chunks, front matter into JSON, file paths into a canonical form and a date.
//!
//! What it does not do: it never renders, re-flows or corrects a text (chunks are slices of the source with its
//! line ends normalised), knows no tokenizer of its own, opens no file, and leaves tags and entities to others.
//!
//! What must hold:
//! - every character that is not white space ends up in a chunk, a title, [`Document::title`] or the front matter,
//!   in the order in which it was written;
//! - the work is linear in the length of the text, whatever the text looks like;
//! - no input is an error.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod boundary;
mod date;
mod front_matter;
mod meter;
mod outline;
mod pack;
mod path;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use date::{date_from_path, CivilDate};
pub use path::normalize_path;

use meter::Meter;

/// Counts the tokens of a text as the model sees it, special tokens and prefix included.
pub type CountTokens<'a> = dyn Fn(&str) -> usize + 'a;

/// How long a chunk may become.
///
/// The limits are kept for every chunk with two exceptions: a grapheme cluster is never cut for their sake (unless
/// it is absurdly long), and a title that takes most of the tokens leaves a quarter of them to the content.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Most characters (Unicode scalar values) of a chunk's content; 0 counts as 1.
    pub max_chars: usize,
    /// Most tokens of [`embedded_text`]; 0 and `usize::MAX` mean no limit.
    pub max_tokens: usize,
    /// The model's own count; `None` means an estimate that rather counts too many than too few.
    pub count_tokens: Option<&'a CountTokens<'a>>,
}

impl Default for Options<'_> {
    /// 800 characters, 512 tokens (what multilingual-e5-small reads), estimated.
    fn default() -> Self {
        Options { max_chars: 800, max_tokens: 512, count_tokens: None }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("max_chars", &self.max_chars)
            .field("max_tokens", &self.max_tokens)
            .field("count_tokens", &self.count_tokens.map(|_| "fn"))
            .finish()
    }
}

/// One piece of a text, small enough to embed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The heading trail (`项目 > 博客`), the same for all chunks of a section. An empty string is a section under
    /// a heading without text; `None` is text under no heading.
    pub title: Option<String>,
    /// The text as written, without the heading line; never blank.
    pub content: String,
}

/// A Markdown file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The first level-1 heading in full. It is a chunk of its own where no text follows before the next heading.
    pub title: Option<String>,
    /// The front matter, empty if there is none. What is no valid YAML is kept as text under the key `_raw`, beside
    /// the entries that could be read all the same. No string in it contains U+0000, which jsonb would refuse.
    pub front_matter: Map<String, Value>,
    /// The chunks in the order of the text.
    pub chunks: Vec<Chunk>,
}

/// Splits Markdown (CommonMark with tables) at its headings, and long sections further.
pub fn split_markdown(text: &str, options: &Options) -> Document {
    let text = normalize_newlines(text);
    let (front_matter, body) = front_matter::split(&text);
    let outline = outline::read(body);
    let mut chunks = Vec::new();
    for section in &outline.sections {
        let meter = Meter::new(options, section.title.as_deref());
        let heading = section.heading_in_content.as_deref().unwrap_or_default();
        let pieces = pack::pack(heading, &[], &meter);
        let pieces = pieces.into_iter().chain(pack::pack(section.body, &section.cuts, &meter));
        chunks.extend(pieces.map(|piece| Chunk { title: section.title.clone(), content: piece.to_owned() }));
    }
    Document { title: outline.title, front_matter, chunks }
}

/// Splits plain text: at empty lines first, then like a long paragraph. Nothing in it is markup, no chunk has a title.
pub fn split_text(text: &str, options: &Options) -> Vec<Chunk> {
    let text = normalize_newlines(text);
    let pieces = pack::pack(&text, &boundary::paragraphs(&text), &Meter::new(options, None));
    pieces.into_iter().map(|piece| Chunk { title: None, content: piece.to_owned() }).collect()
}

/// The text that stands for a chunk in front of a model: its title, if it has one, on a line of its own before the
/// content. Limits are measured on exactly this text.
pub fn embedded_text<'t>(title: Option<&str>, content: &'t str) -> Cow<'t, str> {
    match title {
        None | Some("") => Cow::Borrowed(content),
        Some(title) => Cow::Owned(format!("{title}\n{content}")),
    }
}

/// Takes byte order marks off the start and turns CRLF and lone CR into LF. No other character ends a line.
fn normalize_newlines(text: &str) -> Cow<'_, str> {
    let text = text.trim_start_matches('\u{feff}');
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// `text[from..to]`, or nothing if that is not a slice of it: a wrong offset loses a piece instead of the process.
fn slice(text: &str, from: usize, to: usize) -> &str {
    debug_assert!(text.get(from..to).is_some(), "{from}..{to} is no slice of the text");
    text.get(from..to).unwrap_or_default()
}

#[cfg(test)]
mod tests;
