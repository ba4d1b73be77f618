//! What each format gives, by small histories that have everything in them the format is known for.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{auto, outcome, time};
use memory_archive::{Format, KeyOrigin, Options, Reason, Rule, TimeOrigin, Zone};

const OPENCLAW: &str = include_str!("fixtures/openclaw.jsonl");
const HOOKS: &str = include_str!("fixtures/openclaw_hooks.jsonl");
const CLAUDE: &str = include_str!("fixtures/claude_code.jsonl");
const RESUMED: &str = include_str!("fixtures/claude_code_resumed.jsonl");
const CHATGPT: &str = include_str!("fixtures/chatgpt.json");
const OPENAI: &str = include_str!("fixtures/openai.jsonl");
const ANTHROPIC: &str = include_str!("fixtures/anthropic.jsonl");

fn with(format: Format) -> Options {
    Options { format, ..Options::default() }
}

#[test]
fn openclaw_keeps_what_was_said() {
    let found = auto(OPENCLAW);
    assert_eq!(
        found.lines(),
        [
            (4, "b1", "user", "番茄什么时候移栽？"),
            (5, "b2", "assistant", "我先查一下笔记。"),
            (7, "b4", "assistant", "四月十五日以后。\n先炼苗一周。"),
            (
                10,
                "b7",
                "user",
                "Conversation info (untrusted metadata):\n```json\n{\n  \"message_id\": \"77\"\n}\n```\n\n提醒我买土"
            ),
            (12, "b9", "assistant", "[[reply_to_current]] 记下了，周六提醒你。"),
            (13, "b10", "user", "看看这片叶子"),
            (15, "b11", "user", "没事就只回 HEARTBEAT_OK"),
            (19, "b14", "user", "买了 3 袋土"),
            (20, "b15", "user", "买了 4 袋土"),
        ]
    );
    assert_eq!(
        found.skipped,
        [
            (2, Rule::NotSpeech),
            (3, Rule::NotSpeech),
            (6, Rule::NotSpeech),
            (8, Rule::DeliveryMirror),
            (9, Rule::DeliveryMirror),
            (11, Rule::NotSpeech),
            (14, Rule::NotSpeech),
            (16, Rule::SilentReply),
            (17, Rule::SilentReply),
            (18, Rule::NotSpeech),
            (21, Rule::NotSpeech),
        ]
    );
    assert!(found.bad.is_empty() && found.pending.is_empty());
    let first = &found.messages[0];
    assert_eq!(first.session_key, "session-1");
    assert_eq!(time(first.timestamp), "2026-03-01T09:00:05.12Z");
    assert_eq!((first.source, first.time, first.raw.as_deref()), ("openclaw", TimeOrigin::Own, None));
    let metadata = |name| found.messages[1].metadata.get(name).and_then(|value| value.as_str());
    assert_eq!(metadata("parent_id"), Some("b1"));
    assert_eq!(metadata("model"), Some("m-8b"));
    assert_eq!(metadata("session_id"), Some("session-1"));
    assert_eq!(metadata("time"), None);
}

#[test]
fn a_header_alone_is_a_session_without_messages() {
    let header = OPENCLAW.lines().next().unwrap();
    let found = auto(header);
    assert!(found.messages.is_empty() && found.skipped.is_empty());
    assert_eq!(found.sessions.len(), 1);
    assert_eq!((found.sessions[0].key.as_str(), found.sessions[0].origin), ("session-1", KeyOrigin::Named));
    assert_eq!(auto(""), common::Outcome::default());
    assert_eq!(auto("\u{feff}\n \n\r\n"), common::Outcome::default());
}

/// The lines of a session file as rows of `transcript_events`.
fn rows(notation: impl Fn(&str) -> serde_json::Value, column: &str) -> Vec<String> {
    OPENCLAW
        .lines()
        .enumerate()
        .map(|(seq, line)| {
            let mut row = serde_json::json!({
                "session_id": "session-1",
                "session_key": "agent:main:telegram:group:-5:topic:1",
                "seq": seq,
                "created_at": 1_772_355_600_000_i64,
            });
            row[column] = notation(line);
            row.to_string()
        })
        .collect()
}

