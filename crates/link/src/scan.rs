//! The pass over a text: line by line, each line once, every character handed to what it may begin.

use memory_segment::Segmenter;

use crate::address;
use crate::character::{at, byte, has_cjk, is_han, is_word, slice};
use crate::code::{self, Fence, Unclosed};
use crate::collect::Collector;
use crate::han::Han;
use crate::latin::{self, Latin};
use crate::{tag, Extracted, Kind, MAX_NAME_CHARS};

/// Longest code span that is an entity, in characters; longer ones are examples.
const MAX_CODE: usize = 100;

/// Longest title between 《 and 》, in characters.
const MAX_TITLE: usize = 60;

/// Longest name of a wiki link, in characters.
const MAX_WIKI_LINK: usize = 100;

/// Longest name behind a dot (`.NET`), in characters.
const MAX_DOT_NAME: usize = 16;

/// Candidates that wait for Chinese ones before their order is settled.
const MAX_WAITING: usize = 512;

/// Reads the whole text.
pub(crate) fn scan(text: &str, segmenter: &Segmenter) -> Extracted {
    let mut scanner =
        Scanner { text, segmenter, out: Collector::default(), latin: Latin::default(), han: Han::default() };
    let mut pos = code::front_matter_end(text);
    let mut fence = code::fence_around_start(slice(text, pos, text.len()));
    while pos < text.len() && !scanner.out.is_full() {
        let end = text.get(pos..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| pos + at);
        let line = slice(text, pos, end);
        match fence {
            Some(open) if open.closes(line) => fence = None,
            Some(_) => scanner.code_line(pos, end),
            None => {
                fence = Fence::opening(line);
                if fence.is_none() {
                    scanner.line(pos, end);
                }
            }
        }
        pos = end + 1;
    }
    scanner.settle();
    scanner.out.finish()
}

struct Scanner<'t, 's> {
    text: &'t str,
    segmenter: &'s Segmenter,
    out: Collector,
    latin: Latin,
    han: Han,
}

impl Scanner<'_, '_> {
    /// A line of code: addresses, and paths below the home folder or a well-known one, are what they are anywhere.
    fn code_line(&mut self, start: usize, end: usize) {
        let mut next = start;
        for (at, _) in slice(self.text, start, end).match_indices('/') {
            let slash = start + at;
            if slash < next {
                // Part of what was found.
                continue;
            }
            let head = slice(self.text, start, slash);
            if let Some(head) = head.strip_suffix(':') {
                let scheme = start + head.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
                let is_url = byte(self.text, slash + 1) == b'/'
                    && address::is_scheme(slice(self.text, scheme, slash - 1));
                if let Some(url_end) = is_url.then(|| address::url_end(self.text, slash + 2)).flatten() {
                    next = url_end;
                    let url = slice(self.text, scheme, url_end.min(end));
                    self.out.entity(scheme, address::shorten(url), Kind::Url);
                }
            } else {
                let path = slash - usize::from(head.ends_with('~'));
                if let Some(path_end) = address::known_path_end(self.text, path) {
                    next = path_end;
                    self.out.entity(path, slice(self.text, path, path_end), Kind::Path);
                }
            }
        }
    }

    /// A line of prose.
    fn line(&mut self, start: usize, end: usize) {
        self.latin.start_line(has_cjk(slice(self.text, start, end)));
        let mut unclosed = Unclosed::default();
        let mut pos = start;
        while pos < end {
            pos = match byte(self.text, pos) {
                b'`' => self.code_span(pos, end, &mut unclosed),
                b'#' => self.tag(pos),
                b'/' | b'~' | b'.' => self.path(pos),
                b'<' => self.markup(pos),
                b'[' => self.wiki_link(pos),
                b'(' => self.destination(pos, end),
                b'"' => self.quoted(pos, '"'),
                b'\\' => self.backslash(pos),
                // `&#39;` is no tag.
                b'&' => pos + 1 + usize::from(byte(self.text, pos + 1) == b'#'),
                b if b.is_ascii_alphanumeric() => self.latin.read(self.text, pos, &mut self.out),
                b if b.is_ascii() => pos + 1,
                _ => self.beyond_ascii(pos, end),
            };
        }
        self.latin.flush(self.text, &mut self.out);
        if self.han.is_long() || self.out.waiting() >= MAX_WAITING {
            self.settle();
        }
    }

