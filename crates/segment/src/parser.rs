//! The text-search parser: cuts a text into tokens.
//!
//! Han runs are cut by the segmenter. Everything else is what PostgreSQL's default parser makes of it,
//! except where that parser loses something people search for: `C++`, `snake_case`, dates, times and part
//! numbers stay whole (kind `identifier`), and a `<` is a tag only if it certainly is one.
//!
//! What must hold:
//! - The tokens cover every byte of the text, in order. Only the wholes of hyphenated words and addresses
//!   (kinds url, numhword, asciihword, hword) are followed by their parts, which cover the same bytes
//!   again; `ts_headline` leaves exactly these kinds out when it prints a text.
//! - The work for a token is bounded by its own length and a constant, a Han run is cut a block at a time:
//!   the whole is linear in the length of the text.
//! - Latin letters or digits beside Han characters are separate tokens, always, so that `RSS订阅` is found
//!   by `RSS`. This also holds for dictionary words that mix them.
//! - Kind and extent of a token depend on the text and the dictionary alone, so index and query agree.

mod markup;
mod shape;

use crate::class::{
    is_emoji, is_flag_letter, is_han, is_ignorable, is_skin_tone, look, may_be_emoji, Class, Look,
};
use crate::fold::fold_han;
use crate::{Segmenter, Token, TokenKind};
use shape::{Connector, Run, Shape};

/// Longest Han run cut at once, in characters. It bounds the work of one call and the segmenter's buffers;
/// real sentences are far shorter.
const HAN_BLOCK: usize = 4096;

/// Most `../` a path can begin with; more are not a path.
const MAX_PATH_PREFIXES: usize = 16;

/// Most underscores in a row inside a name.
const MAX_UNDERSCORES: usize = 8;

/// What is to be handed out before the text is read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Nothing,
    /// Words of a Han run, from this index of `words`.
    Words(usize),
    /// Parts of a hyphenated word, from the first offset to the second.
    Hyphenated(usize, usize),
    /// Host from the first offset to the second, path from there to the third.
    Address(usize, usize, usize),
    /// Path of an address, from the first offset to the second.
    Path(usize, usize),
    /// An address, as a protocol has just been handed out.
    AfterProtocol,
}

/// What begins at an offset.
enum Start {
    Word,
    Han,
    Emoji(usize),
    Tag(usize),
    Entity(usize),
    /// A sign; the number begins at the offset.
    Sign(usize),
    /// A path or a name with a leading dot; its first letter or digit is at the offset.
    Prefixed(usize),
}

/// A token that was found but not yet handed out.
struct Found {
    kind: TokenKind,
    end: usize,
    then: Pending,
}

/// Cuts a text into tokens, one at a time.
#[derive(Debug)]
pub struct Parser<'t> {
    text: &'t str,
    pos: usize,
    pending: Pending,
    words: Vec<Token>,
    /// The folded characters of the Han run at hand, and where each of them ends in the text.
    folded: String,
    ends: Vec<usize>,
}

impl<'t> Parser<'t> {
    /// A parser at the start of `text`.
    pub fn new(text: &'t str) -> Self {
        Parser {
            text,
            pos: 0,
            pending: Pending::Nothing,
            words: Vec::new(),
            folded: String::new(),
            ends: Vec::new(),
        }
    }