#[test]
fn rows_of_openclaw_give_what_its_lines_give() {
    let lines = auto(OPENCLAW);
    let packed = |line: &str| zstd::encode_all(line.as_bytes(), 3).unwrap();
    let as_text = rows(|line| line.into(), "event_json");
    let as_object = rows(|line| serde_json::from_str(line).unwrap(), "event_json");
    let hex = |line: &str| packed(line).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let latin1 = |line: &str| packed(line).iter().map(|byte| char::from(*byte)).collect::<String>();
    let as_hex = rows(|line| hex(line).into(), "event_zstd");
    let as_latin1 = rows(|line| latin1(line).into(), "event_zstd");
    for rows in [as_text, as_object, as_hex, as_latin1] {
        for history in
            [rows.join("\n"), format!("[{}]", rows.join(",\n")), format!("[\n{}\n]\n", rows.join(",\n"))]
        {
            let found = auto(&history);
            assert_eq!(found.texts(), lines.texts());
            assert_eq!(found.times(), lines.times());
            assert!(found.bad.is_empty());
            let message = &found.messages[0];
            assert_eq!(message.session_key, "agent:main:telegram:group:-5:topic:1");
            assert_eq!(message.message_id.as_deref(), Some("b1"));
            assert_eq!(message.channel.as_deref(), Some("telegram"));
            assert_eq!(found.sessions.len(), 1);
            assert_eq!(found.sessions[0].id.as_deref(), Some("session-1"));
        }
    }
}

#[test]
fn a_row_that_cannot_be_unpacked_costs_only_itself() {
    let history = format!(
        "{}\n{}\n",
        r#"{"session_id":"s","event_zstd":"28b52ffd00","seq":1}"#,
        r#"{"session_id":"s","created_at":1772355600000,"event_json":"{\"type\":\"message\",\"id\":\"m\",\"message\":{\"role\":\"user\",\"content\":\"好\"}}","seq":2}"#
    );
    let found = auto(history);
    assert_eq!(found.bad, [(1, Reason::Event)]);
    assert_eq!(found.texts(), ["好"]);
    assert_eq!(found.times(), ["2026-03-01T09:00:00Z"]);
}

#[test]
fn hooks_are_a_source_of_their_own() {
    let found = auto(HOOKS);
    assert_eq!(
        found.lines(),
        [
            (1, "76", "user", "番茄什么时候移栽？"),
            (2, "77", "user", "提醒我买土"),
            (3, "9002", "assistant", "记下了，周六提醒你。"),
            (5, "88", "user", "<media:audio>"),
        ]
    );
    assert_eq!(found.skipped, [(4, Rule::Undelivered)]);
    assert_eq!(found.times()[0], "2026-03-01T09:00:04.31Z");
    assert_eq!(found.times()[3], "2026-03-01T13:00:00Z");
    for message in &found.messages {
        assert_eq!(message.source, "openclaw_hooks");
        assert_eq!(message.session_key, "agent:main:main");
        assert_eq!(message.channel.as_deref(), Some("telegram"));
        assert_eq!(message.sender.as_deref(), (message.role == "user").then_some("900"));
    }
}

#[test]
fn a_hook_and_a_transcript_of_one_message_compare_equal() {
    let transcript = auto(OPENCLAW).messages;
    let hooks = auto(HOOKS).messages;
    let twins: Vec<bool> = hooks
        .iter()
        .map(|hook| {
            transcript.iter().any(|message| {
                message.role == hook.role
                    && message.fingerprint == hook.fingerprint
                    && message.timestamp.abs_diff(hook.timestamp) <= 5_000_000
            })
        })
        .collect();
    assert_eq!(twins, [true, true, true, false]);
}

