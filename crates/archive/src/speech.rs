//! The words in the content of a message: a text, or an array of blocks of which some are text.

use std::borrow::Cow;

use crate::json;

/// What a content holds.
pub(crate) struct Speech<'a> {
    /// The text of all its blocks, joined by line ends; blank blocks are left out.
    pub text: Cow<'a, str>,
    /// Whether there is anything else: thinking, tools, images.
    pub others: bool,
}

/// What in an array counts as text besides blocks of type text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// A string among the blocks is text.
    Count,
    /// A string among the blocks is damage.
    Ignore,
}

impl<'a> Speech<'a> {
    /// Reads a content.
    pub(crate) fn of(content: Option<&'a str>, strings: Strings) -> Self {
        let mut speech = Speech { text: Cow::Borrowed(""), others: false };
        let Some(content) = content else { return speech };
        match json::kind(content) {
            b'"' => speech.add(json::string(content)),
            b'[' => {
                for block in json::elements(content) {
                    speech.block(block, strings);
                }
            }
            // One block without an array around it.
            b'{' => speech.block(content, strings),
            _ => {}
        }
        speech
    }

    fn block(&mut self, block: &'a str, strings: Strings) {
        if json::kind(block) == b'"' {
            if strings == Strings::Count {
                self.add(json::string(block));
            }
            return;
        }
        if json::kind(block) != b'{' {
            return;
        }
        let [kind, text] = json::members(block, &["type", "text"]);
        match kind.and_then(json::string).as_deref() {
            Some("text" | "input_text" | "output_text") => self.add(text.and_then(json::string)),
            _ => self.others = true,
        }
    }

    /// Appends a text unless it is blank.
    pub(crate) fn add(&mut self, text: Option<Cow<'a, str>>) {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return };
        if self.text.is_empty() {
            self.text = text;
        } else {
            let joined = self.text.to_mut();
            joined.push('\n');
            joined.push_str(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents() {
        for (content, strings, text, others) in [
            (r#""好的""#, Strings::Ignore, "好的", false),
            (r#"" 好的 ""#, Strings::Ignore, " 好的 ", false),
            (r#""  \n""#, Strings::Ignore, "", false),
            (r#"[{"type":"text","text":"a"},{"text":"b","type":"text"}]"#, Strings::Ignore, "a\nb", false),
            (
                r#"[{"type":"input_text","text":"a"},{"type":"output_text","text":"b"}]"#,
                Strings::Ignore,
                "a\nb",
                false,
            ),
            (r#"[{"type":"thinking","thinking":"x"},{"type":"text","text":""}]"#, Strings::Ignore, "", true),
            (r#"[{"type":"text"},"bare",{"type":"text","text":"b"},7,null]"#, Strings::Ignore, "b", false),
            (r#"["bare",{"type":"text","text":"b"}]"#, Strings::Count, "bare\nb", false),
            (r#"{"type":"text","text":"one"}"#, Strings::Ignore, "one", false),
            (r#"[{"type":"text","text":"half \ud83d"}]"#, Strings::Ignore, "half \u{fffd}", false),
            ("[]", Strings::Ignore, "", false),
            ("7", Strings::Ignore, "", false),
        ] {
            let speech = Speech::of(Some(content), strings);
            assert_eq!((speech.text.as_ref(), speech.others), (text, others), "{content}");
        }
        assert_eq!(Speech::of(None, Strings::Count).text, "");
    }
}
