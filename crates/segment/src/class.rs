//! Character classes of the parser.
//!
//! A character is classified by its NFKC form, so that full-width letters, digits and punctuation are what
//! their ASCII forms are. No class depends on the locale of a database.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// What a character can be part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Han characters: cut by the segmenter.
    Han,
    /// Letters of scripts written with gaps between words.
    Letter,
    /// Kana, Hangul and Bopomofo: letters that stand beside Latin ones without a gap.
    Wide,
    /// Digits and other numerals.
    Digit,
    /// Combining marks: part of the word before them.
    Mark,
    /// Characters that are not seen and break nothing.
    Ignorable,
    /// Emoji and the characters sequences of them begin with.
    Emoji,
    /// Blanks.
    Space,
    /// Everything else.
    Other,
}

/// A character as the parser sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Its class.
    pub class: Class,
    /// Its ASCII form, or 0 if it has none.
    pub ascii: u8,
    /// Its bytes in the text; 0 behind the end.
    pub len: u8,
}

impl Look {
    /// What lies behind the end of a text.
    pub const END: Look = Look { class: Class::Space, ascii: 0, len: 0 };

    /// Whether it is a letter of any script but Han, or a digit.
    pub fn is_alnum(self) -> bool {
        matches!(self.class, Class::Letter | Class::Wide | Class::Digit)
    }

    /// Whether it can be a side of a connector: a letter or digit that is not written without gaps.
    pub fn joins(self) -> bool {
        matches!(self.class, Class::Letter | Class::Digit)
    }

    /// Whether it is a decimal digit.
    pub fn is_decimal(self) -> bool {
        self.ascii.is_ascii_digit()
    }
}

static ASCII: [Class; 128] = ascii_classes();

const fn ascii_classes() -> [Class; 128] {
    let mut table = [Class::Other; 128];
    let mut c = 0;
    while c < 128 {
        table[c] = match c as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b' ' | b'\t'..=b'\r' => Class::Space,
            _ => Class::Other,
        };
        c += 1;
    }
    table
}

/// Classify the first character of `rest`.
pub(crate) fn look(rest: &str) -> Look {
    match rest.as_bytes().first() {
        None => Look::END,
        Some(&byte) if byte < 0x80 => {
            Look { class: ASCII.get(usize::from(byte)).copied().unwrap_or(Class::Other), ascii: byte, len: 1 }
        }
        Some(_) => rest.chars().next().map_or(Look::END, look_char),
    }
}

fn look_char(c: char) -> Look {
    let (class, ascii) = classify(c);
    Look { class, ascii, len: c.len_utf8() as u8 }
}

/// Whether `c` is a Han character. 々 and 〇 count: they stand inside words (人々, 二〇二六).
pub(crate) fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3005}' | '\u{3007}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

/// Hyphens without a compatibility form: hyphen, non-breaking hyphen and minus sign, which people and
/// assistants write for `-`.
pub(crate) fn is_other_hyphen(c: char) -> bool {
    matches!(c, '\u{2010}' | '\u{2011}' | '\u{2212}')
}

/// Whether `c` is not seen and has to be looked through: soft hyphen, joiners, marks of direction,
/// variation selectors, byte order mark, tags.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Modifiers that change only the skin of an emoji.
pub(crate) fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1F3FB}'..='\u{1F3FF}')
}

/// Letters that flags are made of, two by two.
pub(crate) fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1F1E6}'..='\u{1F1FF}')
}

