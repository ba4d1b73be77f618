//! Reading JSON without building trees: an object is asked for the members it is wanted for, and each comes back
//! as the slice of the text it stands in.
//!
//! A record is checked once, from end to end, by [`record`]. What is inside it is known to be JSON then and is only
//! divided at its brackets, which is several times as fast.
//!
//! It does not judge what is inside a value nobody asks for: a number beyond every range, nesting of any depth and
//! half a surrogate pair are passed over, without recursion. Of a key given twice the last value counts, as in
//! JavaScript and in `jsonb`.
//!
//! What must hold: no text is lost for the escapes it holds. What JSON allows in a string and a database does not,
//! half a surrogate pair and NUL, is replaced by U+FFFD and removed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::input::Brackets;

pub(crate) use serde_json::Error;

/// The values of `names` in a whole record, as they are written; `None` for what is absent or null.
///
/// # Errors
/// The text is not one JSON object.
pub(crate) fn record<'a, const N: usize>(
    json: &'a str,
    names: &[&str; N],
) -> Result<[Option<&'a str>; N], Error> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = reader.deserialize_map(Wanted { names })?;
    reader.end()?;
    Ok(found)
}

struct Wanted<'n, const N: usize> {
    names: &'n [&'n str; N],
}

impl<'a, const N: usize> Visitor<'a> for Wanted<'_, N> {
    type Value = [Option<&'a str>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut found = [None; N];
        while let Some(index) = map.next_key_seed(Name { names: self.names })? {
            match index.and_then(|index| found.get_mut(index)) {
                Some(slot) => {
                    let value: &RawValue = map.next_value()?;
                    *slot = Some(value.get()).filter(|text| *text != "null");
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

/// Which of the names a key is.
struct Name<'n> {
    names: &'n [&'n str],
}

impl<'a> DeserializeSeed<'a> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.names.iter().position(|name| *name == key))
    }
}

/// Checks that a text is JSON.
///
/// # Errors
/// It is not.
pub(crate) fn check(json: &str) -> Result<(), Error> {
    serde_json::from_str::<IgnoredAny>(json).map(|_| ())
}

/// The values of `names` in an object within a record, as by [`record`]; nothing if it is no object.
pub(crate) fn members<'a, const N: usize>(json: &'a str, names: &[&str; N]) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    walk(json, |key, value| {
        let inner = key.get(1..key.len().saturating_sub(1)).unwrap_or("");
        let place = if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            names.iter().position(|name| *name == inner)
        } else {
            exact(key).and_then(|key| names.iter().position(|name| *name == key))
        };
        if let Some(slot) = place.and_then(|place| found.get_mut(place)) {
            *slot = Some(value).filter(|value| *value != "null");
        }
        true
    });
    found
}

/// The first value of a name that needs no escapes, for telling whether the rest of the object matters.
pub(crate) fn first<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    walk(json, |key, value| {
        if key.strip_prefix('"').and_then(|key| key.strip_suffix('"')) == Some(name) {
            found = Some(value);
        }
        found.is_none()
    });
    found
}

/// All members of an object within a record, in the order in which they are written.
pub(crate) fn entries(json: &str) -> Vec<(Cow<'_, str>, &str)> {
    let mut found = Vec::new();
    walk(json, |key, value| {
        found.push((exact(key).unwrap_or_default(), value));
        true
    });
    found
}

/// Shows each member of an object, its key as it is written, with quotes, and its value, as long as more are wanted.
fn walk<'a>(json: &'a str, mut show: impl FnMut(&'a str, &'a str) -> bool) -> Option<()> {
    let mut rest = json.trim_ascii_start().strip_prefix('{')?;
    loop {
        rest = rest.trim_ascii_start();
        if !rest.starts_with('"') {
            return None;
        }
        let (key, after) = split(rest)?;
        let (value, after) = split(after.trim_ascii_start().strip_prefix(':')?.trim_ascii_start())?;
        if !show(key, value) {
            return None;
        }
        rest = after.trim_ascii_start().strip_prefix(',')?;
    }
}

/// The elements of an array within a record; nothing if it is no array.
pub(crate) fn elements(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json.trim_ascii_start().strip_prefix('[');
    std::iter::from_fn(move || {
        let (value, after) = split(rest?.trim_ascii_start())?;
        rest = after.trim_ascii_start().strip_prefix(',');
        Some(value)
    })
}

/// The value at the start of a text, and what follows it.
fn split(text: &str) -> Option<(&str, &str)> {
    let end = match text.bytes().next()? {
        b'{' | b'[' | b'"' => Brackets::default().end(text.as_bytes())?,
        b']' | b'}' => return None,
        _ => {
            let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
            text.bytes().position(ends).unwrap_or(text.len())
        }
    };
    text.split_at_checked(end)
}

/// Whether the value is an object, an array, a string: its first character.
pub(crate) fn kind(json: &str) -> u8 {
    json.bytes().find(|byte| !byte.is_ascii_whitespace()).unwrap_or(0)
}

/// The text of a JSON string, without NUL; `None` for any other value.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    exact(json).map(without_nul)
}

/// The text of a JSON string with every NUL that it has, for bytes that are written as text.
pub(crate) fn exact(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let text = match serde_json::from_str::<String>(json) {
        Ok(text) => text,
        Err(_) => serde_json::from_str(&repair(json)?).ok()?,
    };
    Some(Cow::Owned(text))
}

/// A string or a number as text, as ids are; `None` for an empty string and any other value.
pub(crate) fn scalar(json: &str) -> Option<Cow<'_, str>> {
    match kind(json) {
        b'"' => string(json).filter(|text| !text.is_empty()),
        b'-' | b'0'..=b'9' => Some(Cow::Borrowed(json)),
        _ => None,
    }
}

