//! Texts into token ids, by the model's own `tokenizer.json`.
//!
//! Truncation and padding of the file are switched off: long texts are cut into windows here. Only `encode` is
//! used; the batch calls of the library start threads.

use std::path::Path;
use std::sync::OnceLock;

use tokenizers::{Encoding, ModelWrapper, Tokenizer};

use crate::windows::{pieces, Cutter, Span};
use crate::{Error, Kind, Manifest};

/// Texts are tokenised in pieces of this many bytes: bounds memory and the time between two questions whether
/// to go on.
const PIECE: usize = 16 * 1024;
/// Fewest tokens a window must have left for the text itself.
const MIN_BUDGET: usize = 8;

/// How models spell the token of unknown characters.
const UNKNOWN: [&str; 3] = ["<unk>", "[UNK]", "<UNK>"];

/// A prefix and what it costs.
struct Prefix {
    text: String,
    /// Tokens of a run that are not the text's: prefix and special tokens.
    overhead: usize,
    /// Ids of a run without any text, with the prefix as it is and without its trailing space.
    empty: [Vec<u32>; 2],
}

pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    /// Made when a text is first taken for a special token; see [`literal`].
    literal: OnceLock<Option<Tokenizer>>,
    /// Special tokens that no text may become: spelling and id.
    special: Vec<(String, u32)>,
    passage: Prefix,
    query: Prefix,
    max_tokens: usize,
}

