//! The text two deliveries of one message are compared by, and its hash.
//!
//! A transcript holds what the model saw: the words of the person after blocks of metadata that the program put
//! before them, the answer with a tag for the channel at its head. A hook holds the bare words. The text compared is
//! without either. It is for comparing only; what is stored is the text as it came.
//!
//! What must hold: the result is the same for ever, because its hash is stored.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// How the line above a block of metadata ends.
const ENVELOPES: [&str; 2] = ["(untrusted metadata):", "(untrusted, for context):"];
/// A longer text between double brackets is no tag.
const LONGEST_TAG: usize = 200;

/// The text without envelope blocks, leading `[[…]]` tags, and white space at its ends.
pub fn comparison_text(text: &str) -> Cow<'_, str> {
    let bare = without_envelopes(text);
    match bare {
        Cow::Borrowed(bare) => Cow::Borrowed(without_tags(bare)),
        Cow::Owned(bare) => Cow::Owned(without_tags(&bare).to_owned()),
    }
}

/// The first eight bytes of SHA-256 of [`comparison_text`], as a big-endian number.
pub fn fingerprint(text: &str) -> i64 {
    let digest = Sha256::digest(comparison_text(text).as_bytes());
    digest.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
}

/// Leaves out each line that names untrusted metadata together with the fenced block under it. Without a closed
/// block there is nothing to leave out: the words may be the person's own.
fn without_envelopes(text: &str) -> Cow<'_, str> {
    if !ENVELOPES.iter().any(|end| text.contains(end)) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    // Once a fence was never closed none after it is: looking again for each would be quadratic.
    let mut may_close = true;
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        if may_close && ENVELOPES.iter().any(|end| line.trim_end().ends_with(end)) {
            match after_block(after) {
                Block::Closed(after) => {
                    rest = after;
                    continue;
                }
                Block::Open => may_close = false,
                Block::Missing => {}
            }
        }
        kept.push_str(line);
        rest = after;
    }
    Cow::Owned(kept)
}

/// The fenced block at the start of a text.
enum Block<'a> {
    /// It is closed, and this follows.
    Closed(&'a str),
    /// It is never closed.
    Open,
    /// There is none.
    Missing,
}

fn after_block(text: &str) -> Block<'_> {
    let (fence, mut rest) = split_line(text.trim_start());
    if !fence.starts_with("```") {
        return Block::Missing;
    }
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        rest = after;
        if line.trim() == "```" {
            return Block::Closed(rest);
        }
    }
    Block::Open
}

/// The first line with its end, and the rest.
fn split_line(text: &str) -> (&str, &str) {
    let end = memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |at| at + 1);
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Leaves out the tags at the head of a text, unless there is nothing else.
fn without_tags(text: &str) -> &str {
    let whole = text.trim();
    let mut rest = whole;
    while let Some((tag, after)) = rest.strip_prefix("[[").and_then(|inner| inner.split_once("]]")) {
        if tag.len() > LONGEST_TAG || tag.contains(['\n', '[']) {
            break;
        }
        rest = after.trim_start();
    }
    if rest.is_empty() {
        whole
    } else {
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVELOPE: &str = "Conversation info (untrusted metadata):\n```json\n{\n  \"id\": 7\n}\n```\n\n";

    #[test]
    fn envelopes_and_tags_go() {
        for (text, bare) in [
            ("记得买牛奶", "记得买牛奶"),
            ("  好的 \n", "好的"),
            (&format!("{ENVELOPE}记得买牛奶"), "记得买牛奶"),
            (&format!("{ENVELOPE}Sender (untrusted metadata):\n\n```json\n{{}}\n```\n记得"), "记得"),
            (&format!("{}记得", ENVELOPE.replace('\n', "\r\n")), "记得"),
            ("[[reply_to_current]] 记下了", "记下了"),
            ("[[reply_to: 9]][[audio_as_voice]]\n记下了", "记下了"),
            (&format!("[[a]]{ENVELOPE}x"), "x"),
        ] {
            assert_eq!(comparison_text(text), bare, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_either_stays() {
        for text in [
            "what does (untrusted metadata): mean",
            "Info (untrusted metadata):\nno block follows",
            "Info (untrusted metadata):\n```json\nnever closed",
            "see [[wiki]]",
            "[[never closed",
            "[[only_a_tag]]",
            "[[two\nlines]] x",
        ] {
            assert_eq!(comparison_text(text), text);
        }
    }

    /// Minutes if each open fence is looked for to the end.
    #[test]
    fn fences_that_never_close_take_no_longer() {
        let text = "Info (untrusted metadata):\n```json\n".repeat(200_000);
        assert_eq!(comparison_text(&text), text.trim());
        let mixed = format!("{ENVELOPE}记得\nInfo (untrusted metadata):\n```json\nx");
        assert_eq!(comparison_text(&mixed), "记得\nInfo (untrusted metadata):\n```json\nx");
    }

    #[test]
    fn the_hash_is_part_of_sha256() {
        // First eight bytes of SHA-256 of the empty string and of "好的".
        assert_eq!(fingerprint(""), 0xe3b0_c442_98fc_1c14_u64 as i64);
        assert_eq!(fingerprint("好的"), fingerprint(" [[reply]] 好的\n"));
        assert_ne!(fingerprint("好的"), fingerprint("好"));
    }
}
