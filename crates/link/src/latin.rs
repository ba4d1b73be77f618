//! Names in Latin letters, and the addresses and paths among them.
//!
//! A Latin run ends where Han characters begin, so `用GPT写` has GPT, while `fooRSSbar` is one word. What a word is
//! follows from its form ([`Shape`]); a word that is only capitalised needs help from around it, for it may just
//! begin a sentence: it counts on a line with Chinese, or behind an ordinary word. Capitalised words side by side are
//! one name (`Google Search Console`); those among them that are names by themselves count as well.
//!
//! What must hold: every character is read a bounded number of times.

use std::borrow::Cow;
use std::sync::LazyLock;

use memory_segment::StopWords;

use crate::address;
use crate::character::{at, before, byte, is_unseen, is_word, narrow, slice};
use crate::collect::Collector;
use crate::Kind;

/// Longest word looked at, in characters; real ones are shorter, keys and hashes are longer.
const MAX_WORD: usize = 40;

/// Longest name that mixes inner capitals and digits; random identifiers are longer.
const MAX_MIXED: usize = 16;

/// Longest acronym.
const MAX_ACRONYM: usize = 20;

/// Most words of a name; more are a heading.
const MAX_PHRASE: usize = 5;

/// Words side by side that are kept until their line is done.
const MAX_PARTS: usize = 64;

/// So many capitalised words in a row are a line that shouts, not acronyms.
const SHOUTING: usize = 3;

/// Units: no names behind a number.
const UNITS: [&str; 40] = [
    "am", "bps", "cm", "cny", "db", "dpi", "eur", "fps", "gb", "gbps", "ghz", "gib", "hz", "kb", "kbps",
    "kg", "khz", "kib", "km", "kw", "kwh", "mah", "mb", "mbps", "mhz", "mib", "ml", "mm", "mmhg", "mol",
    "pb", "pm", "ppm", "px", "rmb", "rpm", "tb", "tib", "usd", "wh",
];

/// Capitals that name nothing.
const NO_ACRONYMS: [&str; 27] = [
    "am", "asap", "btw", "done", "etc", "fixme", "fyi", "ii", "iii", "iv", "ix", "lol", "nb", "no", "ok",
    "omg", "pm", "ps", "tbd", "todo", "vi", "vii", "viii", "vs", "xi", "xii", "yes",
];

/// Capitalised words that name nothing: greetings, days, months, keys. Stop words are known besides.
const NO_NAMES: [&str; 51] = [
    "also",
    "alt",
    "ctrl",
    "shift",
    "esc",
    "tab",
    "enter",
    "apr",
    "april",
    "aug",
    "august",
    "bye",
    "dec",
    "december",
    "dear",
    "feb",
    "february",
    "fri",
    "friday",
    "good",
    "hello",
    "hey",
    "hi",
    "january",
    "july",
    "june",
    "let",
    "may",
    "mon",
    "monday",
    "no",
    "november",
    "october",
    "oh",
    "ok",
    "okay",
    "please",
    "saturday",
    "sep",
    "september",
    "sorry",
    "sunday",
    "thank",
    "thanks",
    "thursday",
    "todo",
    "tuesday",
    "wednesday",
    "well",
    "yeah",
    "yes",
];

/// Words that begin a sentence and name nothing, and forms of address: a name may follow them.
const OPENERS: [&str; 47] = [
    "add",
    "added",
    "build",
    "built",
    "call",
    "called",
    "check",
    "configure",
    "configured",
    "discussed",
    "dr",
    "finished",
    "fix",
    "fixed",
    "install",
    "installed",
    "learn",
    "learned",
    "learning",
    "meet",
    "meeting",
    "met",
    "miss",
    "moved",
    "mr",
    "mrs",
    "ms",
    "open",
    "prof",
    "professor",
    "read",
    "reading",
    "run",
    "running",
    "see",
    "set",
    "started",
    "talked",
    "test",
    "tested",
    "tried",
    "try",
    "update",
    "updated",
    "use",
    "used",
    "using",
];

