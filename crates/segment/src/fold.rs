//! Folding: the form in which words are indexed and looked for.
//!
//! NFKC (full-width forms become ASCII), lower case, traditional Chinese characters to simplified ones one
//! by one, every hyphen to `-`, and characters that are not seen (zero-width, byte order mark, variation
//! selectors, soft hyphen) removed. The stored text is never folded, only what is derived from it.
//!
//! What must hold: `fold(fold(x)) == fold(x)`, or the index and the query would disagree.

mod table;

use crate::class::{is_ignorable, is_other_hyphen};
use std::borrow::Cow;
use table::PAIRS;
use unicode_normalization::{is_nfkc_quick, IsNormalized, UnicodeNormalization};

/// First and last character of the directly indexed part of the traditional-to-simplified table.
const DIRECT_FIRST: usize = 0x3400;
const DIRECT_LAST: usize = 0x9FFF;
/// In `DIRECT`: the character stays as it is.
const SAME: u16 = 0;
/// In `DIRECT`: the simplified form is outside the basic plane, look into `PAIRS`.
const ASTRAL: u16 = 1;

/// Simplified form of every character from `DIRECT_FIRST` to `DIRECT_LAST`. It is computed at compile time
/// and read-only, so every process of a server shares its 54 KB.
static DIRECT: [u16; DIRECT_LAST - DIRECT_FIRST + 1] = direct();

const fn direct() -> [u16; DIRECT_LAST - DIRECT_FIRST + 1] {
    let mut table = [SAME; DIRECT_LAST - DIRECT_FIRST + 1];
    let mut i = 0;
    while i < PAIRS.len() {
        let (from, to) = (PAIRS[i].0 as usize, PAIRS[i].1 as u32);
        if from >= DIRECT_FIRST && from <= DIRECT_LAST {
            table[from - DIRECT_FIRST] = if to <= 0xFFFF { to as u16 } else { ASTRAL };
        }
        i += 1;
    }
    table
}

/// The simplified form of a Han character, or the character itself.
pub(crate) fn simplify(c: char) -> char {
    let code = c as usize;
    if (DIRECT_FIRST..=DIRECT_LAST).contains(&code) {
        match DIRECT.get(code - DIRECT_FIRST).copied() {
            None | Some(SAME) => c,
            Some(ASTRAL) => simplify_by_search(c),
            Some(to) => char::from_u32(u32::from(to)).unwrap_or(c),
        }
    } else if code >= 0x2_0000 {
        simplify_by_search(c)
    } else {
        c
    }
}

fn simplify_by_search(c: char) -> char {
    match PAIRS.binary_search_by_key(&c, |pair| pair.0) {
        Ok(found) => PAIRS.get(found).map_or(c, |pair| pair.1),
        Err(_) => c,
    }
}

/// Fold one Han character: compatibility ideographs to unified ones, traditional to simplified.
pub(crate) fn fold_han(c: char) -> char {
    if ('\u{4E00}'..='\u{9FFF}').contains(&c) {
        return simplify(c);
    }
    let mut unified = c;
    unicode_normalization::char::decompose_canonical(c, |d| unified = d);
    simplify(unified)
}

/// The folded form of a character that is folded by itself, whatever stands beside it: ASCII, full-width
/// ASCII and ordinary Han characters. Nearly all text consists of them.
fn fold_alone(c: char) -> Option<char> {
    match c {
        '\u{4E00}'..='\u{9FFF}' => Some(simplify(c)),
        c if c.is_ascii() => Some(c.to_ascii_lowercase()),
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFF01 + 0x21).map(|c| c.to_ascii_lowercase()),
        _ => None,
    }
}

/// Fold a text for indexing and querying.
pub fn fold(text: &str) -> Cow<'_, str> {
    let Some(first_change) = text.char_indices().find(|(_, c)| fold_alone(*c) != Some(*c)) else {
        return Cow::Borrowed(text);
    };
    let (head, tail) = text.split_at(first_change.0);
    let mut folded = String::with_capacity(text.len());
    folded.push_str(head);
    for c in tail.chars() {
        match fold_alone(c) {
            Some(c) => folded.push(c),
            None => return Cow::Owned(fold_in_context(text)),
        }
    }
    Cow::Owned(folded)
}

fn fold_in_context(text: &str) -> String {
    let mut folded = fold_once(text);
    // A lower-case form may compose with what follows it; a second round settles it, and the third is
    // a guard.
    for _ in 0..3 {
        let again = fold_once(&folded);
        if again == folded {
            break;
        }
        folded = again;
    }
    folded
}

fn fold_once(text: &str) -> String {
    let visible = text.chars().filter(|c| !is_ignorable(*c));
    if is_nfkc_quick(visible.clone()) == IsNormalized::Yes {
        visible.flat_map(fold_char).collect()
    } else {
        visible.nfkc().filter(|c| !is_ignorable(*c)).flat_map(fold_char).collect()
    }
}

/// Lower case and the simplified form of a normalised character. A final sigma is a sigma: the lower-case
/// form must not depend on where in a word a letter stands.
fn fold_char(c: char) -> impl Iterator<Item = char> {
    let c = match c {
        'ς' => 'σ',
        c if is_other_hyphen(c) => '-',
        c => simplify(c),
    };
    c.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{fold, simplify, PAIRS};
    use proptest::prelude::*;
    use std::borrow::Cow;

    #[test]
    fn folds_width_case_script_and_what_is_not_seen() {
        for (text, folded) in [
            ("ＧＰＴ－４ｏ", "gpt-4o"),
            ("GPT\u{2011}4o", "gpt-4o"),
            ("２０２７年", "2027年"),
            ("資料庫效能優化", "资料库效能优化"),
            ("今\u{200b}天", "今天"),
            ("\u{feff}Soft\u{ad}ware", "software"),
            ("⛺\u{fe0f}", "⛺"),
            ("ﬁle ㎏ Ⅷ", "file kg viii"),
            ("ΟΔΟΣ ὁδός", "οδοσ ὁδόσ"),
            ("\u{F900}", "岂"),
            ("Straße", "straße"),
        ] {
            assert_eq!(fold(text), folded);
        }
    }

    #[test]
    fn borrows_what_is_folded_already() {
        for text in ["", "plain words 10%", "数据库 fast"] {
            assert!(matches!(fold(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn table_is_sorted_and_has_no_chains() {
        assert!(PAIRS.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(PAIRS.iter().all(|&(from, to)| simplify(from) == to && simplify(to) == to));
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in any::<String>()) {
            let once = fold(&text).into_owned();
            prop_assert_eq!(fold(&once), once.as_str());
        }
    }
}