    fn beyond_ascii(&mut self, pos: usize, end: usize) -> usize {
        let Some(c) = at(self.text, pos) else { return end };
        match c {
            '《' => self.title(pos),
            '“' => self.quoted(pos, '”'),
            '＃' => self.tag(pos),
            c if is_han(c) => {
                if self.han.is_full() {
                    self.latin.flush(self.text, &mut self.out);
                    self.settle();
                }
                self.han.read(self.text, pos)
            }
            c if is_word(c) => self.latin.read(self.text, pos, &mut self.out),
            c => pos + c.len_utf8(),
        }
    }

    fn code_span(&mut self, pos: usize, line_end: usize, unclosed: &mut Unclosed) -> usize {
        let (content, end) = code::span(self.text, pos, line_end, unclosed);
        if let Some(name) = content {
            if name.contains(char::is_alphabetic) && name.chars().nth(MAX_CODE).is_none() {
                let kind = kind_of_code(name);
                self.out.entity(pos, name, kind);
                if kind == Kind::Code {
                    self.code_words(pos, end);
                }
            }
        }
        end
    }

    /// The names in a code span that need no help from around them: `NAS:/photo` speaks of NAS.
    fn code_words(&mut self, start: usize, end: usize) {
        let text = slice(self.text, 0, end);
        self.latin.start_code(text, &mut self.out);
        let mut pos = start;
        while pos < end {
            pos = match at(text, pos) {
                Some(c) if is_word(c) => self.latin.read(text, pos, &mut self.out),
                Some('/' | '~') => self.path(pos).min(end),
                Some(c) => pos + c.len_utf8(),
                None => end,
            };
        }
        self.latin.end_code(text, &mut self.out);
    }

    fn tag(&mut self, pos: usize) -> usize {
        let Some(c) = at(self.text, pos) else { return pos + 1 };
        match tag::read(self.text, pos) {
            Some((name, end)) => {
                self.out.tag(name);
                end
            }
            None => pos + c.len_utf8(),
        }
    }

    fn path(&mut self, pos: usize) -> usize {
        if let Some(end) = address::rooted_path_end(self.text, pos) {
            self.out.entity(pos, slice(self.text, pos, end), Kind::Path);
            return end;
        }
        if byte(self.text, pos) == b'.' {
            return self.dot_name(pos);
        }
        pos + 1
    }

    /// `.NET` and the like: a dot and capitals.
    fn dot_name(&mut self, pos: usize) -> usize {
        let alone = !crate::character::before(self.text, pos).is_some_and(|c| is_word(c) || c == '.');
        let rest = slice(self.text, pos + 1, self.text.len());
        let len = rest.bytes().take_while(u8::is_ascii_uppercase).take(MAX_DOT_NAME).count();
        if alone && len >= 2 && !at(rest, len).is_some_and(is_word) {
            let end = pos + 1 + len;
            self.out.entity(pos, slice(self.text, pos, end), Kind::Name);
            return end;
        }
        pos + 1
    }