/// Words that with a number behind are places in a text or a plan (`Step3`), not names.
const NUMBERED: [&str; 24] = [
    "chapter", "col", "day", "fig", "item", "level", "line", "no", "note", "option", "page", "part", "phase",
    "plan", "point", "round", "section", "step", "table", "top", "ver", "vol", "week", "year",
];

static STOP_WORDS: LazyLock<StopWords> = LazyLock::new(StopWords::builtin);

/// What the form of a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Two or more capitals: `RSS`, `BM25`.
    Acronym,
    /// The same with the `s` of the plural, which is not part of the name.
    Plural,
    /// Inner capitals, or letters and digits: `OpenClaw`, `GPT-4o`, `vue3`.
    Name,
    /// A capital at the start only.
    Capital,
    /// An inner underscore: `memory_search`.
    Code,
    /// An ordinary word.
    Lower,
    /// To be looked at part by part.
    Split,
    /// Nothing to keep.
    Other,
}

impl Shape {
    fn of(word: &str) -> Shape {
        let narrowed: Cow<str> = if word.is_ascii() {
            Cow::Borrowed(word)
        } else {
            Cow::Owned(word.chars().filter(|c| !is_unseen(*c)).map(narrow).collect())
        };
        if narrowed.len() > 4 * MAX_WORD || narrowed.chars().count() > MAX_WORD {
            Shape::Other
        } else if narrowed.contains('_') {
            let letters = narrowed.chars().filter(|c| c.is_alphabetic()).count();
            if letters > 1 {
                Shape::Code
            } else {
                Shape::Other
            }
        } else if narrowed.contains('-') {
            Shape::of_hyphenated(&narrowed)
        } else {
            Shape::of_word(&narrowed)
        }
    }

    fn of_word(word: &str) -> Shape {
        let Some(first) = word.chars().next() else { return Shape::Other };
        let (mut len, mut upper, mut lower, mut digits, mut inner_upper) = (0, 0, 0, 0, 0);
        let mut head = None;
        for c in word.chars() {
            if c.is_uppercase() {
                upper += 1;
                inner_upper += usize::from(len > 0);
            } else if c.is_lowercase() {
                lower += 1;
            } else if c.is_numeric() {
                digits += 1;
                head = head.or(Some(len));
            } else {
                return Shape::Other;
            }
            len += 1;
        }
        let is_hex = digits > 0 && len >= 6 && word.bytes().all(|b| b.is_ascii_hexdigit());
        let folded = word.to_lowercase();
        // Letters before the first digit.
        let head = head.unwrap_or(len);
        if len < 2 || is_hex || is_numbered(&folded) {
            Shape::Other
        } else if first.is_numeric() {
            // 1Password.
            let named =
                digits == 1 && upper > 0 && lower > 1 && word.chars().nth(1).is_some_and(char::is_uppercase);
            if named {
                Shape::Name
            } else {
                Shape::Other
            }
        } else if lower == 0 {
            let enough = upper >= 2 || digits >= 3;
            if enough && len <= MAX_ACRONYM && !NO_ACRONYMS.contains(&folded.as_str()) {
                // G7539 is the name of a train.
                if upper >= 2 {
                    Shape::Acronym
                } else {
                    Shape::Name
                }
            } else {
                Shape::Other
            }
        } else if upper >= 2 && lower == 1 && digits == 0 && word.ends_with('s') {
            Shape::Plural
        } else if inner_upper > 0 {
            if digits > 0 && len > MAX_MIXED {
                Shape::Other
            } else {
                Shape::Name
            }
        } else if digits > 0 {
            // vue3, utf8, k8s; but not v2 or h1.
            let short = len <= MAX_MIXED && (upper > 0 || digits <= 4);
            let named = head >= 2 || (len <= 4 && word.ends_with(char::is_lowercase));
            if short && named {
                Shape::Name
            } else {
                Shape::Other
            }
        } else if upper > 0 {
            if OPENERS.contains(&folded.as_str()) {
                Shape::Lower
            } else if STOP_WORDS.contains(&folded) || NO_NAMES.contains(&folded.as_str()) {
                Shape::Other
            } else {
                Shape::Capital
            }
        } else {
            Shape::Lower
        }
    }