impl Tokens {
    pub(crate) fn load(path: &Path, manifest: &Manifest) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::missing(path, &error))?;
        let mut tokenizer = Tokenizer::from_bytes(&bytes).map_err(|error| Error::corrupt(path, error))?;
        tokenizer.with_truncation(None).map_err(|error| Error::corrupt(path, error))?;
        tokenizer.with_padding(None);
        // `<s>` in a text is text, for most models by this alone.
        tokenizer.set_encode_special_tokens(true);
        let special = tokenizer
            .get_added_tokens_decoder()
            .into_iter()
            .filter(|(_, token)| token.special && !token.content.is_empty())
            // The piece of unknown characters is all a text may have of these.
            .filter(|(_, token)| !UNKNOWN.contains(&token.content.as_str()))
            .map(|(id, token)| (token.content, id))
            .collect();
        let prefix = |kind| -> Result<Prefix, Error> {
            let text = manifest.prefix(kind);
            let ids = |text: &str| {
                tokenizer
                    .encode_fast(text, true)
                    .map(|encoding| encoding.get_ids().to_vec())
                    .map_err(|error| Error::corrupt(path, error))
            };
            let empty = [ids(text)?, ids(text.trim_end())?];
            let overhead = empty.iter().map(Vec::len).max().unwrap_or(0);
            if overhead + MIN_BUDGET > manifest.max_tokens {
                return Err(Error::unsupported(
                    path,
                    format_args!("{overhead} tokens of prefix leave no room in {}", manifest.max_tokens),
                ));
            }
            Ok(Prefix { text: text.to_owned(), overhead, empty })
        };
        let (passage, query) = (prefix(Kind::Passage)?, prefix(Kind::Query)?);
        Ok(Self {
            tokenizer,
            literal: OnceLock::new(),
            special,
            passage,
            query,
            max_tokens: manifest.max_tokens,
        })
    }

    /// The highest id that can come out.
    pub(crate) fn max_id(&self) -> u32 {
        let model = u32::try_from(self.tokenizer.get_vocab_size(false)).unwrap_or(u32::MAX).saturating_sub(1);
        self.tokenizer.get_added_tokens_decoder().into_keys().fold(model, u32::max)
    }

    /// Ids of one run over the whole text, prefix and special tokens included, however many.
    pub(crate) fn ids(&self, text: &str, kind: Kind) -> Result<Vec<u32>, Error> {
        let prefix = self.prefix(kind);
        let joined;
        let input = if prefix.text.is_empty() {
            text
        } else {
            joined = format!("{}{text}", prefix.text);
            &joined
        };
        let encoding = self.tokenizer.encode_fast(input, true).map_err(Error::runtime)?;
        if self.takes_for_special(text, &encoding) {
            if let Some(literal) = self.literal.get_or_init(|| literal(&self.tokenizer, &self.special)) {
                return Ok(literal.encode_fast(input, true).map_err(Error::runtime)?.get_ids().to_vec());
            }
        }
        Ok(encoding.get_ids().to_vec())
    }

    /// Whether a part of the text became a special token.
    fn takes_for_special(&self, text: &str, encoding: &Encoding) -> bool {
        let spelled = || self.special.iter().any(|(token, _)| text.contains(token.as_str()));
        let taken = |(&id, &added): (&u32, &u32)| added == 0 && self.special.iter().any(|&(_, s)| s == id);
        spelled() && encoding.get_ids().iter().zip(encoding.get_special_tokens_mask()).any(taken)
    }

    /// Ids of one run over a part of the text, shortened to the model's window if need be.
    ///
    /// A part can have a few tokens more than it had within the text.
    pub(crate) fn window_ids(&self, text: &str, kind: Kind) -> Result<Vec<u32>, Error> {
        let mut part = text;
        loop {
            let ids = self.ids(part, kind)?;
            if ids.len() <= self.max_tokens {
                return Ok(ids);
            }
            let kept = part.len().saturating_mul(self.max_tokens) / ids.len();
            let shorter = crate::windows::char_floor(part, kept.min(part.len().saturating_sub(1)));
            part = part.get(..shorter).unwrap_or_default();
        }
    }

    /// Number of ids of one run over the whole text; about right for texts longer than a piece.
    pub(crate) fn count(&self, text: &str, kind: Kind) -> Result<usize, Error> {
        if text.len() <= PIECE {
            return Ok(self.ids(text, kind)?.len());
        }
        let mut count = self.prefix(kind).overhead;
        for piece in pieces(text, PIECE) {
            let piece = text.get(piece.start..piece.end).unwrap_or_default();
            count += self.tokenizer.encode_fast(piece, false).map_err(Error::runtime)?.len();
        }
        Ok(count)
    }

    /// The parts of a text that fit into a window each, in order; one part if the text fits as a whole.
    pub(crate) fn spans(
        &self,
        text: &str,
        kind: Kind,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Span>, Error> {
        let budget = self.max_tokens - self.prefix(kind).overhead;
        let mut cutter = Cutter::new(text, budget);
        for piece in pieces(text, PIECE) {
            if !keep_going() {
                return Err(Error::Cancelled);
            }
            let part = text.get(piece.start..piece.end).unwrap_or_default();
            let encoding = self.tokenizer.encode(part, false).map_err(Error::runtime)?;
            for &(start, _) in encoding.get_offsets() {
                cutter.push(piece.start + start);
            }
        }
        Ok(cutter.finish())
    }

    /// Tokens of a run that belong to the text, at least 1.
    pub(crate) fn weight(&self, ids: &[u32], kind: Kind) -> usize {
        ids.len().saturating_sub(self.prefix(kind).overhead).max(1)
    }

    /// Whether the ids are those of a run without any text: the tokenizer drops all of it.
    pub(crate) fn is_empty(&self, ids: &[u32], kind: Kind) -> bool {
        self.prefix(kind).empty.iter().any(|empty| empty == ids)
    }

    fn prefix(&self, kind: Kind) -> &Prefix {
        match kind {
            Kind::Passage => &self.passage,
            Kind::Query => &self.query,
        }
    }
}

/// A copy of a unigram tokenizer that cannot find special tokens in a text.
///
/// `set_encode_special_tokens` alone is not enough there: special tokens are ordinary pieces of the vocabulary
/// with the best score of all, and the search for the best path takes them. In the copy these pieces get a
/// spelling that no text has. Other models split or merge characters and never come to them: `None`.
fn literal(tokenizer: &Tokenizer, special: &[(String, u32)]) -> Option<Tokenizer> {
    if !matches!(tokenizer.get_model(), ModelWrapper::Unigram(_)) {
        return None;
    }
    let mut model = serde_json::to_value(tokenizer.get_model()).ok()?;
    for piece in model.get_mut("vocab")?.as_array_mut()? {
        let spelling = piece.get_mut(0)?;
        if spelling.as_str().is_some_and(|s| special.iter().any(|(token, _)| token == s)) {
            *spelling = format!("\0{}", spelling.as_str()?).into();
        }
    }
    let model: ModelWrapper = serde_json::from_value(model).ok()?;
    let mut copy = tokenizer.clone();
    copy.with_model(model);
    Some(copy)
}
