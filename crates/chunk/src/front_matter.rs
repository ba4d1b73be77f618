//! Takes the YAML front matter off a Markdown file and turns it into JSON.
//!
//! It gives no meaning to any key. What must hold: text that only looks like front matter (a rule, some prose,
//! another rule) stays in the body, nothing of front matter does, and neither bad YAML nor a hostile one (aliases that
//! multiply, endless nesting) costs more than its length.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

use crate::slice;

/// The key that holds front matter which is no valid YAML.
const RAW: &str = "_raw";

/// A block longer than this is text between two rules.
const MAX_BYTES: usize = 64 * 1024;

/// Deeper nesting counts as bad YAML: the value is later walked recursively by others.
const MAX_DEPTH: usize = 32;

/// A longer first "key" is a sentence with a colon in it.
const MAX_KEY_CHARS: usize = 64;

/// Front matter of `text` and what follows it. Without front matter all of `text` follows.
pub(crate) fn split(text: &str) -> (Map<String, Value>, &str) {
    find(text).and_then(|(block, body)| Some((read(block)?, body))).unwrap_or_else(|| (Map::new(), text))
}

/// The lines between the `---` that starts `text` and the next `---` or `...`, and what follows.
fn find(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end_matches([' ', '\t']) != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end_matches([' ', '\t', '\n']), "---" | "...") {
            return Some((slice(rest, 0, at), slice(rest, at + line.len(), rest.len())));
        }
        at += line.len();
        if at > MAX_BYTES {
            return None;
        }
    }
    None
}

/// The entries of `block`; `None` if it is not meant as front matter.
fn read(block: &str) -> Option<Map<String, Value>> {
    if block.trim().is_empty() {
        return Some(Map::new());
    }
    // A blank line behind the rule: likely prose, whose headings YAML would take for comments and drop.
    let starts_blank = block.lines().next().is_none_or(|line| line.trim().is_empty());
    if starts_blank && block.lines().any(|line| line.starts_with('#')) {
        return None;
    }
    match parse(block) {
        Ok(Value::Object(entries)) => Some(entries),
        Ok(_) => None,
        Err(BadYaml) => salvage(block),
    }
}

/// `block`, which is bad YAML, as text, and the entries in it that can be read.
fn salvage(block: &str) -> Option<Map<String, Value>> {
    let mut entries = Map::new();
    for entry in top_level_entries(block) {
        let Some((key, value)) = key_and_value(entry) else { continue };
        let read = parse(entry).ok().and_then(|value| match value {
            Value::Object(entries) => Some(entries),
            _ => None,
        });
        match read {
            Some(read) => entries.extend(read),
            None => drop(entries.insert(clean(key), Value::String(clean(value)))),
        }
    }
    // Not a single key: prose.
    if entries.is_empty() {
        return None;
    }
    entries.insert(RAW.to_owned(), Value::String(clean(block)));
    Some(entries)
}

/// Cuts `block` in front of every line that starts with a key.
fn top_level_entries(block: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in block.split_inclusive('\n') {
        if key_and_value(line).is_some() {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([block.len()]);
    starts.iter().zip(ends).map(|(&start, end)| slice(block, start, end)).collect()
}

/// Key and raw value of an entry that starts at the start of its line.
fn key_and_value(entry: &str) -> Option<(&str, &str)> {
    let (key, value) = entry.split_once(':')?;
    let is_key = key.chars().nth(MAX_KEY_CHARS).is_none()
        && key.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\''))
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '"' | '\''));
    let ends_there = value.is_empty() || value.starts_with(char::is_whitespace);
    Some((key.trim_matches(['"', '\'', ' ']), value.trim())).filter(|_| is_key && ends_there)
}

struct BadYaml;

/// A collection that is being read.
enum Open {
    Sequence(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

/// The one document in `yaml`. An alias or a key given twice is an error too: the one may multiply without end, of
/// the other something would be lost.
fn parse(yaml: &str) -> Result<Value, BadYaml> {
    let mut open: Vec<Open> = Vec::new();
    let mut document = None;
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|_| BadYaml)?;
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                let typed = style == ScalarStyle::Plain && tag.is_none();
                let is_key = matches!(open.last(), Some(Open::Mapping(_, None)));
                if typed && !is_key {
                    scalar(&text)
                } else {
                    Value::String(clean(&text))
                }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                return Err(BadYaml)
            }
            Event::SequenceStart(..) => {
                open.push(Open::Sequence(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Mapping(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Sequence(items)) => Value::Array(items),
                Some(Open::Mapping(entries, _)) => Value::Object(entries),
                None => return Err(BadYaml),
            },
            Event::Alias(_) => return Err(BadYaml),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => continue,
        };
        match open.last_mut() {
            None if document.is_none() => document = Some(value),
            None => return Err(BadYaml),
            Some(Open::Sequence(items)) => items.push(value),
            Some(Open::Mapping(entries, key)) => match (key.take(), value) {
                (None, Value::String(name)) if !entries.contains_key(&name) => *key = Some(name),
                (None, _) => return Err(BadYaml),
                (Some(name), value) => drop(entries.insert(name, value)),
            },
        }
    }
    Ok(document.unwrap_or(Value::Null))
}