    fn of_hyphenated(word: &str) -> Shape {
        let first = word.chars().next().unwrap_or('-');
        let parts = || word.split('-');
        if !first.is_alphabetic() {
            return Shape::Other;
        }
        if word.contains(|c: char| c.is_numeric()) {
            let last = parts().next_back().unwrap_or("");
            let is_year = last.len() == 4 && last.bytes().all(|b| b.is_ascii_digit());
            let is_id = word.len() > 8 && parts().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()));
            let folded: String = word.to_lowercase().split('-').collect();
            let ordinary = first.is_lowercase() && is_year || is_numbered(&folded);
            return if ordinary || is_id || parts().count() > MAX_PHRASE {
                Shape::Other
            } else {
                Shape::Name
            };
        }
        let capitalised = parts().all(|part| part.starts_with(char::is_uppercase));
        if capitalised && parts().any(|part| part.len() > 1) {
            let plain = parts()
                .any(|part| part.chars().all(char::is_lowercase) || Shape::of_word(part) != Shape::Acronym);
            return if plain { Shape::Capital } else { Shape::Name };
        }
        if word.chars().all(|c| c.is_lowercase() || c == '-') {
            Shape::Lower
        } else {
            Shape::Split
        }
    }

    fn kind(self) -> Option<Kind> {
        match self {
            Shape::Acronym | Shape::Plural => Some(Kind::Acronym),
            Shape::Name => Some(Kind::Name),
            Shape::Code => Some(Kind::Code),
            Shape::Capital | Shape::Lower | Shape::Split | Shape::Other => None,
        }
    }
}

/// Whether a word has no meaning of its own: is, all, of.
pub(crate) fn is_small(word: &str) -> bool {
    STOP_WORDS.contains(&word.to_lowercase())
}

/// Whether a folded word is `step3` and the like.
fn is_numbered(folded: &str) -> bool {
    let word = folded.trim_end_matches(|c: char| c.is_ascii_digit());
    word.len() < folded.len() && NUMBERED.contains(&word)
}

/// A word of a name.
#[derive(Debug, Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
    shape: Shape,
}

/// Reads the Latin words of a text.
#[derive(Debug, Default)]
pub(crate) struct Latin {
    /// Capitalised words side by side.
    parts: Vec<Part>,
    /// Whether an ordinary word stands before them.
    after_lower: bool,
    /// The last word: where it ends, and whether it is an ordinary one.
    last: Option<(usize, bool)>,
    /// Whether the line has Chinese.
    in_chinese: bool,
    /// Whether a code span is read.
    in_code: bool,
    /// Before this offset no relative path begins: it was looked for.
    no_path_before: usize,
}

impl Latin {
    /// Begins a line.
    pub(crate) fn start_line(&mut self, in_chinese: bool) {
        self.last = None;
        self.in_chinese = in_chinese;
    }

    /// Begins a code span: what is only capitalised in it is no name.
    pub(crate) fn start_code(&mut self, text: &str, out: &mut Collector) {
        self.flush(text, out);
        self.last = None;
        self.in_code = true;
    }

    /// Ends a code span.
    pub(crate) fn end_code(&mut self, text: &str, out: &mut Collector) {
        self.flush(text, out);
        self.last = None;
        self.in_code = false;
    }

