//! Classes of characters, as far as entities need them.
//!
//! They are coarser than those of the text search parser: whether a character can be part of a Latin word, is
//! Han, or stands for an ASCII one. Nothing here depends on the locale.

/// Whether `c` is a Han character, as the segmenter sees it.
pub(crate) fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3005}' | '\u{3007}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

/// Whether `c` is kana, Hangul or Bopomofo: a letter that stands beside Latin ones without a gap.
fn is_wide_letter(c: char) -> bool {
    matches!(c,
        '\u{3041}'..='\u{30FF}' | '\u{3105}'..='\u{318E}' | '\u{31A0}'..='\u{31FF}'
        | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7A3}' | '\u{FF66}'..='\u{FFDC}')
}

/// Whether `c` is part of a word written with gaps around it: a letter or digit, full-width ones included,
/// but none of Han, kana or Hangul.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        c.is_alphanumeric() && !is_han(c) && !is_wide_letter(c)
    }
}

/// Characters that are not seen and may stand inside a Chinese word.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

/// The ASCII form of a full-width character, or the character itself.
pub(crate) fn narrow(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFF01 + 0x21).unwrap_or(c),
        '\u{3000}' => ' ',
        c => c,
    }
}

/// Whether `c` is punctuation of Chinese text.
pub(crate) fn is_cjk_punctuation(c: char) -> bool {
    matches!(c,
        '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' | '\u{30FB}'
        | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF40}'
        | '\u{FF5B}'..='\u{FF65}'
        | '\u{2014}' | '\u{2018}'..='\u{201D}' | '\u{2026}' | '\u{00B7}')
}

/// The character before `pos`.
pub(crate) fn before(text: &str, pos: usize) -> Option<char> {
    text.get(..pos).and_then(|head| head.chars().next_back())
}

/// The character at `pos`.
pub(crate) fn at(text: &str, pos: usize) -> Option<char> {
    text.get(pos..).and_then(|rest| rest.chars().next())
}

/// The byte at `pos`, or 0 behind the end.
pub(crate) fn byte(text: &str, pos: usize) -> u8 {
    text.as_bytes().get(pos).copied().unwrap_or(0)
}

/// The text from `start` to `end`, empty if that is no range of it.
pub(crate) fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or("")
}

/// Whether a text has Han characters, kana or the punctuation between them. By the first byte: every character
/// from U+3000 to U+9FFF has one of these, and no other character of everyday text.
pub(crate) fn has_cjk(text: &str) -> bool {
    text.bytes().any(|b| (0xE3..=0xE9).contains(&b))
}
