//! What holds for any history, by many of them made at random.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::HashSet;

use common::{auto, outcome};
use memory_archive::{comparison_text, fingerprint, read, Format, Item, Options, Zone};
use proptest::prelude::*;

const FIXTURES: [&str; 7] = [
    include_str!("fixtures/openclaw.jsonl"),
    include_str!("fixtures/openclaw_hooks.jsonl"),
    include_str!("fixtures/claude_code.jsonl"),
    include_str!("fixtures/claude_code_resumed.jsonl"),
    include_str!("fixtures/chatgpt.json"),
    include_str!("fixtures/openai.jsonl"),
    include_str!("fixtures/anthropic.jsonl"),
];

/// Reads to the end, whatever comes; what is returned keeps what is promised of it.
fn survive(bytes: &[u8], options: &Options) {
    let Ok(reader) = read(bytes, options) else { return };
    for item in reader {
        let Ok(Item::Message(message)) = item else { continue };
        assert!(!message.content.trim().is_empty());
        assert!(!message.session_key.is_empty());
        assert!(message.message_id.as_ref().is_none_or(|id| !id.is_empty()));
        assert!(!format!("{message:?}").contains("\\0"));
        assert!(!serde_json::to_string(&message.metadata).unwrap().contains("\\u0000"));
        assert_eq!(message.fingerprint, fingerprint(&message.content));
    }
}

/// A text that is hard on readers.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{1,8}",
        Just("\u{2028}".to_owned()),
        Just("\u{85}".to_owned()),
        Just("\n".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("😀".to_owned()),
        Just("}]".to_owned()),
        Just("\u{1}".to_owned()),
        Just("[[".to_owned()),
        Just("]]".to_owned()),
        Just("(untrusted metadata):\n```".to_owned()),
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| format!("说{}", pieces.concat()))
}

/// JSON of a text with escapes wherever JSON allows them, and those it should not allow.
fn escaped(text: &str, style: u8) -> String {
    if style == 0 {
        return serde_json::to_string(text).unwrap();
    }
    let mut json = String::from("\"");
    for character in text.chars() {
        for unit in character.encode_utf16(&mut [0; 2]) {
            json.push_str(&format!("\\u{unit:04x}"));
        }
        if style == 2 {
            json.push_str("\\u0000");
        }
    }
    json.push('"');
    json
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survive(&bytes, &Options::default());
    }

    #[test]
    fn any_text_like_json_is_survived(text in "[\\[\\]{}\",:\\\\a-z0-9 \n\0]{0,200}", which in 0..7usize) {
        survive(text.as_bytes(), &Options { format: Format::ALL[which], ..Options::default() });
        survive(format!("{{\"type\":\"message\",\"message\":{text}").as_bytes(), &Options::default());
        survive(format!("[{{\"mapping\":{text}").as_bytes(), &Options::default());
    }

    #[test]
    fn damaged_histories_are_survived(
        which in 0..FIXTURES.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        packed in any::<bool>(),
    ) {
        let mut bytes = FIXTURES[which].as_bytes().to_vec();
        if packed {
            bytes = zstd::encode_all(&bytes[..], 1).unwrap();
        }
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        survive(&bytes, &Options { keep_raw: true, max_bytes: 1 << 20, ..Options::default() });
    }

    /// What a history gives that was cut anywhere is part of what the whole one gives: nothing is read wrongly for
    /// being read early, and the rest follows.
    #[test]
    fn a_history_may_be_read_while_it_grows(which in 0..FIXTURES.len(), cut in any::<prop::sample::Index>()) {
        let whole = FIXTURES[which];
        let head = &whole.as_bytes()[..cut.index(whole.len())];
        let (early, late) = (auto(head), auto(whole));
        let superseded: HashSet<&String> = late.messages.iter().flat_map(|message| &message.supersedes).collect();
        let known: HashSet<_> = late.messages.iter().map(|m| (&m.session_key, &m.message_id, &m.content)).collect();
        for message in &early.messages {
            let grown = message.message_id.as_ref().is_some_and(|id| superseded.contains(id));
            // Of a tree that is cut within a conversation nothing is read.
            prop_assert!(grown || known.contains(&(&message.session_key, &message.message_id, &message.content)));
        }
        prop_assert!(early.bad.len() <= late.bad.len());
        prop_assert!(early.pending.len() <= 1);
        prop_assert_eq!(auto(whole), late);
    }

    #[test]
    fn compressed_or_not_is_the_same(which in 0..FIXTURES.len(), times in 1..30usize, level in 1..6) {
        let history = FIXTURES[which].repeat(times);
        let packed = zstd::encode_all(history.as_bytes(), level).unwrap();
        prop_assert_eq!(auto(packed), auto(history));
    }

    #[test]
    fn no_text_is_lost(texts in prop::collection::vec((text(), 0..3u8), 1..10), ends in any::<bool>()) {
        let lines: Vec<String> = texts
            .iter()
            .enumerate()
            .map(|(id, (text, style))| {
                let content = escaped(text, *style);
                format!(r#"{{"type":"message","id":"{id}","message":{{"role":"user","content":[{{"type":"text","text":{content}}}]}}}}"#)
            })
            .collect();
        let history = lines.join(if ends { "\n" } else { "\r\n" });
        let expected: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        let found = auto(history);
        prop_assert_eq!(found.texts(), expected);
    }

    #[test]
    fn half_pairs_cost_one_character_each(before in "[a-z说😀]{0,5}", half in 0xd800..0xe000u32, after in "[a-z说😀]{0,5}") {
        let content = format!("\"说{before}\\u{half:04x}{after}\"");
        let line = format!(r#"{{"role":"user","content":{content}}}"#);
        let found = auto(line);
        prop_assert_eq!(found.texts(), [format!("说{before}\u{fffd}{after}")]);
    }

    #[test]
    fn the_text_compared_is_part_of_the_text(text in text()) {
        let compared = comparison_text(&text).into_owned();
        prop_assert!(compared.len() <= text.len());
        prop_assert_eq!(fingerprint(&text), fingerprint(&compared));
        let enveloped = format!("Sender (untrusted metadata):\n```json\n{{}}\n```\n\n{compared}");
        prop_assert_eq!(fingerprint(&enveloped), fingerprint(&compared));
    }

    #[test]
    fn times_are_read_back(seconds in 100_000_000i64..4_000_000_000, micros in 0i64..1_000_000, hours in -12i8..=14) {
        let at = seconds * 1_000_000 + micros;
        let stamp = jiff::Timestamp::from_microsecond(at).unwrap();
        let offset = jiff::tz::Offset::constant(hours);
        let naive = offset.to_datetime(stamp);
        let zone = Zone::named(&format!("{}{:02}:00", if hours < 0 { '-' } else { '+' }, hours.abs())).unwrap();
        let options = Options { zone, ..Options::default() };
        for written in [
            format!("\"{stamp}\""),
            format!("\"{}\"", stamp.display_with_offset(offset)),
            format!("\"{naive}\""),
            format!("\"{}\"", naive.to_string().replace('T', " ")),
            format!("{seconds}.{micros:06}"),
            format!("\"{seconds}.{micros:06}\""),
            at.to_string(),
        ] {
            let line = format!(r#"{{"role":"user","content":"x","timestamp":{written}}}"#);
            let found = outcome(&line, &options);
            prop_assert_eq!(found.messages[0].timestamp, at, "{}", written);
        }
    }
}
