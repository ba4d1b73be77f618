//! How fast histories are read, in MB/s of one core: `cargo run --release -p memory_archive --example speed [MB]`.
//!
//! It makes its histories up: nothing of it says how fast a store takes the messages.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::Instant;

use memory_archive::{read, Item, Options};
use serde_json::{json, Value};

/// An OpenClaw session of about so many bytes. Of eight lines two are results of tools, `result` bytes each.
fn openclaw(bytes: usize, result: usize) -> String {
    let say = |words: &str| json!({"type": "text", "text": words});
    let answer = |blocks: Value| {
        json!({
            "role": "assistant", "content": blocks, "api": "openai-completions", "provider": "local",
            "model": "m-8b", "usage": {"input": 5120, "output": 88, "cost": {"input": 0, "output": 0}},
            "stopReason": "stop", "timestamp": 1_772_355_600_000_i64
        })
    };
    let thinking = json!({"type": "thinking", "thinking": "先看模板，再看 guid。"});
    let call = json!({"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a/b/c.xml"}});
    let tool = "<item>第一行\n\tsecond line</item>".repeat(result / 40 + 1);
    let tool = json!({"role": "toolResult", "toolCallId": "c1", "content": [say(&tool)], "isError": false});
    let turn = [
        json!({"role": "user", "content": [say("早，帮我看下博客的订阅为什么重复")]}),
        answer(json!([thinking, say("早！我先看一下模板。"), call])),
        tool.clone(),
        answer(json!([call])),
        tool,
        answer(json!([say(
            "找到了：`guid` 里拼了时间戳，每次构建都会变。\n\n改成：\n```xml\n<guid>x</guid>\n```"
        )])),
        json!({"role": "user", "content": "好的，谢谢你"}),
        answer(json!([say("不客气，下一次构建后再看一眼就知道有没有用了。")])),
    ]
    .map(|message| message.to_string());
    let mut text =
        String::from("{\"type\":\"session\",\"id\":\"s1\",\"timestamp\":\"2026-03-01T09:00:00Z\"}\n");
    for (id, message) in turn.iter().cycle().enumerate() {
        if text.len() >= bytes {
            break;
        }
        let (hours, minutes, seconds) = (id / 3_600 % 24, id / 60 % 60, id % 60);
        text.push_str(&format!(
            r#"{{"type":"message","id":"b{id:07}","parentId":"b{:07}","#,
            id.saturating_sub(1)
        ));
        text.push_str(&format!(r#""timestamp":"2026-03-01T{hours:02}:{minutes:02}:{seconds:02}.120Z","#));
        text.push_str(&format!("\"message\":{message}}}\n"));
    }
    text
}

fn measure(name: &str, bytes: &[u8], unpacked: usize) {
    let start = Instant::now();
    let mut messages = 0u64;
    for item in read(bytes, &Options::default()).unwrap() {
        messages += u64::from(matches!(item.unwrap(), Item::Message(_)));
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:28} {:6.0} MB/s  {:8.0} messages/s  ({messages} messages of {} MB)",
        unpacked as f64 / 1e6 / seconds,
        messages as f64 / seconds,
        unpacked / 1_000_000
    );
}

fn main() {
    let megabytes: usize = std::env::args().nth(1).map_or(100, |text| text.parse().unwrap());
    for (name, result) in
        [("short results of tools", 100), ("results of 2 KB", 2_000), ("results of 20 KB", 20_000)]
    {
        let text = openclaw(megabytes * 1_000_000, result);
        measure(name, text.as_bytes(), text.len());
        if result == 2_000 {
            let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
            measure("the same, compressed", &packed, text.len());
        }
    }
}
