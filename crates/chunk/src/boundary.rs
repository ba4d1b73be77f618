//! Finds the places inside prose where it may be cut: paragraphs, sentences, clauses, words.
//!
//! It knows nothing of Markdown or of lengths. What must hold: cuts are in order, lie between grapheme clusters, and
//! in front of white space rather than behind it, so that a piece is measured without it.

use unicode_segmentation::UnicodeSegmentation;

/// How good a cut is, best first. Every strength includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Between paragraphs, lists, tables, fences at the top level.
    Block,
    /// Between list items, table rows, paragraphs of a quotation.
    Part,
    /// Between blocks inside of those.
    Detail,
    /// Between lines of code.
    Line,
    /// Behind a sentence.
    Sentence,
    /// Behind a part of a sentence, or at the end of a line.
    Clause,
    /// Between words.
    Word,
}

impl Strength {
    /// Best first.
    pub(crate) const ALL: [Strength; 7] = [
        Strength::Block,
        Strength::Part,
        Strength::Detail,
        Strength::Line,
        Strength::Sentence,
        Strength::Clause,
        Strength::Word,
    ];
}

/// A place where a text may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bytes from the start of the text.
    pub(crate) at: usize,
    pub(crate) strength: Strength,
}

/// A mark that may end a sentence or clause, once what follows it is known.
#[derive(Clone, Copy)]
struct Mark {
    strength: Strength,
    needs: Needs,
}

/// What must follow a mark. Full-width marks end something wherever they stand; `3.14`, `a?b=1` and `12:30` do not.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    WideOrSpace,
    Space,
}

/// Cuts at empty lines.
pub(crate) fn paragraphs(text: &str) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut at = 0;
    let mut end_of_words = 0;
    let mut blank_before = false;
    for line in text.split_inclusive('\n') {
        let words = line.trim_end();
        let blank = words.is_empty();
        if !blank {
            if blank_before && end_of_words > 0 {
                cuts.push(Cut { at: end_of_words, strength: Strength::Block });
            }
            end_of_words = at + words.len();
        }
        blank_before = blank;
        at += line.len();
    }
    cuts
}

/// Cuts behind sentences, clauses and words.
pub(crate) fn inline(text: &str) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    let mut mark: Option<Mark> = None;
    let mut word = Word::default();
    let mut space: Option<Space> = None;
    let mut after_wide = false;
    for (at, cluster) in text.grapheme_indices(true) {
        let Some(c) = cluster.chars().next() else { continue };
        if cluster.chars().all(is_space) {
            let run = space.get_or_insert(Space { at, newline: false });
            run.newline |= c == '\n';
            continue;
        }
        let mut line_start = at == 0;
        if let Some(run) = space.take() {
            let by_space = match run.newline {
                // Chinese is not hard-wrapped: who breaks the line there has finished a thought.
                true if after_wide => Strength::Sentence,
                true => Strength::Clause,
                false => Strength::Word,
            };
            let strength = mark.take().map_or(by_space, |mark| mark.strength.min(by_space));
            cuts.push(Cut { at: run.at, strength });
            word = Word::default();
            line_start |= run.newline;
        }
        let found = mark_of(c, &word);
        mark = match (mark, found) {
            (Some(before), Some(next)) => {
                let strength = before.strength.min(next.strength);
                Some(Mark { strength, needs: next.needs })
            }
            (None, next) => next,
            (Some(before), None) if is_closer(c) => Some(before),
            (Some(before), None) => {
                let wide = !c.is_ascii();
                if before.needs == Needs::Nothing || (before.needs == Needs::WideOrSpace && wide) {
                    cuts.push(Cut { at, strength: before.strength });
                }
                None
            }
        };
        word.read(c, line_start);
        after_wide = !c.is_ascii();
    }
    cuts
}

/// A run of white space.
struct Space {
    at: usize,
    newline: bool,
}

/// The run of ASCII letters and digits before a mark.
#[derive(Default)]
struct Word {
    chars: usize,
    only_digits: bool,
    at_line_start: bool,
}

