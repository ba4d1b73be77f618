//! Measures text against the limits of [`Options`].
//!
//! It does not decide where to cut. What must hold: a text of any length costs at most a look at its first
//! `max_chars` characters, so a caller may ask about the whole rest of a document again and again.

use crate::{embedded_text, Options};

/// A token rarely stands for more characters than this; a higher `max_chars` would only make the tokenizer read text
/// that cannot fit.
const CHARS_PER_TOKEN: usize = 16;

/// Tokens that a model adds around a text (`[CLS]`, `[SEP]`) and those of a prefix such as `passage: `.
const ESTIMATED_EXTRA_TOKENS: usize = 6;

/// The limits for the chunks of one section.
pub(crate) struct Meter<'a> {
    options: &'a Options<'a>,
    title: Option<&'a str>,
    max_chars: usize,
    /// `None` means that tokens do not matter.
    max_tokens: Option<usize>,
}

impl<'a> Meter<'a> {
    /// Limits for chunks that share `title`.
    pub(crate) fn new(options: &'a Options<'a>, title: Option<&'a str>) -> Self {
        let max_tokens = Some(options.max_tokens).filter(|&n| n != 0 && n != usize::MAX);
        let mut meter = Meter { options, title, max_chars: options.max_chars.max(1), max_tokens };
        if let Some(max_tokens) = max_tokens {
            meter.max_chars = meter.max_chars.min(max_tokens.saturating_mul(CHARS_PER_TOKEN));
            let room_for_content = max_tokens.div_ceil(4);
            meter.max_tokens = Some(max_tokens.max(meter.tokens("").saturating_add(room_for_content)));
        }
        meter
    }

    /// The most characters a content may have.
    pub(crate) fn max_chars(&self) -> usize {
        self.max_chars
    }

    /// Whether `content` is within the limits.
    pub(crate) fn fits(&self, content: &str) -> bool {
        content.chars().nth(self.max_chars).is_none()
            && self.max_tokens.is_none_or(|max| self.tokens(content) <= max)
    }

    /// Length in bytes of a prefix of `content` that is within the limits and nearly as long as possible, and at
    /// least one character.
    pub(crate) fn reach(&self, content: &str) -> usize {
        let mut chars = self.max_chars;
        loop {
            let bytes = content.char_indices().nth(chars).map_or(content.len(), |(at, _)| at);
            let prefix = content.get(..bytes).unwrap_or_default();
            let Some(max) = self.max_tokens else { return bytes };
            let tokens = self.tokens(prefix);
            if tokens <= max || chars <= 1 {
                return bytes;
            }
            // Tokens are spread evenly enough for a few rounds to do; two percent a round at least.
            chars = chars.min(prefix.chars().count());
            let fewer = chars - (chars / 50).max(1);
            chars = (chars.saturating_mul(max) / tokens).clamp(1, fewer.max(1));
        }
    }

    fn tokens(&self, content: &str) -> usize {
        let text = embedded_text(self.title, content);
        self.options.count_tokens.map_or_else(|| estimate_tokens(&text), |count| count(&text))
    }
}

/// More tokens than any of the usual vocabularies makes of ordinary text: two letters of an ASCII word, one digit or
/// sign, one character of any other script, half an emoji.
fn estimate_tokens(text: &str) -> usize {
    let mut halves = 2 * ESTIMATED_EXTRA_TOKENS;
    let mut in_word = false;
    for c in text.chars() {
        let letter = c.is_ascii_alphabetic();
        halves += match c {
            _ if letter && in_word => 1,
            _ if c.is_whitespace() => 0,
            '\u{10000}'.. => 4,
            _ => 2,
        };
        in_word = letter;
    }
    halves.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_on_the_safe_side() {
        // What XLM-RoBERTa's vocabulary makes of these, by hand: 7, 5 and 9 pieces, two special tokens apart.
        assert!(estimate_tokens("The quick brown fox jumps over it") >= 9);
        assert!(estimate_tokens("我昨天去超市买了苹果") >= 7);
        assert!(estimate_tokens("2026-02-19 09:45") >= 11);
        assert!(estimate_tokens("") < 10);
    }

    #[test]
    fn reach_ends_where_the_tokens_end() {
        let bytes = |text: &str| text.len();
        let options = Options { max_chars: 100, max_tokens: 30, count_tokens: Some(&bytes) };
        let meter = Meter::new(&options, None);
        let reach = meter.reach(&"字".repeat(50));
        assert!((24..=30).contains(&reach), "{reach}");
        assert_eq!(meter.reach("ab"), 2);
    }

    #[test]
    fn a_title_that_is_too_long_leaves_room() {
        let chars = |text: &str| text.chars().count();
        let options = Options { max_chars: 100, max_tokens: 20, count_tokens: Some(&chars) };
        let title = "很长的标题".repeat(10);
        let meter = Meter::new(&options, Some(&title));
        assert!(meter.fits("五个字以内"));
        assert!(!meter.fits("比五个字长"[..].repeat(2).as_str()));
    }

    #[test]
    fn no_limit_by_tokens_asks_nobody() {
        let never = |_: &str| -> usize { panic!("must not be called") };
        for max_tokens in [0, usize::MAX] {
            let options = Options { max_chars: 10, max_tokens, count_tokens: Some(&never) };
            let meter = Meter::new(&options, None);
            assert!(meter.fits("十个字以内") && !meter.fits("这一句话可是超过十个字了"));
        }
    }
}
