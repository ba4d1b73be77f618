//! Which texts have nothing in them to embed.

/// Whether a text holds only white space, control characters and characters without a glyph.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_invisible)
}

fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c,
            '\u{ad}'                      // soft hyphen
            | '\u{34f}'                   // combining grapheme joiner
            | '\u{61c}'                   // Arabic letter mark
            | '\u{115f}' | '\u{1160}'     // Hangul fillers
            | '\u{17b4}' | '\u{17b5}'     // Khmer inherent vowels
            | '\u{180b}'..='\u{180f}'     // Mongolian selectors and separator
            | '\u{200b}'..='\u{200f}'     // zero width space and joiners, direction marks
            | '\u{202a}'..='\u{202e}'     // direction embeddings
            | '\u{2060}'..='\u{206f}'     // word joiner, invisible operators, isolates
            | '\u{2800}'                  // empty braille pattern
            | '\u{3164}' | '\u{ffa0}'     // Hangul fillers
            | '\u{fe00}'..='\u{fe0f}'     // variation selectors
            | '\u{feff}'                  // byte order mark
            | '\u{e0000}'..='\u{e0fff}'   // tags, more variation selectors
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_see_is_blank() {
        for text in ["", "   ", "\n\t\r", "\u{3000}", "\u{200b}\u{feff} \u{2060}", "\u{0}\u{7f}", "\u{fe0f}"]
        {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", " 茶 ", "\u{200b}零", "😀", "。", "👨\u{200d}👩", "-"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