#[test]
fn claude_code_keeps_what_was_said() {
    let found = auto(CLAUDE);
    assert_eq!(
        found.lines(),
        [
            (3, "u1", "user", "把 sitemap 修好"),
            (5, "u3", "assistant", "我先读一下。"),
            (8, "u6", "assistant", "修好了。"),
        ]
    );
    assert_eq!(
        found.rules(),
        [
            Rule::NotSpeech,
            Rule::NotSpeech,
            Rule::NotSpeech,
            Rule::NotSpeech,
            Rule::NotSpeech,
            Rule::Command,
            Rule::NotSpeech,
            Rule::Compaction,
            Rule::Meta,
            Rule::Sidechain,
            Rule::Synthetic,
        ]
    );
    let second = &found.messages[1];
    assert_eq!((second.session_key.as_str(), second.source), ("first", "claude_code"));
    assert_eq!(second.part_of.as_deref(), Some("msg_1"));
    let metadata = |name| second.metadata.get(name).and_then(|value| value.as_str());
    assert_eq!(metadata("cwd"), Some("/home/li/青石科技"));
    assert_eq!(metadata("git_branch"), Some("main"));
    assert_eq!(metadata("api_message_id"), Some("msg_1"));
}

#[test]
fn a_longer_snapshot_takes_the_place_of_a_shorter_one() {
    let found = auto(RESUMED);
    assert_eq!(
        found.lines(),
        [
            (1, "u1", "user", "把 sitemap 修好"),
            (2, "u3", "assistant", "我先读一下。"),
            (3, "u6", "assistant", "修好了。"),
            (4, "u21", "user", "上线了吗"),
            (6, "u23", "assistant", "上线了，一切正常。"),
            // The same API message, but other words.
            (7, "u24", "assistant", "还要提交给搜索引擎吗？"),
        ]
    );
    assert_eq!(found.messages[4].supersedes, ["u22"]);
    assert_eq!(found.skipped, [(5, Rule::Snapshot)]);
}

#[test]
fn snapshots_in_any_order_give_the_longest() {
    let mut lines: Vec<&str> = RESUMED.lines().skip(3).take(3).collect();
    lines.swap(1, 2);
    let found = auto(lines.join("\n"));
    assert_eq!(found.texts(), ["上线了吗", "上线了，一切正常。"]);
    assert_eq!(found.messages[1].supersedes, ["u22"]);
    // A result of a tool in between does not part them.
    lines.insert(2, CLAUDE.lines().nth(6).unwrap());
    assert_eq!(auto(lines.join("\n")).texts(), ["上线了吗", "上线了，一切正常。"]);
}