/// Characters shown as emoji by themselves. ASCII and the typographic symbols that become emoji only by a
/// variation selector are left out; see [`may_be_emoji`].
pub(crate) fn is_emoji(c: char) -> bool {
    match c {
        '\u{1F000}'..='\u{1F0FF}' | '\u{1F300}'..='\u{1FAFF}' => true,
        '\u{1F170}' | '\u{1F171}' | '\u{1F17E}' | '\u{1F17F}' | '\u{1F18E}' => true,
        '\u{1F191}'..='\u{1F19A}' | '\u{1F1E6}'..='\u{1F1FF}' | '\u{1F200}'..='\u{1F265}' => true,
        '\u{231A}'..='\u{2B55}' => matches!(c,
            '\u{231A}' | '\u{231B}' | '\u{23E9}'..='\u{23EC}' | '\u{23F0}' | '\u{23F3}'
            | '\u{25FD}' | '\u{25FE}' | '\u{2600}'..='\u{2604}' | '\u{260E}' | '\u{2614}' | '\u{2615}'
            | '\u{2639}' | '\u{263A}' | '\u{2648}'..='\u{2653}' | '\u{2665}' | '\u{267F}' | '\u{2693}'
            | '\u{26A0}' | '\u{26A1}' | '\u{26AA}' | '\u{26AB}' | '\u{26BD}' | '\u{26BE}' | '\u{26C4}'
            | '\u{26C5}' | '\u{26CE}' | '\u{26D4}' | '\u{26EA}' | '\u{26F2}' | '\u{26F3}' | '\u{26F5}'
            | '\u{26FA}' | '\u{26FD}' | '\u{2705}' | '\u{2708}' | '\u{270A}'..='\u{270D}' | '\u{2728}'
            | '\u{274C}' | '\u{274E}' | '\u{2753}'..='\u{2755}' | '\u{2757}' | '\u{2763}' | '\u{2764}'
            | '\u{2795}'..='\u{2797}' | '\u{27B0}' | '\u{27BF}' | '\u{2B1B}' | '\u{2B1C}' | '\u{2B50}'
            | '\u{2B55}'),
        _ => false,
    }
}

/// Symbols that a following variation selector 16 makes an emoji.
pub(crate) fn may_be_emoji(c: char) -> bool {
    matches!(c,
        '\u{00A9}' | '\u{00AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}')
}

/// Class and ASCII form of a character outside ASCII.
fn classify(c: char) -> (Class, u8) {
    match c {
        '\u{4E00}'..='\u{9FFF}' => (Class::Han, 0),
        '\u{FF01}'..='\u{FF5E}' => {
            let ascii = (c as u32 - 0xFF01 + 0x21) as u8;
            (ASCII.get(usize::from(ascii)).copied().unwrap_or(Class::Other), ascii)
        }
        '\u{3001}'..='\u{3004}' | '\u{3008}'..='\u{3020}' => (Class::Other, 0),
        '\u{2012}'..='\u{2023}' | '\u{2025}' | '\u{2026}' => (Class::Other, 0),
        '\u{3041}'..='\u{3096}'
        | '\u{309D}'..='\u{309F}'
        | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}' => (Class::Wide, 0),
        '\u{AC00}'..='\u{D7A3}' | '\u{1100}'..='\u{11FF}' | '\u{3131}'..='\u{318E}' => (Class::Wide, 0),
        '\u{3105}'..='\u{312F}' | '\u{31A0}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}' => (Class::Wide, 0),
        '\u{FF66}'..='\u{FF9D}' | '\u{FFA0}'..='\u{FFDC}' => (Class::Wide, 0),
        c if is_han(c) => (Class::Han, 0),
        c if is_ignorable(c) => (Class::Ignorable, 0),
        c if is_other_hyphen(c) => (Class::Other, b'-'),
        c if is_emoji(c) => (Class::Emoji, 0),
        c if c.is_alphabetic() && !is_combining_mark(c) => (Class::Letter, 0),
        c if is_combining_mark(c) => (Class::Mark, 0),
        c if c.is_numeric() => (Class::Digit, 0),
        c if c.is_whitespace() => (Class::Space, 0),
        c => by_compatibility(c),
    }
}

/// Class of a symbol whose NFKC form may be something else: `㎏` is letters, `﹣` is `-`.
fn by_compatibility(c: char) -> (Class, u8) {
    let (mut count, mut last, mut alnum) = (0usize, c, true);
    decompose_compatible(c, |d| {
        count += 1;
        last = d;
        alnum &= d.is_alphanumeric();
    });
    match last {
        last if count == 1 && last != c && last.is_ascii() => {
            let ascii = last as u8;
            (ASCII.get(usize::from(ascii)).copied().unwrap_or(Class::Other), ascii)
        }
        last if alnum && (count > 1 || last != c) => (Class::Letter, 0),
        _ => (Class::Other, 0),
    }
}
