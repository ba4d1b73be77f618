//! What becomes of histories that are damaged, half written, huge or made to do harm.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{auto, outcome};
use memory_archive::{
    read, Item, Options, ReadError, Reason, Rule, TimeOrigin, MAX_MESSAGE_ID, MAX_SESSION_KEY,
};

/// A line of a session file with this JSON as content.
fn line(id: &str, content: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","timestamp":"2026-03-01T09:00:00Z","message":{{"role":"user","content":{content}}}}}"#
    )
}

#[test]
fn half_pairs_and_nul_do_not_cost_the_message() {
    for (content, text) in [
        (r#""half \ud83d high""#, "half \u{fffd} high"),
        (r#"[{"type":"text","text":"half \ude00 low"}]"#, "half \u{fffd} low"),
        (r#""whole \ud83d\ude00 pair""#, "whole 😀 pair"),
        (r#""a\u0000b""#, "ab"),
        ("\"a\0b\"", "ab"),
        ("\"tab\there\"", "tab\there"),
        ("\"line\u{2028}and\u{2029}and\u{85}end\"", "line\u{2028}and\u{2029}and\u{85}end"),
        (r#""'; drop table conversations; -- \\ $$ %s""#, "'; drop table conversations; -- \\ $$ %s"),
    ] {
        let found = auto(line("m", content));
        assert_eq!(found.texts(), [text], "{content}");
        assert!(found.bad.is_empty());
    }
    // In a place nobody asks for it costs nothing; in a key neither.
    for broken in [r#""x":"\ud83d","#, r#""\ud83d":1,"#, "\"x\":\"\x01\","] {
        let text = line("m", "\"好\"").replacen('{', &format!("{{{broken}"), 1);
        assert_eq!(auto(&text).texts(), ["好"], "{text}");
    }
}

#[test]
fn bad_utf8_does_not_cost_the_message() {
    let mut bytes = line("m", "\"bad @ @ bytes\"").into_bytes();
    let places: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] == b'@').collect();
    bytes[places[0]] = 0xff;
    bytes[places[1]] = 0xe4;
    assert_eq!(auto(bytes).texts(), ["bad \u{fffd} \u{fffd} bytes"]);
}

#[test]
fn bad_lines_have_numbers_and_cost_only_themselves() {
    let broken = line("broken", "\"x\"").replace("}}", "}");
    let history = format!(
        "{}\n\n{broken}\n[1,2,3]\nnull\n\"text\"\n{{\"a\":1}}\n{} \r\n\0\0\0\n",
        line("a", "\"一\""),
        line("b", "\"二\"")
    );
    let found = auto(history);
    assert_eq!(found.lines(), [(1, "a", "user", "一"), (8, "b", "user", "二")]);
    assert_eq!(found.bad.len(), 1);
    assert!(matches!(found.bad[0], (3, Reason::Json { column }) if column > 80));
    assert_eq!(
        found.skipped,
        [(4, Rule::NotObject), (5, Rule::NotObject), (6, Rule::NotObject), (7, Rule::Unrecognised)]
    );
    assert!(found.pending.is_empty());
}

#[test]
fn a_broken_first_line_does_not_hide_the_others() {
    let broken = &line("a", "\"x\"")[..40];
    let found = auto(format!("{broken}\n{}\n{}\n", line("b", "\"一\""), line("c", "\"二\"")));
    assert_eq!(found.texts(), ["一", "二"]);
    assert_eq!(found.bad.len(), 1);
}

#[test]
fn a_last_line_is_pending_until_it_is_whole() {
    let start = format!("{}\n", line("a", "\"一\""));
    let last = line("b", "\"写到一半的消息\"");
    for cut in 1..last.len() {
        let mut history = start.clone().into_bytes();
        history.extend(&last.as_bytes()[..cut]);
        let found = auto(history);
        assert_eq!(found.texts(), ["一"], "{cut}");
        assert_eq!(found.pending, [(2, start.len() as u64)], "{cut}");
        assert!(found.bad.is_empty() && found.skipped.is_empty(), "{cut}");
    }
    // Without a line end, too.
    assert_eq!(auto(format!("{start}{last}")).texts(), ["一", "写到一半的消息"]);
    // What is not written on is bad.
    assert_eq!(auto(format!("{start}{}\n", &last[..60])).bad.len(), 1);
}

#[test]
fn depth_is_no_harm() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for value in [&deep, &objects] {
        let found = auto(line(
            "m",
            &format!(
                "[{{\"type\":\"toolCall\",\"arguments\":{value}}},{{\"type\":\"text\",\"text\":\"好\"}}]"
            ),
        ));
        assert_eq!(found.texts(), ["好"]);
        assert!(auto(line("m", value)).messages.is_empty());
        assert!(auto(value).messages.is_empty());
        assert!(auto(&value[..value.len() / 2]).messages.is_empty());
    }
    let rows = auto(format!(r#"{{"session_id":"s","event_json":{objects}}}"#));
    assert_eq!(rows.messages, []);
}

#[test]
fn of_a_key_given_twice_the_last_value_counts() {
    let text = line("a", "\"first\"").replace("\"content\"", "\"content\":\"earlier\",\"content\"");
    assert_eq!(auto(text.replacen('{', "{\"id\":\"z\",", 1)).lines(), [(1, "a", "user", "first")]);
}

#[test]
fn numbers_may_be_ids_and_huge() {
    let text = line("m", "\"好\"").replace("\"m\"", "123456789012345678901234567890").replacen(
        '{',
        "{\"x\":1e999,",
        1,
    );
    assert_eq!(auto(text).messages[0].message_id.as_deref(), Some("123456789012345678901234567890"));
}

#[test]
fn names_that_are_too_long_are_hashed() {
    let id = "i".repeat(100_000);
    let key = "会".repeat(100_000);
    let header = format!(r#"{{"type":"session","id":"{key}"}}"#);
    let found = auto(format!("{header}\n{}\n{}\n", line(&id, "\"一\""), line(&format!("{id}j"), "\"一\"")));
    assert_eq!(found.messages.len(), 2);
    assert_ne!(found.messages[0].message_id, found.messages[1].message_id);
    for message in &found.messages {
        assert!(message.message_id.as_ref().is_some_and(|id| id.len() <= MAX_MESSAGE_ID));
        assert!(message.session_key.len() <= MAX_SESSION_KEY);
    }
    assert_eq!(found.sessions.len(), 1);
}

#[test]
fn session_keys_are_taken_as_they_are() {
    for key in
        ["agent:wa:+8613800000000", "a/b", "A/B", "每日早报 ☀️", "tab\tkey", "%", "'; drop table x; --"]
    {
        let row = serde_json::json!({ "session_key": key, "role": "user", "content": "x" });
        assert_eq!(auto(row.to_string()).messages[0].session_key, key);
    }
}

#[test]
fn times_fall_back_on_the_line_before() {
    let at = |id: &str, time: &str| line(id, "\"x\"").replace("\"2026-03-01T09:00:00Z\"", time);
    let history = [
        "{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"2026-03-01T08:00:00Z\"}".to_owned(),
        at("a", "null"),
        at("b", "\"2026-03-01T10:00:00+01:00\""),
        at("c", "\"2026-02-30\""),
        "{\"type\":\"label\",\"id\":\"l\",\"timestamp\":\"2026-03-01T09:30:00Z\"}".to_owned(),
        at("d", "\"\""),
        at("e", "1772355600"),
        at("f", "\"1772355600123\""),
        at("g", "\"2099-01-01T00:00:00Z\""),
        at("h", "\"2026-03-01T09:00:00Z\""),
    ]
    .join("\n");
    let found = auto(history);
    assert_eq!(
        found.times(),
        [
            "2026-03-01T08:00:00Z",
            "2026-03-01T09:00:00Z",
            "2026-03-01T09:00:00Z",
            "2026-03-01T09:30:00Z",
            "2026-03-01T09:00:00Z",
            "2026-03-01T09:00:00.123Z",
            "2099-01-01T00:00:00Z",
            "2026-03-01T09:00:00Z",
        ]
    );
    let unreadable: Vec<bool> = found.messages.iter().map(|message| message.unreadable_time).collect();
    assert_eq!(unreadable, [false, false, true, true, false, false, false, false]);
    assert_eq!(found.messages[2].time, TimeOrigin::Inherited);
    assert_eq!(found.messages[2].metadata["time"], "inherited");
}

#[test]
fn the_time_within_a_message_counts_when_there_is_no_other() {
    let text = line("a", "\"x\"")
        .replace("\"timestamp\":\"2026-03-01T09:00:00Z\",", "")
        .replace("\"role\"", "\"timestamp\":1772355605117,\"role\"");
    assert_eq!(auto(text).times(), ["2026-03-01T09:00:05.117Z"]);
}

#[test]
fn messages_before_the_first_time_get_it_and_keep_their_place() {
    let history = concat!(
        r#"{"role":"user","content":"a"}"#,
        "\n",
        r#"{"role":"assistant","content":"b"}"#,
        "\n",
        r#"{"role":"user","content":"c","timestamp":1772355600}"#
    );
    let found = auto(history);
    assert_eq!(found.texts(), ["a", "b", "c"]);
    assert!(found.messages.iter().all(|message| message.timestamp == 1_772_355_600_000_000));
    // Not all of them wait for ever.
    let many = r#"{"role":"user","content":"a"}
"#
    .repeat(5_000);
    let found = auto(format!("{many}{history}"));
    assert_eq!(found.messages.len(), 5_003);
    assert_eq!(found.messages[0].time, TimeOrigin::Unknown);
}

#[test]
fn huge_lines_are_read() {
    let history = [
        line("a", &format!("\"{}\"", "长".repeat(2_000_000))),
        line("b", &format!("[{{\"type\":\"image\",\"data\":\"{}\"}}]", "A".repeat(20_000_000))),
        line("c", "\"短\""),
    ]
    .join("\n");
    let found = auto(&history);
    assert_eq!(found.messages.len(), 2);
    assert_eq!(found.messages[0].content.len(), 6_000_000);
    let packed = zstd::encode_all(history.as_bytes(), 1).unwrap();
    assert_eq!(auto(packed), found);
}

#[test]
fn compressed_histories_have_a_limit() {
    let history = format!("{}\n", line("a", "\"好\"")).repeat(10_000);
    let packed = zstd::encode_all(history.as_bytes(), 3).unwrap();
    let options = |max_bytes| Options { max_bytes, ..Options::default() };
    assert_eq!(outcome(&packed, &options(history.len() as u64)).messages.len(), 10_000);
    for limit in [500_000, 1_000] {
        let mut items: Vec<_> = read(&packed, &options(limit)).unwrap().collect();
        assert_eq!(items.pop(), Some(Err(ReadError::TooLong { limit })));
        assert!(items.iter().all(Result::is_ok));
    }
}

#[test]
fn of_a_damaged_compressed_history_the_beginning_is_read() {
    let lines: String =
        (0..20_000).map(|id| line(&id.to_string(), &format!("\"{}\"", id * 7_919)) + "\n").collect();
    let packed = zstd::encode_all(lines.as_bytes(), 3).unwrap();
    let found = auto(&packed[..packed.len() / 2]);
    assert!(found.messages.len() > 1_000 && found.messages.len() < 20_000);
    assert_eq!(found.bad.len(), 1);
    assert_eq!(found.bad[0].1, Reason::Compression);
    assert_eq!(found.bad[0].0, found.messages.len() as u64 + 1);
}

#[test]
fn what_is_no_text_is_refused_with_a_hint() {
    for (bytes, error) in [
        (&b"SQLite format 3\0"[..], ReadError::Sqlite),
        (b"PK\x03\x04\x14", ReadError::Zip),
        (b"\x1f\x8b\x08", ReadError::Gzip),
        (b"\xff\xfe{\0", ReadError::Utf16),
        (b"\x28\xb5\x2f\xfd\xff\xff\xff\xff", ReadError::Compression),
    ] {
        assert_eq!(read(bytes, &Options::default()).err(), Some(error));
        assert!(!error.hint().is_empty() && error.to_string().starts_with("history is"));
    }
}

#[test]
fn items_keep_the_order_of_the_history() {
    let history = format!("{}\n{{\n{}\n", line("a", "\"一\""), line("b", "\"二\""));
    let lines: Vec<u64> = read(history.as_bytes(), &Options::default())
        .unwrap()
        .filter_map(|item| match item.unwrap() {
            Item::Message(message) => Some(message.line),
            Item::Bad { line, .. } => Some(line),
            _ => None,
        })
        .collect();
    assert_eq!(lines, [1, 2, 3]);
}

/// An array of a line of its own is a conversation, however long the line is.
#[test]
fn a_long_line_is_divided_like_a_short_one() {
    for length in [10, 100_000] {
        let first = "长".repeat(length);
        let history = format!(
            "[{{\"role\":\"user\",\"content\":\"{first}\"}}]\n[{{\"role\":\"user\",\"content\":\"b\"}}]\n[{{\"role\":\"user\",\"content\":\"c\"}}]\n"
        );
        let packed = zstd::encode_all(history.as_bytes(), 3).unwrap();
        for found in [auto(&history), auto(packed)] {
            let mut keys: Vec<&str> = found.messages.iter().map(|m| m.session_key.as_str()).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), 3, "{length}");
        }
    }
}

#[test]
fn unnamed_conversations_with_the_same_first_words_are_two() {
    let list = |answer: &str| {
        format!(r#"[{{"role":"user","content":"hi"}},{{"role":"assistant","content":"{answer}"}}]"#)
    };
    let found = auto(format!("{}\n{}\n", list("a"), list("b")));
    assert_eq!(found.texts(), ["hi", "a", "hi", "b"]);
    let key = |place: usize| found.messages[place].session_key.as_str();
    assert_eq!(key(0), key(1));
    assert_eq!(key(2), key(3));
    assert_ne!(key(0), key(2));
    // The same for a longer history.
    let longer = auto(format!("{}\n{}\n{}\n", list("a"), list("b"), list("c")));
    assert_eq!(longer.messages[..4], found.messages[..]);
}

#[test]
fn what_can_never_be_completed_is_bad_and_not_pending() {
    for text in ["{\"a\": oops", "{\"type\":\"message\"} x", "oops", "{\"a\":1}}"] {
        let found = auto(text);
        assert_eq!((found.bad.len(), found.pending.len()), (1, 0), "{text}");
    }
    for text in ["{\"a\": \"b", "{\"a\": tru", "{\"a\": \"tab\t", "{\"a\": \"\\ud83d", "{\"a\": \"\\"] {
        let found = auto(text);
        assert_eq!((found.bad.len(), found.pending.len()), (0, 1), "{text}");
    }
}

#[test]
fn the_byte_of_a_bad_line_is_counted_in_the_line() {
    let column = |line: &[u8]| match auto(line).bad[..] {
        [(1, Reason::Json { column })] => column,
        ref bad => panic!("{bad:?}"),
    };
    let bare = column(b"{\"a\": oops}\n");
    assert_eq!(column(b"   \t{\"a\": oops}\n"), bare + 4);
    assert_eq!(column(b"{\"\xff\": oops}\n"), bare);
    assert_eq!(column(b"{\"\xf0\x9f\": oops}\n"), bare + 1);
}

/// A caller is asked between blank lines, too.
#[test]
fn blank_lines_can_be_given_up() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static PAUSES: AtomicUsize = AtomicUsize::new(0);
    let pause = || {
        PAUSES.fetch_add(1, Ordering::Relaxed);
    };
    assert!(outcome("\n".repeat(1_000), &Options { pause, ..Options::default() }).messages.is_empty());
    assert!(PAUSES.load(Ordering::Relaxed) >= 1_000);
}