/// Whether the value is `true`.
pub(crate) fn truth(json: Option<&str>) -> bool {
    json == Some("true")
}

/// The text without NUL, which no `text` of a database can hold.
pub(crate) fn without_nul(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr::memchr(0, text.as_bytes()).is_none() {
        return text;
    }
    Cow::Owned(text.replace('\0', ""))
}

/// The text with everything put right that a lenient writer lets pass: escapes of half a surrogate pair become
/// U+FFFD, NUL goes, bare control characters in strings are escaped. `None` if there is nothing to put right.
pub(crate) fn repair(json: &str) -> Option<String> {
    let mut repaired = String::with_capacity(json.len());
    let (mut changed, mut within) = (false, false);
    let mut rest = json;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        match character {
            '\0' => changed = true,
            '"' => {
                within = !within;
                repaired.push('"');
            }
            '\\' if within => match escape(rest) {
                Escape::Half => {
                    length = 6;
                    changed = true;
                    repaired.push_str("\\ufffd");
                }
                Escape::Whole(taken) => {
                    length = taken;
                    repaired.push_str(rest.get(..taken).unwrap_or(rest));
                }
            },
            '\u{1}'..='\u{1f}' if within => {
                changed = true;
                repaired.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => repaired.push(character),
        }
        rest = rest.get(length..).unwrap_or("");
    }
    changed.then_some(repaired)
}

enum Escape {
    /// `\uXXXX` of a surrogate without its other half.
    Half,
    /// Any other escape, with its length in bytes.
    Whole(usize),
}

/// What the escape at the start of `text` is.
fn escape(text: &str) -> Escape {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    match unit(0) {
        Some(0xd800..=0xdbff) if matches!(unit(6), Some(0xdc00..=0xdfff)) => Escape::Whole(12),
        Some(0xd800..=0xdfff) => Escape::Half,
        Some(_) => Escape::Whole(6),
        None => Escape::Whole(1 + text.chars().nth(1).map_or(0, char::len_utf8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_slices_and_the_last_of_a_key_counts() {
        let json = r#" {"a":1,"b":{"a":[2]},"a":"x","n":null,"huge":1e999} "#;
        let names = &["a", "b", "n", "huge", "absent"];
        let expected = [Some("\"x\""), Some(r#"{"a":[2]}"#), None, Some("1e999"), None];
        assert_eq!(record(json, names).unwrap(), expected);
        assert_eq!(members(json, names), expected);
    }

    #[test]
    fn keys_may_be_escaped() {
        assert_eq!(record(r#"{"\u0061":7}"#, &["a"]).unwrap(), [Some("7")]);
        assert_eq!(members(r#"{"\u0061":7}"#, &["a"]), [Some("7")]);
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for json in ["", "[1]", "null", "{", r#"{"a":1"#, r#"{"a":1} x"#, r#"{"a"}"#] {
            assert!(record(json, &["a"]).is_err(), "{json}");
        }
    }

    #[test]
    fn depth_that_is_not_wanted_is_passed_over() {
        let depth = 100_000;
        let json = format!(r#"{{"deep":{}{},"a":1}}"#, "[".repeat(depth), "]".repeat(depth));
        assert_eq!(record(&json, &["a"]).unwrap(), [Some("1")]);
        for [deep] in [record(&json, &["deep"]).unwrap(), members(&json, &["deep"])] {
            assert_eq!(deep.map(str::len), Some(2 * depth));
        }
    }

    #[test]
    fn white_space_may_be_anywhere() {
        let json = " { \"a\" : [ 1 , \"]\" , { } , [ ] ] , \"b\" : {} , \"c\":true } ";
        let [a, b, c] = members(json, &["a", "b", "c"]);
        assert_eq!(elements(a.unwrap()).collect::<Vec<_>>(), ["1", "\"]\"", "{ }", "[ ]"]);
        assert_eq!((b, c), (Some("{}"), Some("true")));
        assert_eq!(entries(json).len(), 3);
        for (json, count) in [("[]", 0), ("[ ]", 0), ("[null]", 1), ("{}", 0), ("7", 0)] {
            assert_eq!(elements(json).count(), count, "{json}");
            assert_eq!(members(json, &["a"]), [None], "{json}");
        }
    }

    #[test]
    fn strings_lose_nothing_but_nul_and_half_pairs() {
        for (json, text) in [
            (r#""plain""#, "plain"),
            (r#""a\nb""#, "a\nb"),
            (r#""a\u0000b""#, "ab"),
            (r#""half \ud83d high""#, "half \u{fffd} high"),
            (r#""half \ude00 low""#, "half \u{fffd} low"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""pair \ud83d\ude00 and \ud83d""#, "pair 😀 and \u{fffd}"),
            (r#""\\ud83d is text, \ud83d is not""#, "\\ud83d is text, \u{fffd} is not"),
        ] {
            assert_eq!(string(json).as_deref(), Some(text), "{json}");
        }
        assert_eq!(string("7"), None);
    }

    #[test]
    fn repair_escapes_control_characters_within_strings_only() {
        assert_eq!(repair("{\t\"a\":\"x\ty\0z\"}").unwrap(), "{\t\"a\":\"x\\u0009yz\"}");
        assert_eq!(repair("{\t\"a\":\"\\t\"}"), None);
    }

    #[test]
    fn scalars_are_ids() {
        assert_eq!(scalar("\"m1\"").as_deref(), Some("m1"));
        assert_eq!(
            scalar("123456789012345678901234567890").as_deref(),
            Some("123456789012345678901234567890")
        );
        assert_eq!(scalar("\"\""), None);
        assert_eq!(scalar("true"), None);
        assert_eq!(scalar("{}"), None);
    }
}
