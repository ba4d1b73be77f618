//! Cuts one section into pieces within the limits, at the best places, as few as greedy packing gives.
//!
//! It does not know where the cuts come from. What must hold: the pieces are slices of the text in order, and nothing
//! but white space lies between them. The work is linear because a short piece is only ever made in front of a long
//! one: a cut comes early only where what follows up to the next such cut fits as a whole.

use unicode_segmentation::UnicodeSegmentation;

use crate::boundary::{self, Cut, Strength};
use crate::meter::Meter;
use crate::slice;

/// Indentation up to this many bytes stays in front of a piece; more is not structure but padding.
const MAX_INDENT: usize = 64;

/// No sensible grapheme cluster has more bytes (a family of four with skin tones has 41); what has may be cut.
const MAX_CLUSTER: usize = 256;

/// A run of ASCII letters and digits up to this long is not cut, so that it stays findable.
const MAX_WORD: usize = 64;

/// Pieces of `text` without the white space around them. `blocks` are its structural cuts, in order.
pub(crate) fn pack<'t>(text: &'t str, blocks: &[Cut], meter: &Meter) -> Vec<&'t str> {
    let end = text.trim_end().len();
    let mut from = content_start(text, 0, end, meter);
    let mut pieces = Vec::new();
    if from >= end || is_blank(text) {
        return pieces;
    }
    if meter.fits(slice(text, from, end)) {
        pieces.push(slice(text, from, end));
        return pieces;
    }
    let cuts = merge(blocks, &boundary::inline(slice(text, 0, end)));
    let mut packer = Packer { text, end, cuts: &cuts, meter };
    while from < end {
        let rest = slice(text, from, end);
        let to = if meter.fits(rest) { end } else { packer.next_cut(from, rest) };
        let piece = slice(text, from, to).trim_end();
        if !piece.is_empty() {
            pieces.push(piece);
        }
        // `to` is behind `from` by construction; the guard turns a mistake into one big piece instead of a hang.
        let next = content_start(text, to, end, meter);
        if next <= from {
            pieces.push(rest);
            break;
        }
        from = next;
    }
    pieces
}

/// Whether there is nothing to see in `text`.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// The first character at or behind `at` that a piece should start with: blank lines are skipped, the indentation of
/// the line is kept if a piece starts with the line.
fn content_start(text: &str, at: usize, end: usize, meter: &Meter) -> usize {
    let rest = slice(text, at, end.max(at));
    let space = rest.len() - rest.trim_start().len();
    let first = at + space;
    let line_start = match slice(rest, 0, space).rfind('\n') {
        Some(newline) => at + newline + 1,
        None if at == 0 => 0,
        None => first,
    };
    let indent = first - line_start;
    if indent <= MAX_INDENT && indent < meter.max_chars() / 2 {
        line_start
    } else {
        first
    }
}

/// Both lists in one, in order, of two cuts at the same place the stronger.
fn merge(blocks: &[Cut], inline: &[Cut]) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = blocks.iter().chain(inline).copied().collect();
    // A stable merge sort: linear on two sorted runs.
    cuts.sort_by_key(|cut| (cut.at, cut.strength));
    cuts.dedup_by_key(|cut| cut.at);
    cuts
}

struct Packer<'t, 'c> {
    text: &'t str,
    end: usize,
    /// Cuts from the present piece on.
    cuts: &'c [Cut],
    meter: &'c Meter<'c>,
}

impl Packer<'_, '_> {
    /// Where the piece that starts at `from` ends; `rest`, the text from there, does not fit.
    fn next_cut(&mut self, from: usize, rest: &str) -> usize {
        let passed = self.cuts.partition_point(|cut| cut.at <= from);
        self.cuts = self.cuts.get(passed..).unwrap_or_default();
        let mut reach = self.meter.reach(rest);
        loop {
            let to = self.best_cut(from, from + reach);
            // A tokenizer may make more tokens of a prefix than of the whole, though hardly ever.
            if to <= from + reach && reach > 1 && !self.meter.fits(slice(self.text, from, to)) {
                reach = floor_char_boundary(rest, reach - 1).max(1);
                if rest.is_char_boundary(reach) {
                    continue;
                }
            }
            return to;
        }
    }