    /// Reads what begins with the word character at `start`; returns where to go on.
    pub(crate) fn read(&mut self, text: &str, start: usize, out: &mut Collector) -> usize {
        if let Some(end) =
            address::mail_end(text, start).filter(|_| !before(text, start).is_some_and(is_word))
        {
            return self.whole(text, start, end, Kind::Url, out);
        }
        let word_end = word_end(text, start);
        let rest = text.get(word_end..).unwrap_or("");
        if rest.starts_with("://") && address::is_scheme(slice(text, start, word_end)) {
            let Some(end) = address::url_end(text, word_end + 3) else { return word_end + 3 };
            return self.whole(text, start, end, Kind::Url, out);
        }
        if rest.starts_with(':') {
            if let Some(end) = address::drive_path_end(text, start) {
                return self.whole(text, start, end, Kind::Path, out);
            }
        }
        let token = Token::read(text, start, word_end);
        let written = slice(text, start, token.end);
        if token.has_slash {
            let host = written.split('/').next().unwrap_or("");
            if address::is_host(host) {
                let end = address::url_end(text, start).unwrap_or(token.end);
                return self.whole(text, start, end, Kind::Url, out);
            }
            if start >= self.no_path_before {
                match address::relative_path_end(text, start) {
                    Ok(end) => return self.whole(text, start, end, Kind::Path, out),
                    Err(end) => self.no_path_before = end,
                }
            }
            self.pieces(text, start, token.end, &['/', '@'], out);
        } else if token.has_at {
            self.pieces(text, start, token.end, &['@'], out);
        } else {
            self.dotted(text, start, token.end, token.has_dot, out);
        }
        token.end
    }

    /// Ends the words side by side: what stands behind them is no part of a name.
    pub(crate) fn flush(&mut self, text: &str, out: &mut Collector) {
        self.finish(text, false, out);
    }

    /// Takes an address or a path.
    fn whole(&mut self, text: &str, start: usize, end: usize, kind: Kind, out: &mut Collector) -> usize {
        self.finish(text, false, out);
        self.last = Some((end, false));
        let name = slice(text, start, end);
        out.entity(start, if kind == Kind::Url { address::shorten(name) } else { name }, kind);
        end
    }

    /// A token that may have dots in it.
    fn dotted(&mut self, text: &str, start: usize, end: usize, has_dot: bool, out: &mut Collector) {
        if !has_dot {
            return self.word(text, start, end, out);
        }
        let name = slice(text, start, end);
        if address::is_product(name) {
            self.push(text, Part { start, end, shape: Shape::Name }, out);
        } else if address::is_file_name(name) {
            self.whole(text, start, end, Kind::Path, out);
        } else if address::is_host(name) {
            self.whole(text, start, end, Kind::Url, out);
        } else if is_version(name) {
            let shape = Shape::of(&name.replace('.', ""));
            self.push(text, Part { start, end, shape }, out);
        } else {
            self.pieces(text, start, end, &['.'], out);
        }
    }

    /// A token without dots.
    fn word(&mut self, text: &str, start: usize, end: usize, out: &mut Collector) {
        let name = slice(text, start, end);
        let suffix = name.ends_with("++") || name.ends_with('#');
        let shape = if !suffix {
            Shape::of(name)
        } else if name.starts_with(char::is_uppercase) {
            Shape::Name
        } else {
            Shape::Other
        };
        if shape == Shape::Split {
            return self.pieces(text, start, end, &['-'], out);
        }
        // don't, it's
        let elided = matches!(at(text, end), Some('\'' | '’')) && shape == Shape::Capital;
        let shape = if elided || is_unit(text, start, name) { Shape::Other } else { shape };
        self.push(text, Part { start, end, shape }, out);
    }

    /// The parts of a compound that is no name itself. A part that is only capitalised does not count: `X/Twitter`.
    fn pieces(&mut self, text: &str, start: usize, end: usize, borders: &[char], out: &mut Collector) {
        self.finish(text, false, out);
        let mut at = start;
        for piece in slice(text, start, end).split(borders) {
            let from = at;
            at += piece.len() + 1;
            let shape = Shape::of(piece);
            if let Some(kind) = shape.kind() {
                out.entity(from, named(text, from, from + piece.len(), shape), kind);
            } else if shape == Shape::Split || piece.contains('.') {
                // Once more, by the borders that are left.
                let mut at = from;
                for piece in piece.split(['.', '-', '@']) {
                    let shape = Shape::of(piece);
                    if let Some(kind) = shape.kind() {
                        out.entity(at, named(text, at, at + piece.len(), shape), kind);
                    }
                    at += piece.len() + 1;
                }
            }
        }
        self.last = Some((end, false));
    }

