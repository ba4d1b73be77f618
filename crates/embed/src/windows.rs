//! Where to cut a text that is longer than the model's window, by the starts of its tokens.
//!
//! It sees token positions and characters, no vocabulary. What must hold: the spans cover the text without gap or
//! overlap, end on character borders, and hold at most the budget of tokens unless a single character alone
//! has more.

/// A part of the text for one run of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

/// The part of a window, from its end, in which a good place to cut is looked for.
const SEARCH_SHARE: usize = 5;

/// Cuts a text while its tokens arrive; holds no more than one window of them.
pub(crate) struct Cutter<'t> {
    text: &'t str,
    budget: usize,
    start: usize,
    /// First bytes of the tokens of the open window, never falling.
    tokens: Vec<usize>,
    spans: Vec<Span>,
}

impl<'t> Cutter<'t> {
    /// `budget`: tokens per window, at least 1.
    pub(crate) fn new(text: &'t str, budget: usize) -> Self {
        Self { text, budget: budget.max(1), start: 0, tokens: Vec::new(), spans: Vec::new() }
    }

    /// Adds the next token by its first byte.
    pub(crate) fn push(&mut self, first_byte: usize) {
        let floor = self.tokens.last().copied().unwrap_or(self.start);
        let at = char_floor(self.text, first_byte).max(floor);
        self.tokens.push(at);
        // Tokens of one character share its place, and a cut must move on.
        if self.tokens.len() > self.budget && at > self.start {
            self.cut();
        }
    }

    /// Everything cut so far and the rest.
    pub(crate) fn finish(mut self) -> Vec<Span> {
        if self.start < self.text.len() {
            self.spans.push(Span { start: self.start, end: self.text.len() });
        }
        self.spans
    }

    fn cut(&mut self) {
        let newest = self.tokens.len() - 1;
        let latest = self.budget.min(newest);
        let earliest = (latest - latest / SEARCH_SHARE).max(1);
        let place = |index: &usize| self.tokens.get(*index).copied().unwrap_or(self.start);
        let moves = |index: &usize| place(index) > self.start;
        let index = (earliest..=latest)
            .rev()
            .filter(moves)
            .max_by_key(|index| (border(self.text, place(index)), *index))
            .filter(|index| border(self.text, place(index)) > Border::None)
            .or_else(|| (1..=latest).rev().find(moves))
            .unwrap_or(newest);
        let end = place(&index);
        self.spans.push(Span { start: self.start, end });
        self.start = end;
        self.tokens.drain(..index);
    }
}

/// How good a place is to cut at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Border {
    None,
    Word,
    Clause,
    Sentence,
}

/// How far back of a place is looked at: without a bound, a text of quotation marks takes quadratic time.
const BORDER_BYTES: usize = 32;

/// Judges the place before byte `at` by the characters around it.
pub(crate) fn border(text: &str, at: usize) -> Border {
    let from = char_floor(text, at.saturating_sub(BORDER_BYTES));
    let (Some(before), Some(after)) = (text.get(from..at), text.get(at..)) else {
        return Border::None;
    };
    let trimmed = before.trim_end();
    let space = trimmed.len() < before.len() || after.starts_with(char::is_whitespace);
    // A closing quote or bracket belongs to the sentence it closes.
    let bare = trimmed.trim_end_matches(['”', '’', '」', '』', '）', '》', '】', '"', '\'', ')', ']']);
    let gap = before.get(trimmed.len()..).unwrap_or_default();
    match bare.chars().next_back() {
        _ if gap.contains('\n') => Border::Sentence,
        Some('。' | '！' | '？' | '；' | '…' | '｡') => Border::Sentence,
        // In Latin text these end a sentence only before a space: not in 3.14 or example.com.
        Some('.' | '!' | '?' | ';') if space => Border::Sentence,
        Some('，' | '、' | '：' | '—' | '｜') => Border::Clause,
        Some(',' | ':' | '|') if space => Border::Clause,
        _ if space => Border::Word,
        _ => Border::None,
    }
}

/// The start of the character that byte `at` belongs to.
pub(crate) fn char_floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The indexes of `wanted` out of `total` places, first and last included, evenly spread, rising.
pub(crate) fn spread(total: usize, wanted: usize) -> Vec<usize> {
    match wanted {
        _ if wanted >= total => (0..total).collect(),
        0 => Vec::new(),
        1 => vec![0],
        _ => (0..wanted).map(|i| i * (total - 1) / (wanted - 1)).collect(),
    }
}

/// Cuts a text into pieces of at most `limit` bytes (but at least one character) at white space or sentence
/// marks where the last eighth of a piece has any.
pub(crate) fn pieces(text: &str, limit: usize) -> impl Iterator<Item = Span> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= text.len() {
            return None;
        }
        let end = piece_end(text, start, limit);
        let span = Span { start, end };
        start = end;
        Some(span)
    })
}