/// Blocks of one API message are no snapshots of each other because one begins with the words of another.
#[test]
fn blocks_of_one_message_all_stay() {
    let line = |id: &str, stop: &str, block: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","sessionId":"s","timestamp":"2026-03-01T09:00:00Z","message":{{"id":"msg_1","role":"assistant","stop_reason":{stop},"content":[{block}]}}}}"#
        )
    };
    let text =
        |id: &str, stop: &str, text: &str| line(id, stop, &format!(r#"{{"type":"text","text":"{text}"}}"#));
    let tool = line("t", "null", r#"{"type":"tool_use","id":"c","name":"read","input":{}}"#);
    let (short, long, other) =
        (text("a", "null", "好"), text("b", "null", "好的，改完了"), text("c", "null", "等等"));
    for (lines, expected) in [
        (vec![&short, &tool, &long], vec!["好", "好的，改完了"]),
        (vec![&long, &tool, &short], vec!["好的，改完了", "好"]),
        (vec![&short, &other, &long], vec!["好", "等等", "好的，改完了"]),
        (vec![&long, &other, &short], vec!["好的，改完了", "等等", "好"]),
        (vec![&text("a", "\"end_turn\"", "好"), &long], vec!["好", "好的，改完了"]),
        (vec![&short, &long, &other], vec!["好的，改完了", "等等"]),
    ] {
        let lines: Vec<&str> = lines.into_iter().map(String::as_str).collect();
        let found = auto(lines.join("\n"));
        assert_eq!(found.texts(), expected);
        // All but the last are whole: no row that is stored may swallow them.
        assert!(found.messages.iter().rev().skip(1).all(|message| !message.may_grow));
    }
}

/// What a store holds after histories were read into it one after the other, by the rules of the crate.
fn stored(histories: &[&str]) -> Vec<String> {
    let mut rows: Vec<memory_archive::Message> = Vec::new();
    for history in histories {
        for message in auto(history).messages {
            let prefix = |row: &memory_archive::Message| {
                message.may_grow
                    && row.part_of == message.part_of
                    && row.content.starts_with(&message.content)
            };
            if rows.iter().any(|row| row.message_id == message.message_id || prefix(row)) {
                continue;
            }
            let id = |row: &memory_archive::Message| row.message_id.clone().unwrap_or_default();
            match rows.iter().position(|row| message.supersedes.contains(&id(row))) {
                Some(place) => rows[place] = message,
                None => rows.push(message),
            }
        }
    }
    let mut texts: Vec<String> = rows.into_iter().map(|row| row.content).collect();
    texts.sort();
    texts
}

#[test]
fn resumed_sessions_give_the_same_texts_in_every_order() {
    // A session file that was read while it was written, too.
    let cut: String = RESUMED.lines().take(5).flat_map(|line| [line, "\n"]).collect();
    let expected = stored(&[CLAUDE, RESUMED]);
    assert_eq!(expected.len(), 6);
    for order in [
        [CLAUDE, RESUMED, &cut],
        [RESUMED, CLAUDE, &cut],
        [&cut, RESUMED, CLAUDE],
        [&cut, CLAUDE, RESUMED],
        [RESUMED, &cut, CLAUDE],
        [CLAUDE, &cut, RESUMED],
    ] {
        assert_eq!(stored(&order), expected);
    }
}

#[test]
fn folders_with_the_same_name_are_different_sessions() {
    let other = CLAUDE.replace("青石科技", "白云实业").replace("\"first\"", "\"third\"");
    let found = auto(format!("{CLAUDE}{other}"));
    let keys: Vec<&str> = found.sessions.iter().map(|session| session.key.as_str()).collect();
    assert_eq!(keys, ["first", "third"]);
    assert_eq!(found.messages[3].metadata["cwd"], "/home/li/白云实业");
}

#[test]
fn words_behind_a_command_are_the_persons() {
    let line = CLAUDE.lines().nth(8).unwrap().replace("<command-args>", "<command-args>明天下雨吗");
    assert_eq!(auto(line).messages.len(), 1);
}

#[test]
fn chatgpt_keeps_the_path_that_was_seen() {
    let found = auto(CHATGPT);
    let ids: Vec<(&str, &str, &str)> = found
        .messages
        .iter()
        .map(|m| (m.session_key.as_str(), m.message_id.as_deref().unwrap(), m.content.as_str()))
        .collect();
    assert_eq!(
        ids,
        [
            ("conversation-1", "u1", "番茄怎么移栽？"),
            ("conversation-1", "a2", "埋到第一片真叶。"),
            ("conversation-1", "u2", "听得到吗\n这是照片"),
            ("conversation-1", "a4", "长得很好。"),
            ("conversation-2", "x1", "没有时间"),
            ("conversation-2", "x2", "照样留下"),
            ("conversation-3", "y1", "转圈"),
            ("conversation-3", "y2", "停下"),
            ("conversation-5", "z1", "最后一句"),
        ]
    );
    assert_eq!(
        found.times()[..6],
        [
            "2026-03-01T09:00:05.2Z",
            "2026-03-01T09:00:20.75Z",
            // It has no time: that of the message before.
            "2026-03-01T09:00:20.75Z",
            "2026-03-01T09:03:20.5Z",
            // Nor has this one, and nothing is before it: that of the message behind it.
            "2026-03-01T10:13:20Z",
            "2026-03-01T10:13:20Z",
        ]
    );
    assert_eq!(found.messages[2].time, TimeOrigin::Inherited);
    assert_eq!(found.messages[4].time, TimeOrigin::Following);
    assert_eq!(found.messages[4].metadata["time"], "following");
    assert_eq!(found.messages[0].metadata["title"], "番茄");
    assert_eq!(found.messages[1].metadata["model"], "gpt-x");
    assert_eq!(found.rules(), [Rule::Hidden, Rule::NotSpeech, Rule::NotSpeech, Rule::OtherBranch]);
    assert_eq!(found.bad, [(37, Reason::NoTree), (38, Reason::NotObject)]);
    assert_eq!(found.sessions.len(), 4);
}

#[test]
fn one_conversation_may_stand_alone() {
    let all: Vec<serde_json::Value> = serde_json::from_str(CHATGPT).unwrap();
    for history in
        [all[0].to_string(), serde_json::to_string_pretty(&all[0]).unwrap(), format!("[{}]", all[0])]
    {
        assert_eq!(auto(&history).texts().len(), 4);
    }
    assert_eq!(auto(serde_json::to_string_pretty(&all).unwrap()).texts().len(), 9);
    assert_eq!(auto(serde_json::to_string(&all).unwrap()).texts().len(), 9);
    // An export that is still being copied gives what is there.
    let text = serde_json::to_string(&all).unwrap();
    let found = auto(&text[..text.len() - 20]);
    assert_eq!((found.texts().len(), found.pending.len()), (8, 1));
}

#[test]
fn message_arrays_come_in_three_shapes() {
    let lines: Vec<&str> = OPENAI.lines().collect();
    let array = format!("[{}]", lines.join(", "));
    let printed: Vec<serde_json::Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for history in [
        OPENAI.to_owned(),
        array.clone(),
        format!("{{\"model\":\"gpt-x\",\"messages\":{array}}}"),
        serde_json::to_string_pretty(&printed).unwrap(),
        serde_json::to_string_pretty(&serde_json::json!({ "messages": printed })).unwrap(),
    ] {
        let found = auto(&history);
        assert_eq!(found.texts(), ["明天下雨吗？", "会下雨。", "那\n要浇水吗", "不用。"]);
        assert_eq!(found.rules(), [Rule::SystemRole, Rule::NotSpeech, Rule::NotSpeech, Rule::SystemRole]);
        assert_eq!(found.times()[2..], ["2026-03-01T09:01:00Z", "2026-03-01T09:01:00Z"]);
        assert_eq!(found.messages[2].sender.as_deref(), Some("li"));
        assert_eq!((found.messages[0].source, &found.messages[0].message_id), ("openai", &None));
        assert_eq!(found.sessions.len(), 1);
        assert_eq!(found.sessions[0].origin, KeyOrigin::Derived);
    }
}

#[test]
fn each_object_with_messages_is_a_conversation() {
    let history = concat!(
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#,
        "\n",
        r#"{"id":"named","title":"t","messages":[{"role":"user","content":"a"},7]}"#,
        "\n",
        r#"[{"role":"user","content":"c"}]"#,
        "\n",
        r#"{"messages":[]}"#,
        "\n",
    );
    let found = auto(history);
    assert_eq!(found.texts(), ["a", "b", "a", "c"]);
    let keys: Vec<KeyOrigin> = found.sessions.iter().map(|session| session.origin).collect();
    assert_eq!(keys, [KeyOrigin::Derived, KeyOrigin::Named, KeyOrigin::Derived]);
    assert_eq!(found.sessions[1].title.as_deref(), Some("t"));
    assert_eq!(found.bad, [(2, Reason::NotObject)]);
}

#[test]
fn messages_without_id_and_time_are_told_apart() {
    let found = auto(ANTHROPIC);
    assert_eq!(
        found.texts(),
        ["读一下 garden.md", "好的。", "里面只有番茄。", "好的", "还有别的吗？", "好的"]
    );
    assert_eq!(found.rules(), [Rule::NotSpeech, Rule::NoText]);
    let mut ids: Vec<_> = found.messages.iter().map(|message| message.message_id.clone().unwrap()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
    for message in &found.messages {
        assert_eq!((message.source, message.timestamp), ("anthropic", 0));
        assert_eq!((message.time, message.metadata["time"].as_str()), (TimeOrigin::Unknown, Some("unknown")));
    }
    // The longer history has the same ids in the same session.
    let longer = auto(format!("{ANTHROPIC}{{\"role\":\"user\",\"content\":\"好的\"}}\n"));
    let keys = |found: &common::Outcome| -> Vec<_> {
        found.messages.iter().map(|m| (m.session_key.clone(), m.message_id.clone())).collect()
    };
    assert_eq!(keys(&longer)[..6], keys(&found));
    assert!(!keys(&found).contains(&keys(&longer)[6]));
}

#[test]
fn files_behind_each_other_are_each_read() {
    let found = auto(format!("{OPENCLAW}\u{feff}{CLAUDE}{HOOKS}{OPENAI}"));
    let sources: Vec<&str> = found.messages.iter().map(|message| message.source).collect();
    for (source, count) in [("openclaw", 9), ("claude_code", 3), ("openclaw_hooks", 4), ("openai", 4)] {
        assert_eq!(sources.iter().filter(|name| **name == source).count(), count, "{source}");
    }
}

#[test]
fn a_format_reads_only_its_own() {
    for (format, history, count) in [
        (Format::OpenClaw, OPENCLAW, 9),
        (Format::OpenClawHooks, HOOKS, 4),
        (Format::ClaudeCode, CLAUDE, 3),
        (Format::ChatGpt, CHATGPT, 9),
        (Format::OpenAi, OPENAI, 4),
        (Format::Anthropic, ANTHROPIC, 6),
    ] {
        let found = outcome(history, &with(format));
        assert_eq!(found.messages.len(), count, "{format:?}");
        assert!(found.messages.iter().all(|message| message.source == format.name()));
    }
    let found = outcome(OPENAI, &with(Format::ClaudeCode));
    assert!(found.messages.is_empty() && found.skipped.iter().all(|(_, rule)| *rule == Rule::Unrecognised));
    assert_eq!(outcome(OPENAI, &with(Format::Anthropic)).messages[0].source, "anthropic");
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!("whatsapp".parse::<Format>().is_err());
}

#[test]
fn options_decide() {
    let options = Options {
        session_key: Some("agent:main:feishu:group:oc_1".to_owned()),
        channel: Some("desk".to_owned()),
        keep_raw: true,
        ..Options::default()
    };
    let found = outcome(OPENCLAW, &options);
    assert_eq!(found.sessions.len(), 1);
    assert_eq!(
        (found.sessions[0].origin, found.sessions[0].id.as_deref()),
        (KeyOrigin::Given, Some("session-1"))
    );
    let first = &found.messages[0];
    assert_eq!(first.session_key, "agent:main:feishu:group:oc_1");
    assert_eq!(first.raw.as_deref(), OPENCLAW.lines().nth(3));
    assert_eq!(first.channel.as_deref(), Some("feishu"));
    assert_eq!(outcome(OPENAI, &options).messages[0].channel.as_deref(), Some("desk"));
    assert_eq!(outcome(OPENAI, &options).messages[0].session_key, first.session_key);
    let naive = r#"{"role":"user","content":"x","timestamp":"2026-03-01 17:00:00"}"#;
    let zone = Zone::named("Asia/Shanghai").unwrap();
    assert_eq!(outcome(naive, &Options { zone, ..Options::default() }).times(), ["2026-03-01T09:00:00Z"]);
    assert_eq!(auto(naive).times(), ["2026-03-01T17:00:00Z"]);
}
