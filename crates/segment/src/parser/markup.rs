//! XML tags and entities inside a text.
//!
//! Notes and chats are full of `<` that begins no tag: comparisons, generics, placeholders. A tag is not
//! indexed, so only what certainly is one counts: an HTML element by its name, with well-formed attributes.
//! Anything else stays text, and nothing between `<` and `>` is lost.

/// Longest tag, in bytes. It bounds the work for every `<`.
const MAX_TAG: usize = 512;

/// Longest entity, `&thetasym;` and the like.
const MAX_ENTITY: usize = 12;

/// Elements that notes and web pages use, sorted. Names that are ordinary words and often stand as
/// placeholders (`<title>`, `<time>`, `<data>`, `<label>`) are left out.
const ELEMENTS: [&str; 62] = [
    "a",
    "article",
    "aside",
    "b",
    "blockquote",
    "body",
    "br",
    "button",
    "center",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "ins",
    "kbd",
    "li",
    "meta",
    "nav",
    "ol",
    "p",
    "pre",
    "s",
    "samp",
    "script",
    "small",
    "span",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// Entities of ordinary text, sorted; any other name between `&` and `;` is text.
const ENTITIES: [&str; 36] = [
    "amp", "apos", "bull", "cent", "copy", "deg", "divide", "emsp", "ensp", "euro", "ge", "gt", "hellip",
    "laquo", "larr", "ldquo", "le", "lsquo", "lt", "mdash", "middot", "nbsp", "ndash", "ne", "para",
    "plusmn", "pound", "quot", "raquo", "rarr", "rdquo", "reg", "rsquo", "times", "trade", "yen",
];

/// The length of the tag at the start of `text`, if there is one.
pub(super) fn tag_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let bytes = bytes.get(..bytes.len().min(MAX_TAG))?;
    let mut rest = bytes.strip_prefix(b"<")?;
    let closing = rest.first() == Some(&b'/');
    if closing {
        rest = rest.get(1..)?;
    }
    let (name, mut rest) = split(rest, |b| b.is_ascii_alphanumeric());
    let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
    ELEMENTS.binary_search(&name.as_str()).ok()?;
    loop {
        let (blanks, after) = split(rest, |b| b.is_ascii_whitespace());
        rest = match after {
            [b'>', after @ ..] => return Some(bytes.len() - after.len()),
            [b'/', b'>', after @ ..] if !closing => return Some(bytes.len() - after.len()),
            _ if closing || blanks.is_empty() => return None,
            after => attribute(after)?,
        };
    }
}

/// What follows the attribute `name=value` at the start of `bytes`.
fn attribute(bytes: &[u8]) -> Option<&[u8]> {
    let (name, rest) = split(bytes, |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'));
    if name.is_empty() {
        return None;
    }
    let rest = rest.strip_prefix(b"=")?;
    match rest {
        [quote @ (b'"' | b'\''), value @ ..] => {
            let end = value.iter().position(|b| b == quote)?;
            value.get(end + 1..)
        }
        _ => {
            let (value, rest) =
                split(rest, |b| b.is_ascii_alphanumeric() || matches!(b, b'#' | b'%' | b'.' | b'-' | b'_'));
            (!value.is_empty()).then_some(rest)
        }
    }
}

/// The length of the entity at the start of `text`, if there is one.
pub(super) fn entity_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let bytes = bytes.get(..bytes.len().min(MAX_ENTITY))?;
    let end = bytes.iter().position(|b| *b == b';')?;
    let name = bytes.get(1..end)?;
    let known = match name {
        [b'#', b'x' | b'X', hex @ ..] => !hex.is_empty() && hex.iter().all(u8::is_ascii_hexdigit),
        [b'#', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        name => std::str::from_utf8(name).is_ok_and(|name| ENTITIES.binary_search(&name).is_ok()),
    };
    known.then_some(end + 1)
}

/// Split behind the leading bytes that are `in_head`.
fn split(bytes: &[u8], in_head: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let n = bytes.iter().position(|b| !in_head(*b)).unwrap_or(bytes.len());
    bytes.split_at(n)
}

#[cfg(test)]
mod tests {
    use super::{entity_len, tag_len, ELEMENTS, ENTITIES};

    #[test]
    fn names_are_sorted() {
        assert!(ELEMENTS.windows(2).all(|w| w[0] < w[1]));
        assert!(ENTITIES.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn only_certain_tags_count() {
        for tag in ["<b>", "</b>", "<br/>", "<br />", "<IMG src=\"a > b\" width=10>", "<td\nclass='x'>"] {
            assert_eq!(tag_len(&format!("{tag} text")), Some(tag.len()), "{tag}");
        }
        let long = format!("<a href=\"{}\">", "x".repeat(1000));
        for text in
            ["<", "< b>", "<b and c>", "<name>", "<b", "<b x=>", "</b x=\"1\">", "<String>", "<b<i>", &long]
        {
            assert_eq!(tag_len(text), None, "{text}");
        }
    }

    #[test]
    fn only_known_entities_count() {
        for entity in ["&amp;", "&#39;", "&#x1F;", "&nbsp;"] {
            assert_eq!(entity_len(&format!("{entity}amp;")), Some(entity.len()), "{entity}");
        }
        for text in ["&", "&;", "&b;", "&amp", "&#;", "&#x;", "&value;"] {
            assert_eq!(entity_len(text), None, "{text}");
        }
    }
}
