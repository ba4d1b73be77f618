//! The shape of a word, a number or a compound: what it is made of, and which kind of token that makes.
//!
//! It knows nothing of where a compound begins and ends; the parser decides that.

use crate::class::{Class, Look};
use crate::TokenKind;

/// Most letters on a side of `&` that make it part of a name (AT&T, R&D, S&P); between longer words it only
/// joins them.
const MAX_INITIALS: usize = 2;

/// A run of letters and digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// Offset behind its last character.
    pub end: usize,
    chars: usize,
    latin: usize,
    other_letters: usize,
    wide: usize,
    decimals: usize,
    numerals: usize,
    begins_with_letter: bool,
}

impl Run {
    pub fn new(start: usize) -> Self {
        Run {
            end: start,
            chars: 0,
            latin: 0,
            other_letters: 0,
            wide: 0,
            decimals: 0,
            numerals: 0,
            begins_with_letter: false,
        }
    }

    /// Add a character; `false` if it does not belong to the run.
    pub fn push(&mut self, l: Look) -> bool {
        match l.class {
            Class::Letter if self.wide == 0 => {
                if l.ascii == 0 {
                    self.other_letters += 1;
                } else {
                    self.latin += 1;
                }
                self.begins_with_letter |= self.chars == 0;
            }
            Class::Digit if self.wide == 0 => {
                if l.is_decimal() {
                    self.decimals += 1;
                } else {
                    self.numerals += 1;
                }
            }
            Class::Wide if self.wide == self.chars => self.wide += 1,
            Class::Mark if self.chars > 0 => return true,
            _ => return false,
        }
        self.chars += 1;
        true
    }

    pub fn is_wide(&self) -> bool {
        self.wide > 0
    }

    /// Decimal digits only.
    pub fn is_decimal(&self) -> bool {
        self.decimals == self.chars
    }

    /// Letters that can be initials: `AT` and `T` of `AT&T`.
    pub fn is_initials(&self) -> bool {
        self.latin == self.chars && self.chars <= MAX_INITIALS
    }

    pub fn has_latin_letter(&self) -> bool {
        self.latin > 0
    }

    fn has_letter(&self) -> bool {
        self.latin + self.other_letters + self.wide > 0
    }

    fn has_number(&self) -> bool {
        self.decimals + self.numerals > 0
    }

    /// The kind of the run as a part of a hyphenated word.
    pub fn part_kind(&self) -> TokenKind {
        if self.has_number() {
            TokenKind::HwordNumPart
        } else if self.latin == self.chars {
            TokenKind::HwordAsciiPart
        } else {
            TokenKind::HwordPart
        }
    }
}

/// What stands between two runs, or behind a run, and belongs to the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Connector {
    Dot = 1,
    Hyphen = 2,
    Underscore = 4,
    Slash = 8,
    At = 16,
    Colon = 32,
    Comma = 64,
    Ampersand = 128,
    /// `++` or `#`.
    Plus = 256,
    Percent = 512,
}

const DOT: u16 = Connector::Dot as u16;
const HYPHEN: u16 = Connector::Hyphen as u16;
const DOT_AND_HYPHEN: u16 = DOT | HYPHEN;
const COMMA: u16 = Connector::Comma as u16;
const COMMA_AND_DOT: u16 = COMMA | DOT;

/// A compound as far as it has been read.
#[derive(Debug, Default)]
pub(super) struct Shape {
    runs: usize,
    connectors: u16,
    dots: usize,
    /// Dots since the `@`.
    dots_of_domain: usize,
    any_letter: bool,
    any_number: bool,
    all_latin: bool,
    all_decimal: bool,
    first_chars: usize,
    first_begins_with_letter: bool,
    last_has_letter: bool,
    last_chars: usize,
    has_port: bool,
}

impl Shape {
    pub fn add(&mut self, run: &Run) {
        if self.runs == 0 {
            self.all_latin = true;
            self.all_decimal = true;
            self.first_chars = run.chars;
            self.first_begins_with_letter = run.begins_with_letter;
        }
        self.runs += 1;
        self.any_letter |= run.has_letter();
        self.any_number |= run.has_number();
        self.all_latin &= run.latin == run.chars;
        self.all_decimal &= run.is_decimal();
        self.last_has_letter = run.has_letter();
        self.last_chars = run.chars;
    }