    /// Takes the next word.
    fn push(&mut self, text: &str, part: Part, out: &mut Collector) {
        let behind = |end: usize| end + 1 == part.start && byte(text, end) == b' ';
        let follows_lower = self.last.is_some_and(|(end, lower)| lower && behind(end));
        if matches!(part.shape, Shape::Acronym | Shape::Plural | Shape::Name | Shape::Capital) {
            let joins =
                self.parts.last().is_some_and(|last| behind(last.end)) && self.parts.len() < MAX_PARTS;
            if !joins {
                self.finish(text, false, out);
                self.after_lower = follows_lower;
            }
            self.parts.push(part);
        } else {
            let is_lower = part.shape == Shape::Lower;
            let joins = self.parts.last().is_some_and(|last| behind(last.end));
            self.finish(text, is_lower && joins, out);
            if let Some(kind) = part.shape.kind() {
                out.entity(part.start, slice(text, part.start, part.end), kind);
            }
        }
        // Dr. Johnson
        let is_short = part.shape == Shape::Lower
            && part.end - part.start <= 4
            && byte(text, part.start).is_ascii_uppercase()
            && byte(text, part.end) == b'.';
        self.last = Some((part.end + usize::from(is_short), part.shape == Shape::Lower));
    }

    /// Hands in the words side by side; `before_lower`: an ordinary word follows.
    fn finish(&mut self, text: &str, before_lower: bool, out: &mut Collector) {
        let (Some(first), Some(last)) = (self.parts.first().copied(), self.parts.last().copied()) else {
            return;
        };
        let shouted = |part: &Part| slice(text, part.start, part.end).chars().all(char::is_uppercase);
        let shouts = self.parts.len() >= SHOUTING && !self.in_chinese && self.parts.iter().all(shouted);
        if !shouts {
            let is_name = !self.in_code && (self.after_lower || self.in_chinese && !before_lower);
            let has_capital = self.parts.iter().any(|part| part.shape == Shape::Capital);
            if has_capital && is_name && self.parts.len() <= MAX_PHRASE {
                out.entity(first.start, named(text, first.start, last.end, last.shape), Kind::Name);
            }
            for part in &self.parts {
                if let Some(kind) = part.shape.kind() {
                    out.entity(part.start, named(text, part.start, part.end, part.shape), kind);
                    acronyms_in(text, *part, out);
                }
            }
        }
        self.parts.clear();
    }
}

/// Hands in the acronyms a hyphenated name is made of: GPT-4o is a GPT.
fn acronyms_in(text: &str, part: Part, out: &mut Collector) {
    let name = slice(text, part.start, part.end);
    if part.shape != Shape::Name || !name.contains(['-', '－']) {
        return;
    }
    let mut start = part.start;
    for piece in name.split_inclusive(['-', '－']) {
        let word = piece.trim_end_matches(['-', '－']);
        if Shape::of(word) == Shape::Acronym && word.chars().all(char::is_uppercase) {
            out.entity(start, word, Kind::Acronym);
        }
        start += piece.len();
    }
}

/// The name from `start` to `end`, whose last word has this shape.
fn named(text: &str, start: usize, end: usize, last: Shape) -> &str {
    let name = slice(text, start, end);
    if last == Shape::Plural {
        name.trim_end_matches(['s', 'ｓ'])
    } else {
        name
    }
}

/// Whether every dot of `name` stands between digits, as in `Qwen2.5`.
fn is_version(name: &str) -> bool {
    let bytes = name.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    name.match_indices('.').all(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)))
}

/// Whether `name` is a unit behind a number.
fn is_unit(text: &str, start: usize, name: &str) -> bool {
    let number_end = if byte(text, start.wrapping_sub(1)) == b' ' { start - 1 } else { start };
    before(text, number_end).is_some_and(|c| c.is_numeric())
        && UNITS.contains(&name.to_ascii_lowercase().as_str())
}