    /// The last cut up to `reach`, of the best strength at which what lies between it and the next cut of that
    /// strength fits into a piece: if it does not, it has to be cut at a lesser place anyway.
    fn best_cut(&self, from: usize, reach: usize) -> usize {
        let within = self.cuts.partition_point(|cut| cut.at <= reach);
        let (before, after) = self.cuts.split_at(within.min(self.cuts.len()));
        let too_far = reach.saturating_add(self.meter.max_chars().saturating_mul(4));
        for strength in Strength::ALL {
            let Some(last) = before.iter().rev().find(|cut| cut.strength <= strength) else { continue };
            let next = after
                .iter()
                .take_while(|cut| cut.at <= too_far)
                .find(|cut| cut.strength <= strength)
                .map_or(self.end, |cut| cut.at);
            let start = content_start(self.text, last.at, next, self.meter);
            if self.meter.fits(slice(self.text, start, next)) {
                return last.at;
            }
        }
        self.hard_cut(from, reach)
    }

    /// The last cut up to `reach` that spares grapheme clusters and short ASCII words.
    fn hard_cut(&self, from: usize, reach: usize) -> usize {
        let seen = floor_char_boundary(self.text, self.end.min(reach.saturating_add(MAX_CLUSTER)));
        let mut word_start = from;
        let mut cut = from;
        let mut in_word = false;
        for (at, cluster) in slice(self.text, from, seen).grapheme_indices(true) {
            let word = cluster.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !(word && in_word) {
                word_start = from + at;
            }
            let cluster_end = from + at + cluster.len();
            if cluster_end > reach {
                if cut == from {
                    // The first cluster alone is over the limit.
                    return if cluster.len() < MAX_CLUSTER { cluster_end } else { reach };
                }
                let spared = word && in_word && word_start > from && cut - word_start <= MAX_WORD;
                return if spared { word_start } else { cut };
            }
            in_word = word;
            cut = cluster_end;
        }
        cut
    }
}

/// The last character boundary at or before `at`.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn pieces(text: &str, max_chars: usize) -> Vec<&str> {
        let options = Options { max_chars, max_tokens: 0, count_tokens: None };
        pack(text, &boundary::paragraphs(text), &Meter::new(&options, None))
    }

    #[test]
    fn whole_paragraphs_go_together() {
        let text = "一二三四五\n\n六七八九\n\n十百千万";
        assert_eq!(pieces(text, 17), [text]);
        assert_eq!(pieces(text, 16), ["一二三四五\n\n六七八九", "十百千万"]);
        assert_eq!(pieces(text, 10), ["一二三四五", "六七八九\n\n十百千万"]);
    }

    #[test]
    fn the_best_place_wins() {
        // The second sentence fits into a piece of its own, so the comma inside it is left alone.
        assert_eq!(pieces("第一句话。第二句话，有逗号。", 10), ["第一句话。", "第二句话，有逗号。"]);
        // A sentence that does not fit fills up the piece before it.
        assert_eq!(
            pieces("短句。这一句就太长了，放不进一块，只好从逗号断开。", 12),
            ["短句。这一句就太长了，", "放不进一块，", "只好从逗号断开。"]
        );
    }

    #[test]
    fn hard_cuts_spare_clusters_and_words() {
        let family = "👨‍👩‍👧";
        let text = family.repeat(7);
        let parts = pieces(&text, 12);
        assert!(parts.iter().all(|part| part.len() % family.len() == 0), "{parts:?}");
        // A limit below one cluster still does not cut it.
        assert_eq!(pieces(&text, 2), vec![family; 7]);
        assert_eq!(pieces("中文中文中文word中文", 8), ["中文中文中文", "word中文"]);
        assert_eq!(pieces(&"x".repeat(25), 10), ["x".repeat(10), "x".repeat(10), "x".repeat(5)]);
    }

    #[test]
    fn an_endless_cluster_is_cut_all_the_same() {
        let text = format!("e{}", "\u{301}".repeat(5_000));
        let parts = pieces(&text, 800);
        assert!(parts.iter().all(|part| part.chars().count() <= 800));
        assert_eq!(parts.concat(), text);
    }

    #[test]
    fn blank_lines_go_and_indentation_stays() {
        assert_eq!(pieces("\n  \n    code\n\n", 80), ["    code"]);
        assert_eq!(pieces(&format!("{}x", " ".repeat(1_000)), 80), ["x"]);
        assert_eq!(pieces(" \n\u{feff}\n", 80), Vec::<&str>::new());
    }
}