    /// The next token, or `None` at the end of the text.
    pub fn next_token(&mut self, segmenter: &Segmenter) -> Option<Token> {
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => {}
            Pending::Words(next) => {
                if let Some(token) = self.words.get(next) {
                    self.pending = Pending::Words(next + 1);
                    return Some(*token);
                }
            }
            Pending::Hyphenated(start, end) => return Some(self.hyphenated_part(start, end)),
            Pending::Address(start, host_end, end) => {
                self.pending = Pending::Path(host_end, end);
                return Some(Token { kind: TokenKind::Host, start, end: host_end });
            }
            Pending::Path(start, end) => return Some(Token { kind: TokenKind::UrlPath, start, end }),
            Pending::AfterProtocol => {
                if let Some(found) = self.authority(self.pos) {
                    return Some(self.take(found));
                }
            }
        }
        if self.pos >= self.text.len() {
            return None;
        }
        let found = match self.start_at(self.pos) {
            None => self.blank(),
            Some(Start::Han) => return Some(self.han(segmenter)),
            Some(Start::Word) => self.compound(self.pos, self.pos),
            Some(Start::Prefixed(name)) => self.compound(self.pos, name),
            Some(Start::Emoji(end)) => Found { kind: TokenKind::Emoji, end, then: Pending::Nothing },
            Some(Start::Tag(end)) => Found { kind: TokenKind::Tag, end, then: Pending::Nothing },
            Some(Start::Entity(end)) => Found { kind: TokenKind::Entity, end, then: Pending::Nothing },
            Some(Start::Sign(number)) => self.signed(number),
        };
        Some(self.take(found))
    }

    fn take(&mut self, found: Found) -> Token {
        let token = Token { kind: found.kind, start: self.pos, end: found.end };
        self.pos = found.end;
        self.pending = found.then;
        token
    }

    /// The rest of the text from `pos`.
    fn rest(&self, pos: usize) -> &'t str {
        self.text.get(pos..).unwrap_or("")
    }

    fn at(&self, pos: usize) -> Look {
        look(self.rest(pos))
    }

    /// The byte at `pos`, or 0 behind the end.
    fn byte(&self, pos: usize) -> u8 {
        self.text.as_bytes().get(pos).copied().unwrap_or(0)
    }

    fn char_at(&self, pos: usize) -> Option<char> {
        self.rest(pos).chars().next()
    }

    /// The character before `pos`.
    fn before(&self, pos: usize) -> Look {
        let head = self.text.get(..pos).unwrap_or("");
        head.chars().next_back().map_or(Look::END, |c| look(head.get(pos - c.len_utf8()..).unwrap_or("")))
    }

    /// The first character from `pos` on that is seen, and its offset.
    fn visible(&self, mut pos: usize) -> (usize, Look) {
        loop {
            let l = self.at(pos);
            if l.class != Class::Ignorable {
                return (pos, l);
            }
            pos += usize::from(l.len);
        }
    }

    /// What begins at `pos`; `None` for blanks and punctuation.
    fn start_at(&self, pos: usize) -> Option<Start> {
        let l = self.at(pos);
        match l.class {
            Class::Letter | Class::Wide => Some(Start::Word),
            Class::Digit => Some(self.keycap_end(pos).map_or(Start::Word, Start::Emoji)),
            Class::Han => Some(Start::Han),
            Class::Emoji => Some(Start::Emoji(self.emoji_end(pos))),
            Class::Mark | Class::Ignorable | Class::Space => None,
            Class::Other => match l.ascii {
                b'+' | b'-' => self.sign_at(pos, l),
                b'<' => markup::tag_len(self.rest(pos)).map(|len| Start::Tag(pos + len)),
                b'&' => markup::entity_len(self.rest(pos)).map(|len| Start::Entity(pos + len)),
                b'.' | b'/' | b'~' => self.prefixed_at(pos),
                0 => {
                    let shown_as_emoji = self.char_at(pos).is_some_and(may_be_emoji)
                        && self.rest(pos + usize::from(l.len)).starts_with('\u{FE0F}');
                    shown_as_emoji.then(|| Start::Emoji(self.emoji_end(pos)))
                }
                _ => None,
            },
        }
    }

    fn sign_at(&self, pos: usize, sign: Look) -> Option<Start> {
        let number = pos + usize::from(sign.len);
        let before = self.before(pos);
        let alone = !before.is_alnum()
            && !matches!(before.class, Class::Han | Class::Mark | Class::Ignorable)
            && !matches!(before.ascii, b'+' | b'-' | b')' | b']' | b'_' | b'.' | b'/' | b'%');
        (alone && self.at(number).is_decimal()).then_some(Start::Sign(number))
    }

    /// A path (`/srv/x`, `./x`, `../x`, `~/x`) or a name with a leading dot (`.NET`).
    fn prefixed_at(&self, pos: usize) -> Option<Start> {
        let before = self.before(pos);
        if before.is_alnum() || matches!(before.ascii, b'.' | b'/' | b'<' | b'~' | b'_') {
            return None;
        }
        let mut name = pos;
        for _ in 0..MAX_PATH_PREFIXES {
            let rest = self.rest(name);
            let prefix = ["../", "./", "~/", "/"].iter().find(|p| rest.starts_with(**p));
            let Some(prefix) = prefix else { break };
            if *prefix == "/" && name > pos {
                return None;
            }
            name += prefix.len();
            if *prefix == "/" || *prefix == "~/" {
                break;
            }
        }
        if name == pos {
            // A dot before a digit ends a sentence, or a number of a list.
            let first = pos + 1;
            let is_name = self.byte(pos) == b'.' && self.at(first).class == Class::Letter;
            return is_name.then_some(Start::Prefixed(first));
        }
        self.name_start(name).map(Start::Prefixed)
    }

    /// The first letter or digit of a file name at `pos`, which may begin with a dot or an underscore.
    fn name_start(&self, pos: usize) -> Option<usize> {
        let first = if matches!(self.byte(pos), b'.' | b'_') { pos + 1 } else { pos };
        self.at(first).joins().then_some(first)
    }

    fn blank(&self) -> Found {
        let mut end = self.pos + usize::from(self.at(self.pos).len);
        while end < self.text.len() && self.start_at(end).is_none() {
            end += usize::from(self.at(end).len);
        }
        Found { kind: TokenKind::Blank, end, then: Pending::Nothing }
    }

    /// A run of letters and digits at `start`. It ends where kana or Hangul meet another script.
    fn run(&self, start: usize) -> Run {
        let mut run = Run::new(start);
        let mut pos = start;
        loop {
            let mut l = self.at(pos);
            if l.class == Class::Ignorable {
                (pos, l) = self.visible(pos);
            }
            if !run.push(l) {
                return run;
            }
            pos += usize::from(l.len);
            run.end = pos;
        }
    }

    /// A word, a number or a compound of them. The token begins at `start`, its first letter or digit is
    /// at `first`; what lies between makes it a path or a name with a leading dot.
    fn compound(&self, start: usize, first: usize) -> Found {
        let mut shape = Shape::default();
        let mut pos = first;
        loop {
            let run = self.run(pos);
            shape.add(&run);
            pos = run.end;
            if start == first && shape.is_protocol() && self.rest(pos).starts_with("://") {
                let end = pos + 3;
                if self.at(end).joins() || self.byte(end) == b'/' {
                    return Found { kind: TokenKind::Protocol, end, then: Pending::AfterProtocol };
                }
            }
            let suffix = self.suffix(pos, &run, &mut shape);
            if suffix > pos {
                pos = suffix;
                if shape.is_percentage() {
                    break;
                }
                if self.at(pos).joins() {
                    continue;
                }
            }
            let Some((connector, next)) = self.connector(pos, &run, &shape) else { break };
            if connector == Connector::Slash && start == first && shape.is_host() {
                if let Some(found) = self.address(start, pos) {
                    return found;
                }
            }
            shape.connect(connector);
            pos = next;
        }
        if start == first && shape.is_host() && self.byte(pos) == b'?' {
            if let Some(found) = self.address(start, pos) {
                return found;
            }
        }
        let kind = if start == first {
            shape.kind(self.text.get(start..pos).unwrap_or(""))
        } else if shape.has(Connector::Slash) || self.byte(start) != b'.' || first > start + 1 {
            TokenKind::File
        } else {
            TokenKind::Identifier
        };
        let hyphenated = matches!(kind, TokenKind::Hword | TokenKind::AsciiHword | TokenKind::NumHword);
        let then = if hyphenated { Pending::Hyphenated(start, pos) } else { Pending::Nothing };
        Found { kind, end: pos, then }
    }

    /// The end of what belongs to a run without being letter or digit: `++` of `C++`, `#` of `C#`, `%` of
    /// `65%`.
    fn suffix(&self, pos: usize, run: &Run, shape: &mut Shape) -> usize {
        let l = self.at(pos);
        let next = pos + usize::from(l.len);
        match l.ascii {
            b'+' if run.has_latin_letter() => {
                let second = self.at(next);
                let end = next + usize::from(second.len);
                if second.ascii == b'+' && self.at(end).ascii != b'+' {
                    shape.connect(Connector::Plus);
                    return end;
                }
                pos
            }
            b'#' if shape.is_single_letter() && self.at(next).ascii != b'#' => {
                shape.connect(Connector::Plus);
                next
            }
            b'%' if shape.is_number() && !self.at(next).joins() => {
                shape.connect(Connector::Percent);
                next
            }
            _ => pos,
        }
    }

    /// The connector at `pos` between `run`, which ends there, and a run that follows, and where that one
    /// begins.
    fn connector(&self, pos: usize, run: &Run, shape: &Shape) -> Option<(Connector, usize)> {
        if run.is_wide() {
            return None;
        }
        let (at, l) = self.visible(pos);
        if l.class != Class::Other || l.ascii == 0 {
            return None;
        }
        let is_ascii = l.len == 1;
        let (next, n) = self.visible(at + usize::from(l.len));
        match l.ascii {
            b'.' if n.joins() => Some((Connector::Dot, next)),
            b'-' if n.joins() => Some((Connector::Hyphen, next)),
            b'_' => {
                let mut name = next;
                for _ in 1..MAX_UNDERSCORES {
                    if self.byte(name) != b'_' {
                        break;
                    }
                    name += 1;
                }
                self.at(name).joins().then_some((Connector::Underscore, name))
            }
            b'/' if is_ascii => self.name_start(next).map(|name| (Connector::Slash, name)),
            b'@' if n.joins() && !shape.has(Connector::At) => Some((Connector::At, next)),
            b':' if n.is_decimal() && (run.is_decimal() || shape.is_host()) => Some((Connector::Colon, next)),
            b',' if is_ascii && shape.is_thousands() && self.is_thousand_group(next) => {
                Some((Connector::Comma, next))
            }
            b'&' if is_ascii && shape.is_initials() && n.joins() => {
                let joins = self.run(next).is_initials() && markup::entity_len(self.rest(at)).is_none();
                joins.then_some((Connector::Ampersand, next))
            }
            _ => None,
        }
    }

    /// Whether exactly three digits stand at `pos`.
    fn is_thousand_group(&self, pos: usize) -> bool {
        (0..3).all(|i| self.byte(pos + i).is_ascii_digit()) && !self.at(pos + 3).is_alnum()
    }

    /// An address without its protocol: the host from `start` to `host_end`, where its path begins.
    fn address(&self, start: usize, host_end: usize) -> Option<Found> {
        let end = self.path_end(host_end)?;
        Some(Found { kind: TokenKind::Url, end, then: Pending::Address(start, host_end, end) })
    }

    /// The end of the path of an address that begins with `/`, `?` or `#` at `start`, without the
    /// punctuation of the sentence around it. `None` if no letter or digit is in it.
    fn path_end(&self, start: usize) -> Option<usize> {
        if !matches!(self.byte(start), b'/' | b'?' | b'#') {
            return None;
        }
        let (mut pos, mut end, mut depth, mut has_name) = (start, start, 0usize, false);
        loop {
            let (at, l) = self.visible(pos);
            let after = at + usize::from(l.len);
            let is_ascii = l.len == 1;
            match l.class {
                Class::Letter | Class::Digit => {
                    has_name = true;
                    end = after;
                }
                Class::Mark => end = after,
                Class::Other if is_ascii => match l.ascii {
                    b'/' | b'=' | b'-' | b'%' | b'&' | b'#' | b'$' | b'+' | b'@' => end = after,
                    b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' | b'*' | b'_' | b'~' => {}
                    b'(' => depth += 1,
                    b')' if depth > 0 => {
                        depth -= 1;
                        end = after;
                    }
                    _ => break,
                },
                _ => break,
            }
            pos = after;
        }
        has_name.then_some(end)
    }

    /// What follows a protocol at `start`: an address with any host, also one without a dot, with user and
    /// port; or the path of a file.
    fn authority(&self, start: usize) -> Option<Found> {
        if self.byte(start) == b'/' {
            return self.name_start(start + 1).map(|name| self.compound(start, name));
        }
        let (mut pos, mut end) = (start, start);
        loop {
            let (at, l) = self.visible(pos);
            let after = at + usize::from(l.len);
            if l.joins() {
                end = after;
            } else if !(l.len == 1
                && matches!(l.ascii, b'.' | b'-' | b'_' | b':' | b'@' | b'%' | b'+' | b'~'))
            {
                break;
            }
            pos = after;
        }
        if end == start {
            return None;
        }
        let host = Found { kind: TokenKind::Host, end, then: Pending::Nothing };
        Some(self.address(start, end).unwrap_or(host))
    }

    /// A number with the sign that stands at the current offset, or that sign alone if no plain number
    /// follows.
    fn signed(&self, number: usize) -> Found {
        let found = self.compound(number, number);
        let kind = match found.kind {
            TokenKind::Uint => TokenKind::Int,
            TokenKind::Float | TokenKind::SFloat => found.kind,
            TokenKind::Identifier if self.byte(found.end.saturating_sub(1)) == b'%' => found.kind,
            _ => return Found { kind: TokenKind::Blank, end: number, then: Pending::Nothing },
        };
        Found { kind, end: found.end, then: Pending::Nothing }
    }

    /// The next part of the hyphenated word that is left from `start` to `end`.
    fn hyphenated_part(&mut self, start: usize, end: usize) -> Token {
        let (kind, part_end) = if self.at(start).is_alnum() {
            let run = self.run(start);
            (run.part_kind(), run.end)
        } else {
            let mut pos = start;
            while pos < end && !self.at(pos).is_alnum() {
                pos += usize::from(self.at(pos).len);
            }
            (TokenKind::Blank, pos)
        };
        if part_end < end {
            self.pending = Pending::Hyphenated(part_end, end);
        }
        Token { kind, start, end: part_end }
    }

    /// Cut the Han run at the current offset, or its first block, and hand out its first word. Characters
    /// that are not seen belong to the word of the Han character behind them.
    fn han(&mut self, segmenter: &Segmenter) -> Token {
        let start = self.pos;
        self.words.clear();
        self.folded.clear();
        self.ends.clear();
        let mut pos = start;
        let mut goes_on = false;
        for c in self.rest(start).chars() {
            if is_han(c) {
                if self.ends.len() == HAN_BLOCK {
                    goes_on = true;
                    break;
                }
                pos += c.len_utf8();
                self.folded.push(fold_han(c));
                self.ends.push(pos);
            } else if is_ignorable(c) {
                pos += c.len_utf8();
            } else {
                break;
            }
        }
        let (mut word_start, mut chars) = (start, 0);
        let (words, ends) = (&mut self.words, &self.ends);
        segmenter.for_each_word(&self.folded, |word| {
            chars += word.chars().count();
            if let Some(&end) = ends.get(chars.wrapping_sub(1)) {
                words.push(Token { kind: TokenKind::Han, start: word_start, end });
                word_start = end;
            }
        });
        if goes_on && self.words.len() > 1 {
            // The last word may go on behind the block: the next block begins with it.
            self.words.pop();
        }
        let run_end = self.ends.last().copied().unwrap_or(pos);
        self.pos = self.words.last().map_or(run_end, |word| word.end);
        self.pending = Pending::Words(1);
        self.words.first().copied().unwrap_or(Token { kind: TokenKind::Han, start, end: run_end })
    }

    /// The end of a keycap (a digit in a box) at `pos`, if there is one.
    fn keycap_end(&self, pos: usize) -> Option<usize> {
        let mut end = pos + usize::from(self.at(pos).len);
        if self.byte(end) < 0x80 {
            return None;
        }
        if self.rest(end).starts_with('\u{FE0F}') {
            end += '\u{FE0F}'.len_utf8();
        }
        self.rest(end).starts_with('\u{20E3}').then(|| end + '\u{20E3}'.len_utf8())
    }

    /// The end of the emoji at `pos`: its modifiers and whatever is joined to it belong to it, and two
    /// flag letters are one flag.
    fn emoji_end(&self, pos: usize) -> usize {
        let mut chars = self.rest(pos).chars().peekable();
        let mut end = pos;
        let Some(first) = chars.next() else { return end };
        end += first.len_utf8();
        if is_flag_letter(first) {
            if let Some(second) = chars.next_if(|c| is_flag_letter(*c)) {
                end += second.len_utf8();
            }
        }
        while let Some(&c) = chars.peek() {
            if c == '\u{200D}' {
                let mut joined = chars.clone();
                joined.next();
                if !joined.peek().is_some_and(|j| is_emoji(*j) || may_be_emoji(*j)) {
                    break;
                }
                end += c.len_utf8() + joined.next().map_or(0, char::len_utf8);
                chars = joined;
            } else if matches!(c, '\u{FE0E}' | '\u{FE0F}' | '\u{20E3}' | '\u{E0020}'..='\u{E007F}')
                || is_skin_tone(c)
            {
                end += c.len_utf8();
                chars.next();
            } else {
                break;
            }
        }
        end
    }
}
