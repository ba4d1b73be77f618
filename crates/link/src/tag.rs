//! Tags: `#标签`.
//!
//! A tag begins behind a blank, an opening bracket or Chinese punctuation, not behind a letter (`C#`, `page#part`), a
//! backslash or another `#`. It goes on over letters, digits, `_`, `-` and, for nested tags, `/`; a dot only inside
//! a Latin name (`#Node.js`). It has a letter (`#123` is a number) and is no colour: three or six hexadecimal digits
//! are one, four or eight if a figure is among them. So `#cafe` is a tag, but `#add` and `#decade` are not.

use crate::character::{at, before, is_cjk_punctuation, slice};

/// The tag whose `#` stands at `start`, without it, and where it ends.
pub(crate) fn read(text: &str, start: usize) -> Option<(&str, usize)> {
    if !may_begin(text, start) {
        return None;
    }
    let name_start = start + at(text, start)?.len_utf8();
    let mut end = name_start;
    let mut last = '#';
    let mut has_letter = false;
    let mut chars = slice(text, name_start, text.len()).char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let after = name_start + offset + c.len_utf8();
        let follows = chars.peek().map_or(' ', |(_, c)| *c);
        match c {
            '_' | '-' | '/' => {}
            '.' if last.is_ascii_alphanumeric()
                && (follows.is_ascii_lowercase() || follows.is_ascii_digit()) => {}
            '+' if last.is_ascii_alphabetic() || last == '+' => end = after,
            c if c.is_alphanumeric() || is_mark(c) => {
                has_letter |= c.is_alphabetic();
                end = after;
            }
            _ => break,
        }
        last = c;
    }
    // `#C#` is a tag of C#, while `#话题#` is closed by its sign.
    let is_sharp = end == name_start + 1
        && matches!(slice(text, name_start, end), "C" | "F" | "J")
        && slice(text, end, text.len()).starts_with('#')
        && !at(text, end + 1).is_some_and(char::is_alphanumeric);
    end += usize::from(is_sharp);
    let name = slice(text, name_start, end);
    (has_letter && !name.starts_with(['/', '-']) && !is_colour(name)).then_some((name, end))
}

fn may_begin(text: &str, start: usize) -> bool {
    match before(text, start) {
        None => true,
        // The target of a link is a place on its page.
        Some('(') => !slice(text, 0, start).ends_with("]("),
        Some(',' | ';' | '|' | '*' | '、') => true,
        Some('＃') => false,
        Some(c) => c.is_whitespace() || is_cjk_punctuation(c),
    }
}

/// Marks that are written behind a letter and belong to it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{FE0F}' | '\u{200D}')
}

fn is_colour(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_hexdigit())
        && match name.len() {
            3 | 6 => true,
            4 | 8 => name.bytes().any(|b| b.is_ascii_digit()),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::read;

    fn tags(text: &str) -> Vec<&str> {
        text.match_indices(['#', '＃']).filter_map(|(at, _)| read(text, at).map(|(tag, _)| tag)).collect()
    }

    #[test]
    fn what_is_a_tag() {
        for (text, expected) in [
            ("#博客 和 #RSS2，#不算", vec!["博客", "RSS2", "不算"]),
            ("（#括号里）、#下划_线 #a1", vec!["括号里", "下划_线", "a1"]),
            ("#项目/博客/订阅 #a/", vec!["项目/博客/订阅", "a"]),
            ("＃全角 (#圆括号)", vec!["全角", "圆括号"]),
            ("#Node.js。#结束.下一句 #C++ #2026年", vec!["Node.js", "结束", "C++", "2026年"]),
            ("#话题# 之后", vec!["话题"]),
            ("#C# 与 #F#", vec!["C#", "F#"]),
            ("#cafe **#粗体**", vec!["cafe", "粗体"]),
        ] {
            assert_eq!(tags(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_none() {
        for text in [
            "C#语言",
            "F#、",
            "issue #123",
            "#fff #1E90FF #1a2b3c4d #f0f0",
            "https://a.example/p#片段",
            "##没有空格",
            "# 标题",
            "#",
            "# ",
            "[上面](#上面)",
            "a#b",
            "今天#日志",
            "#2026-02-19",
            "#-x",
            "＃＃双",
        ] {
            assert!(tags(text).is_empty(), "{text}: {:?}", tags(text));
        }
    }
}