impl Word {
    fn read(&mut self, c: char, line_start: bool) {
        if !c.is_ascii_alphanumeric() {
            *self = Word::default();
        } else if self.chars == 0 {
            *self = Word { chars: 1, only_digits: c.is_ascii_digit(), at_line_start: line_start };
        } else {
            self.chars += 1;
            self.only_digits &= c.is_ascii_digit();
        }
    }

    /// `e.g.`, `J. Smith`, and the `1.` of a list.
    fn makes_a_stop_doubtful(&self) -> bool {
        (self.chars == 1 && !self.only_digits) || (self.only_digits && self.at_line_start)
    }
}

fn mark_of(c: char, word: &Word) -> Option<Mark> {
    let (strength, needs) = match c {
        '。' | '！' | '？' | '；' | '｡' | '．' | '।' | '؟' | '۔' => {
            (Strength::Sentence, Needs::Nothing)
        }
        '!' | '?' => (Strength::Sentence, Needs::WideOrSpace),
        '.' if !word.makes_a_stop_doubtful() => (Strength::Sentence, Needs::Space),
        ';' => (Strength::Sentence, Needs::Space),
        '，' | '、' | '：' | '…' | '—' | '،' | '､' => (Strength::Clause, Needs::Nothing),
        ',' | ':' => (Strength::Clause, Needs::Space),
        _ => return None,
    };
    Some(Mark { strength, needs })
}

/// Belongs to the sentence before it if it directly follows the end mark.
fn is_closer(c: char) -> bool {
    matches!(
        c,
        '”' | '’'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
            | '〕'
            | '］'
            | '｝'
            | '"'
            | '\''
            | ')'
            | ']'
            | '}'
            | '*'
            | '_'
            | '`'
    )
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{200b}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, strength: Strength) -> Vec<&str> {
        let mut from = 0;
        let mut parts = Vec::new();
        for cut in inline(text).into_iter().filter(|cut| cut.strength <= strength) {
            parts.push(text[from..cut.at].trim());
            from = cut.at;
        }
        parts.push(text[from..].trim());
        parts
    }

    #[test]
    fn sentences() {
        let cases: [(&str, &[&str]); 9] = [
            ("他说：“走吧。”然后走了。", &["他说：“走吧。”", "然后走了。"]),
            ("真的？！不会吧……也许；算了", &["真的？！", "不会吧……也许；", "算了"]),
            ("It is 3.14. See a?b=1 now! Yes.", &["It is 3.14.", "See a?b=1 now!", "Yes."]),
            ("J. Smith said e.g. this. Ok", &["J. Smith said e.g. this.", "Ok"]),
            ("1. 第一步。\n2. 第二步。", &["1. 第一步。", "2. 第二步。"]),
            ("In 2026. Next year", &["In 2026.", "Next year"]),
            ("你好!再见", &["你好!", "再见"]),
            ("（完。）下一句", &["（完。）", "下一句"]),
            ("**重点。** 其余", &["**重点。**", "其余"]),
        ];
        for (text, expected) in cases {
            assert_eq!(split(text, Strength::Sentence), expected, "{text}");
        }
    }

    #[test]
    fn clauses_and_words() {
        assert_eq!(split("先甲，后乙：12:30 到", Strength::Clause), ["先甲，", "后乙：", "12:30 到"]);
        assert_eq!(split("one, two\nthree", Strength::Clause), ["one,", "two", "three"]);
        assert_eq!(split("one two\u{3000}three", Strength::Word), ["one", "two", "three"]);
        assert_eq!(split("第一行\n第二行", Strength::Sentence), ["第一行", "第二行"]);
        assert_eq!(split("hard\nwrapped", Strength::Sentence), ["hard\nwrapped"]);
    }

    #[test]
    fn a_cut_never_splits_a_cluster() {
        // A full stop with a variation selector, a space that carries an accent.
        assert_eq!(split("甲。\u{fe00}乙", Strength::Sentence), ["甲。\u{fe00}", "乙"]);
        assert_eq!(split("a \u{301}b", Strength::Word), ["a \u{301}b"]);
    }

    #[test]
    fn empty_lines_part_paragraphs() {
        let text = "\n甲\n乙\n \t\n\n丙\n\n";
        assert_eq!(paragraphs(text), [Cut { at: "\n甲\n乙".len(), strength: Strength::Block }]);
        assert_eq!(paragraphs("\n\n"), []);
    }
}