fn piece_end(text: &str, start: usize, limit: usize) -> usize {
    if text.len() - start <= limit {
        return text.len();
    }
    let hard = char_floor(text, start + limit);
    if hard <= start {
        let first = text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        return start + first;
    }
    let soft = char_floor(text, hard - limit / 8).max(start + 1);
    let mut end = hard;
    while end > soft {
        if text.is_char_boundary(end) && border(text, end) > Border::None {
            return end;
        }
        end -= 1;
    }
    hard
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every character a token.
    fn cut(text: &str, budget: usize) -> Vec<&str> {
        let mut cutter = Cutter::new(text, budget);
        for (at, _) in text.char_indices() {
            cutter.push(at);
        }
        cutter.finish().iter().map(|span| &text[span.start..span.end]).collect()
    }

    #[test]
    fn a_text_that_fits_is_one_span() {
        assert_eq!(cut("今天下雨。", 5), ["今天下雨。"]);
        assert!(cut("", 5).is_empty());
    }

    #[test]
    fn a_window_ends_with_its_sentence() {
        assert_eq!(cut("一二三四五六七八。十百", 10), ["一二三四五六七八。", "十百"]);
        assert_eq!(cut("一二三四五六七八，十百", 10), ["一二三四五六七八，", "十百"]);
        assert_eq!(cut("一。三四五六七八九十百", 10), ["一。三四五六七八九十", "百"], "too early to end at");
    }

    #[test]
    fn sentence_beats_clause_beats_word() {
        assert_eq!(border("好。再", 6), Border::Sentence);
        assert_eq!(border("「好。」再", 12), Border::Sentence);
        assert_eq!(border("a\nb", 2), Border::Sentence);
        assert_eq!(border("好，再", 6), Border::Clause);
        assert_eq!(border("a b", 1), Border::Word);
        assert_eq!(border("a b", 2), Border::Word);
        assert_eq!(border("3.14", 2), Border::None);
        assert_eq!(border("End. Next", 4), Border::Sentence);
        assert_eq!(border("好", 1), Border::None, "inside a character");
    }

    #[test]
    fn many_tokens_of_one_character_do_not_stop_the_cutter() {
        let text = "字符串";
        let mut cutter = Cutter::new(text, 2);
        for at in [0, 0, 0, 0, 3, 3, 3, 6] {
            cutter.push(at);
        }
        let spans = cutter.finish();
        assert_eq!(spans.first().unwrap().start, 0);
        assert_eq!(spans.last().unwrap().end, text.len());
    }

    #[test]
    fn spread_keeps_both_ends() {
        assert_eq!(spread(10, 4), [0, 3, 6, 9]);
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(9, 1), [0]);
        assert!(spread(0, 3).is_empty() && spread(5, 0).is_empty());
    }

    #[test]
    fn pieces_end_at_borders_near_the_limit() {
        let text = format!("{} {}", "a".repeat(60), "b".repeat(60));
        let cut: Vec<Span> = pieces(&text, 64).collect();
        assert_eq!(cut.iter().map(|span| span.end).collect::<Vec<_>>(), [61, 121]);
    }

    proptest! {
        #[test]
        fn spans_tile_the_text(text in "[ab .,。，\n茶😀]{0,200}", budget in 1usize..30, skip in 1usize..4) {
            let mut cutter = Cutter::new(&text, budget);
            let mut starts = Vec::new();
            for (at, _) in text.char_indices().step_by(skip) {
                cutter.push(at);
                starts.push(at);
            }
            let spans = cutter.finish();
            let mut next = 0;
            for span in &spans {
                prop_assert_eq!(span.start, next);
                prop_assert!(span.end > span.start && text.is_char_boundary(span.end));
                let held = starts.iter().filter(|at| (span.start..span.end).contains(at)).count();
                prop_assert!(held <= budget, "{} tokens in a window of {}", held, budget);
                next = span.end;
            }
            prop_assert_eq!(next, text.len());
        }

        #[test]
        fn pieces_tile_the_text(text in "[ab .。\n茶😀]{0,200}", limit in 1usize..40) {
            let mut next = 0;
            for span in pieces(&text, limit) {
                prop_assert_eq!(span.start, next);
                prop_assert!(span.end > span.start && text.is_char_boundary(span.end));
                prop_assert!(span.end - span.start <= limit.max(4));
                next = span.end;
            }
            prop_assert_eq!(next, text.len());
        }

        #[test]
        fn spread_rises_and_reaches_both_ends(total in 1usize..500, wanted in 2usize..60) {
            let places = spread(total, wanted);
            prop_assert_eq!(places.len(), total.min(wanted));
            prop_assert_eq!((places[0], *places.last().unwrap()), (0, total - 1));
            prop_assert!(places.windows(2).all(|w| w[0] < w[1]));
        }
    }
}