    pub fn connect(&mut self, connector: Connector) {
        match connector {
            Connector::Dot => {
                self.dots += 1;
                if self.has(Connector::At) {
                    self.dots_of_domain += 1;
                }
            }
            Connector::Colon if self.is_host() => self.has_port = true,
            _ => {}
        }
        self.connectors |= connector as u16;
    }

    pub fn has(&self, connector: Connector) -> bool {
        self.connectors & connector as u16 != 0
    }

    /// Whether nothing but `of` stands between the runs.
    fn only(&self, of: u16) -> bool {
        self.connectors & !of == 0
    }

    /// One run that can be the name of a protocol.
    pub fn is_protocol(&self) -> bool {
        self.runs == 1
            && self.first_begins_with_letter
            && !(self.any_letter && !self.all_latin && !self.any_number)
    }

    /// One letter and nothing else: `C` of `C#`.
    pub fn is_single_letter(&self) -> bool {
        self.runs == 1 && self.first_chars == 1 && self.all_latin && self.connectors == 0
    }

    /// A plain number so far.
    pub fn is_number(&self) -> bool {
        self.all_decimal && self.only(COMMA_AND_DOT) && self.dots <= 1
    }

    pub fn is_percentage(&self) -> bool {
        self.has(Connector::Percent)
    }

    /// A number that can go on with a group of three digits.
    pub fn is_thousands(&self) -> bool {
        self.all_decimal && self.only(COMMA) && self.first_chars <= 3
    }

    /// Nothing but initials, such as `AT` of `AT&T`.
    pub fn is_initials(&self) -> bool {
        self.all_latin && self.only(Connector::Ampersand as u16) && self.last_chars <= MAX_INITIALS
    }

    /// A host name, perhaps with a port.
    pub fn is_host(&self) -> bool {
        if self.has_port {
            return self.only(DOT_AND_HYPHEN | Connector::Colon as u16);
        }
        self.dots > 0 && self.only(DOT_AND_HYPHEN) && self.last_has_letter
    }

    /// The kind of the whole compound, whose text is `token`.
    pub fn kind(&self, token: &str) -> TokenKind {
        if is_scientific(token.as_bytes()) {
            return TokenKind::SFloat;
        }
        if self.connectors == 0 {
            return match (self.any_letter, self.any_number) {
                (true, true) => TokenKind::NumWord,
                (true, false) if self.all_latin => TokenKind::AsciiWord,
                (true, false) => TokenKind::Word,
                (false, _) => TokenKind::Uint,
            };
        }
        if self.is_host() {
            return TokenKind::Host;
        }
        if self.only(HYPHEN) && self.any_letter {
            return match (self.any_number, self.all_latin) {
                (true, _) => TokenKind::NumHword,
                (false, true) => TokenKind::AsciiHword,
                (false, false) => TokenKind::Hword,
            };
        }
        if self.only(DOT) && self.all_decimal {
            return if self.dots == 1 { TokenKind::Float } else { TokenKind::Version };
        }
        if self.has(Connector::Slash) {
            return if self.any_letter { TokenKind::File } else { TokenKind::Identifier };
        }
        if self.has(Connector::At) && self.dots_of_domain > 0 && self.last_has_letter {
            return TokenKind::Email;
        }
        TokenKind::Identifier
    }
}

/// `1e10`, `1.5e3`, `2e-7`: digits, perhaps a fraction, and an exponent.
fn is_scientific(token: &[u8]) -> bool {
    fn digits(bytes: &[u8]) -> (&[u8], usize) {
        let n = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
        (bytes.get(n..).unwrap_or(&[]), n)
    }
    let (mut rest, n) = digits(token);
    if n == 0 {
        return false;
    }
    if let [b'.', fraction @ ..] = rest {
        let (after, n) = digits(fraction);
        if n == 0 {
            return false;
        }
        rest = after;
    }
    let [b'e' | b'E', exponent @ ..] = rest else { return false };
    let exponent = match exponent {
        [b'+' | b'-', unsigned @ ..] => unsigned,
        unsigned => unsigned,
    };
    matches!(digits(exponent), ([], n) if n > 0)
}
