//! What of a text is code, or not text at all: fences, code spans, front matter.
//!
//! Only as much of CommonMark as decides where prose is. A fence counts wherever it stands on its line, because
//! lists and quotations indent them. What must hold: the work is linear; a span never leaves its line.

use crate::character::{byte, has_cjk, slice};

/// A fence that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: u8,
    len: usize,
}

impl Fence {
    /// The fence that opens on this line.
    pub(crate) fn opening(line: &str) -> Option<Fence> {
        let (fence, info) = marks(without_container(line))?;
        // A line such as ```` ```x``` ```` is a code span.
        (fence.mark == b'~' || !info.contains('`')).then_some(fence)
    }

    /// Whether this line closes the fence.
    pub(crate) fn closes(self, line: &str) -> bool {
        marks(line.trim_start_matches([' ', '\t', '>'])).is_some_and(|(mark, info)| {
            mark.mark == self.mark && mark.len >= self.len && info.trim().is_empty()
        })
    }
}

/// A line without the marks of quotations and list items it begins with.
fn without_container(line: &str) -> &str {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let item = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = item.len() < line.len() && line.len() - item.len() < 10;
    let bullet = if is_number { item.strip_prefix(['.', ')']) } else { line.strip_prefix(['-', '*', '+']) };
    match bullet {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start_matches([' ', '\t', '>']),
        _ => line,
    }
}

/// The fence marks at the start of `line` and what stands behind them.
fn marks(line: &str) -> Option<(Fence, &str)> {
    let mark = byte(line, 0);
    if mark != b'`' && mark != b'~' {
        return None;
    }
    let len = line.bytes().take_while(|b| *b == mark).count();
    (len >= 3).then(|| (Fence { mark, len }, slice(line, len, line.len())))
}

/// The fence a text begins in the middle of, as a chunk does that was cut out of a long code block.
///
/// Its first fence mark then closes. It is one if a mark follows that can only open where the first would have
/// opened too; and, if it is the only mark, if Chinese stands behind it and none before.
pub(crate) fn fence_around_start(text: &str) -> Option<Fence> {
    if !text.contains("```") && !text.contains("~~~") {
        return None;
    }
    let mut lines = text.split_inclusive('\n');
    let mut at = 0;
    let first = loop {
        let line = lines.next()?;
        at += line.len();
        if let Some(fence) = Fence::opening(line) {
            if !fence.closes(line) {
                return None;
            }
            break (at - line.len(), fence);
        }
    };
    let (start, fence) = first;
    let behind = at;
    for line in lines {
        if fence.closes(line) {
            return None;
        }
        if Fence::opening(line).is_some_and(|other| other.mark == fence.mark && other.len == fence.len) {
            return Some(fence);
        }
    }
    let is_tail = !slice(text, 0, start).trim().is_empty()
        && !has_cjk(slice(text, 0, start))
        && has_cjk(slice(text, behind, text.len()));
    is_tail.then_some(fence)
}

/// Where the text behind the front matter begins.
pub(crate) fn front_matter_end(text: &str) -> usize {
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let mut lines = slice(text, start, text.len()).split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some("---") {
        return 0;
    }
    let mut end = start + text.get(start..).and_then(|rest| rest.find('\n')).map_or(0, |at| at + 1);
    for (index, line) in lines.enumerate() {
        end += line.len();
        let line = line.trim_end();
        // A line of dashes above prose is no front matter.
        let is_key = line.split_once(':').is_some_and(|(key, _)| !key.is_empty() && !key.contains(' '));
        if index == 0 && !is_key {
            return 0;
        }
        if line == "---" || line == "..." {
            return end;
        }
    }
    0
}

/// Lengths of backtick runs that nothing closes on the line at hand.
///
/// Without it a line of backtick runs would be searched to its end once for each of them.
#[derive(Debug, Default)]
pub(crate) struct Unclosed(u64);

/// Longest run of backticks that opens a span.
const MAX_TICKS: usize = 63;

/// The code span whose backticks begin at `start`: its content, and where it ends. If none does, the end of the
/// backticks.
pub(crate) fn span<'t>(
    text: &'t str,
    start: usize,
    line_end: usize,
    unclosed: &mut Unclosed,
) -> (Option<&'t str>, usize) {
    let ticks = run_of_ticks(text, start, line_end);
    let open = start + ticks;
    let bit = 1_u64.checked_shl(ticks as u32).filter(|_| ticks <= MAX_TICKS).unwrap_or(0);
    if bit == 0 || unclosed.0 & bit != 0 {
        return (None, open);
    }
    let mut pos = open;
    while let Some(at) = slice(text, pos, line_end).find('`') {
        let close = pos + at;
        let closing = run_of_ticks(text, close, line_end);
        if closing == ticks {
            return (Some(content(slice(text, open, close))), close + closing);
        }
        pos = close + closing;
    }
    unclosed.0 |= bit;
    (None, open)
}

fn run_of_ticks(text: &str, start: usize, end: usize) -> usize {
    slice(text, start, end).bytes().take_while(|b| *b == b'`').count()
}

/// What is said by a span: one blank at each side only sets backticks apart.
fn content(inner: &str) -> &str {
    inner.trim_matches(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_span(line: &str) -> Option<&str> {
        let start = line.find('`')?;
        span(line, start, line.len(), &mut Unclosed::default()).0
    }

    #[test]
    fn spans_close_with_as_many_backticks() {
        assert_eq!(first_span("a ``x ` y`` b"), Some("x ` y"));
        assert_eq!(first_span("`sessions.json` 里"), Some("sessions.json"));
        assert_eq!(first_span("`` ` ``"), Some("`"));
        assert_eq!(first_span("a ` b"), None);
        assert_eq!(first_span("``` a ``"), None);
    }

    #[test]
    fn fences_open_in_lists_and_quotations() {
        for line in ["```", "~~~ sql", "  ```rust", "> ```", "- ```sh", "1. ```", "\t````"] {
            assert!(Fence::opening(line).is_some(), "{line}");
        }
        for line in ["``", "```x```", "a ```", "-```", "1234567890. ```"] {
            assert_eq!(Fence::opening(line), None, "{line}");
        }
        let fence = Fence::opening("```` md").unwrap();
        assert!(
            fence.closes("  `````  ")
                && !fence.closes("```")
                && !fence.closes("```` x")
                && !fence.closes("~~~~")
        );
    }

    #[test]
    fn a_text_may_begin_inside_a_fence() {
        for text in ["let a = 1;\n```\n正文\n", "x\n```\n正文\n```sql\nselect\n```\n"] {
            assert!(fence_around_start(text).is_some(), "{text}");
        }
        for text in
            ["正文\n```\nlet a", "```\na\n```\n", "```sql\na\n```\n正文\n```sh\nb\n", "```\n正文", "没有", ""]
        {
            assert_eq!(fence_around_start(text), None, "{text}");
        }
    }

    #[test]
    fn front_matter_is_skipped_and_a_rule_is_not() {
        let text = "---\ntitle: OpenClaw\n\ntags: [a]\n---\n正文";
        assert_eq!(&text[front_matter_end(text)..], "正文");
        for text in ["---\n正文在这里\n---\n", "---\na: b\n", "--- \n", "", "正文\n---\na: 1\n---\n"] {
            assert_eq!(front_matter_end(text), 0, "{text}");
        }
    }
}
