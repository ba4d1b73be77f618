//! Message arrays as the OpenAI and Anthropic interfaces take them: one message a line, an array, or objects with a
//! member `messages`, each of them a conversation.
//!
//! The two differ in nothing that matters here; which one it is only names the source.

use crate::context::{Context, Draft, Metadata};
use crate::json::{self, Error};
use crate::speech::{Speech, Strings};
use crate::{Format, Reason, Rule};

/// Members that only Anthropic's messages have, and those that only OpenAI's have.
const ANTHROPIC: [&[u8]; 5] =
    [b"\"tool_use\"", b"\"tool_result\"", b"\"thinking\"", b"\"redacted_thinking\"", b"\"media_type\""];
const OPENAI: [&[u8]; 4] = [b"\"tool_calls\"", b"\"image_url\"", b"\"system\"", b"\"developer\""];

/// Whose messages they are, by the beginning of the history.
pub(crate) fn dialect(prefix: &[u8]) -> Format {
    let any = |words: &[&[u8]]| words.iter().any(|word| memchr::memmem::find(prefix, word).is_some());
    if any(&ANTHROPIC) && !any(&OPENAI) {
        Format::Anthropic
    } else {
        Format::OpenAi
    }
}

/// Reads one record, an object or an array of messages; `false` if it is neither.
pub(crate) fn read(context: &mut Context, record: &str, format: Format) -> Result<bool, Error> {
    if json::kind(record) == b'[' {
        json::check(record)?;
        return Ok(read_list(context, record, None, format));
    }
    let [messages, role, session_key, session_id, conversation_id, id, title] = json::record(
        record,
        &["messages", "role", "session_key", "session_id", "conversation_id", "id", "title"],
    )?;
    let session_id = session_id.or(conversation_id);
    let names = [session_key, session_id];
    if let Some(messages) = messages.filter(|messages| json::kind(messages) == b'[') {
        let key = names.into_iter().chain([id]).find_map(|name| name.and_then(json::scalar));
        let title = title.and_then(json::scalar);
        return Ok(read_list(context, messages, key.as_deref().map(|key| (key, title.as_deref())), format));
    }
    if role.is_none() {
        return Ok(false);
    }
    if let Some(key) = names.into_iter().find_map(|name| name.and_then(json::scalar)) {
        context.enter(&key, session_id.and_then(json::scalar).as_deref(), None);
    }
    read_message(context, record, format);
    Ok(true)
}

/// A conversation of its own, with its key and title if it has them.
fn read_list(context: &mut Context, list: &str, name: Option<(&str, Option<&str>)>, format: Format) -> bool {
    let speaks = |message: &str| json::members(message, &["role"]) != [None];
    if json::elements(list).next().is_some() && !json::elements(list).any(speaks) {
        return false;
    }
    context.begin();
    if let Some((key, title)) = name {
        context.enter(key, Some(key), title);
    }
    for message in json::elements(list) {
        if json::kind(message) == b'{' {
            read_message(context, message, format);
        } else {
            context.bad(Reason::NotObject);
        }
    }
    true
}

fn read_message(context: &mut Context, message: &str, format: Format) {
    let [role, content, name, id, message_id, timestamp, created_at, create_time, created, tools, model] =
        json::members(
            message,
            &[
                "role",
                "content",
                "name",
                "id",
                "message_id",
                "timestamp",
                "created_at",
                "create_time",
                "created",
                "tool_calls",
                "model",
            ],
        );
    let moment = context.moment(&[timestamp, created_at, create_time, created]);
    let role = match role.and_then(json::string).as_deref() {
        Some("user") => "user",
        Some("assistant") => "assistant",
        Some("system" | "developer") => {
            context.skip(Rule::SystemRole);
            return;
        }
        _ => {
            context.skip(Rule::NotSpeech);
            return;
        }
    };
    let speech = Speech::of(content, Strings::Count);
    if speech.text.is_empty() {
        let silent = speech.others || tools.is_some();
        context.skip(if silent { Rule::NotSpeech } else { Rule::NoText });
        return;
    }
    let mut metadata = Metadata::default();
    metadata.json("model", model);
    context.say(Draft {
        role,
        content: speech.text,
        moment,
        id: message_id.or(id).and_then(json::scalar),
        part_of: None,
        complete: true,
        source: format.name(),
        channel: None,
        sender: name.and_then(json::scalar),
        metadata,
        raw: message,
    });
}