/// A plain scalar by the core schema of YAML 1.2. A number only if it is written as JSON writes it: `1.10` is a
/// version and `007` a label.
fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let integer = text.parse::<i64>().ok().map(Number::from);
    let number = integer.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64));
    match number.filter(|number| number.to_string() == text) {
        Some(number) => Value::Number(number),
        None => Value::String(clean(text)),
    }
}

/// Double-quoted YAML can spell U+0000.
fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn front(text: &str) -> Value {
        Value::Object(split(text).0)
    }

    #[test]
    fn entries_become_json() {
        let text = "---\ntitle: \"四月复盘: 订阅\"\ndate: 2026-04-30\ntags: [复盘, 博客, \"C#\"]\nlist:\n- a\n- b\nsummary: |\n  ## 不是标题\n  第二行\n\
                    draft: false\ncount: 3\nversion: 1.10\nid: 007\nratio: 0.5\nnothing:\nfar: 9:45\n---\n正文\n";
        let (entries, body) = split(text);
        assert_eq!(body, "正文\n");
        assert_eq!(
            Value::Object(entries),
            json!({
                "title": "四月复盘: 订阅", "date": "2026-04-30", "tags": ["复盘", "博客", "C#"], "list": ["a", "b"],
                "summary": "## 不是标题\n第二行\n", "draft": false, "count": 3, "version": "1.10", "id": "007",
                "ratio": 0.5, "nothing": null, "far": "9:45",
            })
        );
    }

    #[test]
    fn where_it_ends() {
        for text in ["---\na: 1\n---", "---\na: 1\n...\n", "--- \t\na: 1\n---  \n", "---\n\na: 1\n---\n"] {
            let (entries, body) = split(text);
            assert_eq!((Value::Object(entries), body), (json!({"a": 1}), ""), "{text:?}");
        }
        assert_eq!(split("---\n---\n文").1, "文");
    }

    #[test]
    fn what_is_no_front_matter_stays() {
        let prose = "---\n\n## 会议\ntime: 9:45\n\n---\n后来\n";
        for text in [
            prose,
            "---\n只是两条线之间的一句话。\n---\n",
            "---\n- a\n- b\n---\n",
            "---\n# 标题\n---\n",
            "---\na: 1\n没有结束\n",
            "----\na: 1\n----\n",
            " ---\na: 1\n---\n",
            "\n---\na: 1\n---\n",
            "---",
            "---\n",
            "",
        ] {
            assert_eq!(split(text), (Map::new(), text), "{text:?}");
        }
        let long = format!("---\na: {}\n---\n", "字".repeat(MAX_BYTES));
        assert_eq!(split(&long).1, long);
    }

    #[test]
    fn bad_yaml_is_kept_and_read_as_far_as_possible() {
        let block = "title: 周会: 复盘\ntags: [a, b]\nbroken: [1, 2\n";
        let text = format!("---\n{block}---\n文\n");
        let (entries, body) = split(&text);
        assert_eq!(body, "文\n");
        assert_eq!(
            Value::Object(entries),
            json!({"title": "周会: 复盘", "tags": ["a", "b"], "broken": "[1, 2", "_raw": block})
        );
        assert_eq!(front("---\na: 1\na: 2\n---\n")["_raw"], "a: 1\na: 2\n");
        assert_eq!(front("---\na: \"x\\0y\"\n---\n"), json!({"a": "x\u{fffd}y"}));
    }

    #[test]
    fn hostile_yaml_is_bad_yaml() {
        let bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n";
        assert!(front(bomb)["_raw"].is_string());
        let deep = format!("---\na: {}1{}\n---\n", "[".repeat(1_000), "]".repeat(1_000));
        assert!(front(&deep)["_raw"].is_string());
    }

    proptest! {
        #[test]
        fn no_block_is_an_error(block in r#"(([a-c"'*&!|>\[\]{},:# -]|: |\n){0,40}\n)"#) {
            let text = format!("---\n{block}---\n文");
            let (entries, body) = split(&text);
            prop_assert!(body == "文" || (entries.is_empty() && body == text) || text.ends_with(body));
        }
    }
}