fn word_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or("");
    let end = start + rest.find(|c| !is_word(c) && !is_unseen(c)).unwrap_or(rest.len());
    // What is not seen belongs to a word only inside of it.
    slice(text, start, end).trim_end_matches(is_unseen).len() + start
}

/// Words and what connects them.
struct Token {
    end: usize,
    has_slash: bool,
    has_at: bool,
    has_dot: bool,
}

impl Token {
    /// Reads on behind the word from `start` to `end`.
    fn read(text: &str, start: usize, end: usize) -> Token {
        let mut token = Token { end, has_slash: false, has_at: false, has_dot: false };
        let is_word_at = |pos: usize| at(text, pos).is_some_and(is_word);
        loop {
            let Some(connector) = at(text, token.end) else { return token };
            let next = token.end + connector.len_utf8();
            let start_of_next = match narrow(connector) {
                '-' => next,
                '.' => {
                    token.has_dot |= is_word_at(next);
                    next
                }
                '@' if !token.has_slash => {
                    token.has_at |= is_word_at(next);
                    next
                }
                '_' => skip(text, next, |c| c == '_'),
                // Hidden folders and the like begin with a mark.
                '/' if connector == '/' => {
                    let name = skip(text, next, |c| matches!(c, '.' | '_'));
                    let is_path = name <= next + 1 && at(text, name).is_some_and(char::is_alphanumeric);
                    token.has_slash |= is_path;
                    if is_path && !is_word_at(name) {
                        // A Han name: whether it is a path is for the path to say.
                        return token;
                    }
                    name
                }
                '+' if byte(text, next) == b'+' && byte(text, next + 1) != b'+' && !is_word_at(next + 1) => {
                    token.end = next + 1;
                    return token;
                }
                '#' if token.end == start + 1 && byte(text, start).is_ascii_uppercase() => {
                    if byte(text, next) != b'#' && !is_word_at(next) {
                        token.end = next;
                    }
                    return token;
                }
                _ => return token,
            };
            if !is_word_at(start_of_next) {
                return token;
            }
            token.end = word_end(text, start_of_next);
        }
    }
}

/// The first offset from `pos` on whose character is not of this kind; a few of them at most.
fn skip(text: &str, pos: usize, of_kind: impl Fn(char) -> bool) -> usize {
    let rest = text.get(pos..).unwrap_or("");
    pos + rest.chars().take(8).take_while(|c| of_kind(*c)).map(char::len_utf8).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (word, shape) in [
            ("RSS", Shape::Acronym),
            ("ＢＭ25", Shape::Acronym),
            ("H264", Shape::Name),
            ("APIs", Shape::Plural),
            ("OpenClaw", Shape::Name),
            ("iPhone", Shape::Name),
            ("IPv6", Shape::Name),
            ("OAuth", Shape::Name),
            ("GPT-4o", Shape::Name),
            ("db-02", Shape::Name),
            ("CI-CD", Shape::Name),
            ("vue3", Shape::Name),
            ("k8s", Shape::Name),
            ("1Password", Shape::Name),
            ("Vue", Shape::Capital),
            ("Wi-Fi", Shape::Capital),
            ("Jean-Paul", Shape::Capital),
            ("memory_search", Shape::Code),
            ("MAX_K", Shape::Code),
            ("docker", Shape::Lower),
            ("well-known", Shape::Lower),
            ("RSS-feed", Shape::Split),
        ] {
            assert_eq!(Shape::of(word), shape, "{word}");
        }
        for other in [
            "A",
            "A4",
            "v2",
            "h1",
            "48GB",
            "3D",
            "OK",
            "The",
            "Monday",
            "Step3",
            "Day-1",
            "c0ffee",
            "1E90FF",
            "deadbeef1",
            "2026-02-19",
            "mid-2024",
            "7-Zip",
            "550e8400-e29b-41d4",
            "x".repeat(99).as_str(),
            "aB3dE6gH9jK2mN5pQ8",
            "2026_02",
        ] {
            assert_eq!(Shape::of(other), Shape::Other, "{other}");
        }
    }
}