    /// A tag of HTML: its name is none of ours. What stands in its attributes may be.
    fn markup(&mut self, pos: usize) -> usize {
        let rest = slice(self.text, pos + 1, self.text.len());
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let name_len = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let is_tag = matches!(byte(rest, name_len), b'>' | b' ' | b'/')
            && !slice(rest, name_len, rest.len()).starts_with("//");
        if is_tag && rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.text.len() - rest.len() + name_len + 1
        } else {
            pos + 1
        }
    }

    fn wiki_link(&mut self, pos: usize) -> usize {
        let Some(rest) = slice(self.text, pos, self.text.len()).strip_prefix("[[") else { return pos + 1 };
        let len: usize = rest
            .chars()
            .take(MAX_WIKI_LINK + 1)
            .take_while(|c| !"[]|#\n`".contains(*c))
            .map(char::len_utf8)
            .sum();
        let name = slice(rest, 0, len);
        let closed = match byte(rest, len) {
            b']' => rest.get(len..).is_some_and(|rest| rest.starts_with("]]")),
            b'|' | b'#' => true,
            _ => false,
        };
        if closed && !name.starts_with(char::is_whitespace) {
            self.out.entity(pos, name.trim(), Kind::Name);
            return pos + 2 + len;
        }
        pos + 1
    }

    fn title(&mut self, pos: usize) -> usize {
        let start = pos + '《'.len_utf8();
        let rest = slice(self.text, start, self.text.len());
        let len: usize =
            rest.chars().take(MAX_TITLE + 1).take_while(|c| !"《》\n".contains(*c)).map(char::len_utf8).sum();
        let name = slice(rest, 0, len);
        // An address in brackets is read as one.
        if at(rest, len) == Some('》') && !name.trim().is_empty() && !name.contains("://") {
            self.out.entity(start, name.trim(), Kind::Title);
            return start + len + '》'.len_utf8();
        }
        start
    }

    /// A path on another computer, or a character that means itself.
    fn backslash(&mut self, pos: usize) -> usize {
        if let Some(end) = address::share_path_end(self.text, pos) {
            self.latin.flush(self.text, &mut self.out);
            self.out.entity(pos, slice(self.text, pos, end), Kind::Path);
            return end;
        }
        pos + 1 + usize::from(byte(self.text, pos + 1).is_ascii_punctuation())
    }

    /// The target of a link, if it is a file whose name has blanks in it.
    fn destination(&mut self, pos: usize, line_end: usize) -> usize {
        let rest = slice(self.text, pos + 1, line_end);
        let len: usize = rest
            .chars()
            .take(MAX_NAME_CHARS)
            .take_while(|c| !"()<>\"".contains(*c))
            .map(char::len_utf8)
            .sum();
        let name = slice(rest, 0, len);
        let is_file = byte(self.text, pos.wrapping_sub(1)) == b']'
            && byte(rest, len) == b')'
            && name.contains(' ')
            && !name.contains("://")
            && address::has_extension(name);
        if is_file {
            self.latin.flush(self.text, &mut self.out);
            self.out.entity(pos + 1, name.trim(), Kind::Path);
            return pos + 1 + len;
        }
        pos + 1
    }

    /// A title between quotation marks: three words and more with small ones among them, of which the first, the last
    /// and most have a capital.
    fn quoted(&mut self, pos: usize, close: char) -> usize {
        let start = pos + at(self.text, pos).map_or(1, char::len_utf8);
        let rest = slice(self.text, start, self.text.len());
        let is_inner = |c: char| c != close && (c.is_ascii_alphanumeric() || " '’-:,&!?".contains(c));
        let len: usize =
            rest.chars().take(MAX_TITLE + 1).take_while(|c| is_inner(*c)).map(char::len_utf8).sum();
        let name = slice(rest, 0, len);
        if at(rest, len) == Some(close) && is_title(name) {
            self.latin.flush(self.text, &mut self.out);
            self.out.entity(start, name, Kind::Title);
            return start + len + close.len_utf8();
        }
        start
    }

    /// Finds the Chinese names among what was read, and puts everything in order.
    fn settle(&mut self) {
        if !self.out.entities_full() {
            self.han.find(self.text, self.segmenter, &mut self.out);
        }
        self.han.clear();
        self.out.settle();
    }
}

fn is_title(name: &str) -> bool {
    let words: Vec<&str> = name.split(' ').collect();
    let is_capital = |word: &&str| word.starts_with(|c: char| c.is_ascii_uppercase());
    let capitals = words.iter().filter(|word| is_capital(word)).count();
    words.len() >= 3
        && words.first().is_some_and(is_capital)
        && words.last().is_some_and(is_capital)
        && 2 * capitals > words.len()
        && words.iter().any(|word| latin::is_small(word))
}

fn kind_of_code(name: &str) -> Kind {
    let is_url = name.split_once("://").is_some_and(|(scheme, _)| address::is_scheme(scheme));
    if is_url && address::url_end(name, 0) == Some(name.len()) {
        Kind::Url
    } else if address::is_product(name) {
        Kind::Name
    } else if address::is_path(name) {
        Kind::Path
    } else {
        Kind::Code
    }
}
