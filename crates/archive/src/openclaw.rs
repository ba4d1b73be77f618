//! OpenClaw: lines of session files, rows of the SQLite table that replaced them, and hook events.
//!
//! A row wraps the same event as a line: as text or as an object in `event_json`, or compressed in `event_zstd`.

use std::borrow::Cow;

use crate::context::{Context, Draft, Metadata};
use crate::json::{self, Error};
use crate::speech::{Speech, Strings};
use crate::{blob, Format, Reason, Rule};

/// Events that are no speech. Others that are not known are reported as such.
const SILENT: [&str; 11] = [
    "model_change",
    "thinking_level_change",
    "custom",
    "custom_message",
    "compaction",
    "branch_summary",
    "label",
    "session_info",
    "reset",
    "leaf",
    "active_tools_change",
];
/// Models that repeat what was said already.
const MIRRORS: [&str; 2] = ["delivery-mirror", "gateway-injected"];
/// Answers that mean none.
const SILENCE: [&str; 2] = ["NO_REPLY", "HEARTBEAT_OK"];
/// The third part of a session key is a channel if the fourth is one of these.
const PLACES: [&str; 5] = ["direct", "dm", "group", "channel", "thread"];

/// Reads one record; `false` if it is nothing of OpenClaw's.
pub(crate) fn read(context: &mut Context, record: &str) -> Result<bool, Error> {
    let [kind, id, parent, timestamp, message, hook, event_json, event, event_zstd, session_id, session_key, created_at] =
        json::record(
            record,
            &[
                "type",
                "id",
                "parentId",
                "timestamp",
                "message",
                "context",
                "event_json",
                "event",
                "event_zstd",
                "session_id",
                "session_key",
                "created_at",
            ],
        )?;
    let Some(event) = event_json.or(event_zstd).or(event.filter(|event| json::kind(event) == b'{')) else {
        return Ok(if hook.is_some_and(|hook| json::kind(hook) == b'{') {
            read_hook(context, record)
        } else {
            let event = Event { id, parent, timestamp, message, created_at: None, raw: record };
            read_event(context, kind, &event, Origin::Line)
        });
    };
    let id = session_id.and_then(json::scalar);
    if let Some(key) = session_key.and_then(json::scalar).or_else(|| id.clone()) {
        context.enter(&key, id.as_deref(), None);
    }
    let event = match json::kind(event) {
        b'{' => Cow::Borrowed(event),
        _ => match json::exact(event).and_then(|text| blob::event(text, context.options.max_bytes)) {
            Some(event) => event,
            None => {
                context.bad(Reason::Event);
                return Ok(true);
            }
        },
    };
    match read_row(context, &event, created_at, record) {
        Err(error) => match json::repair(&event) {
            Some(repaired) => read_row(context, &repaired, created_at, record).map_err(|_| error),
            None => Err(error),
        },
        read => read,
    }
}

/// Reads the event that a row holds.
fn read_row(context: &mut Context, event: &str, created_at: Option<&str>, raw: &str) -> Result<bool, Error> {
    let [kind, id, parent, timestamp, message] =
        json::record(event, &["type", "id", "parentId", "timestamp", "message"])?;
    let event = Event { id, parent, timestamp, message, created_at, raw };
    Ok(read_event(context, kind, &event, Origin::Row))
}

/// Where an event stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// In a line of its own.
    Line,
    /// In a row that has named the session, maybe by a better key than the event knows.
    Row,
}

struct Event<'a> {
    id: Option<&'a str>,
    parent: Option<&'a str>,
    timestamp: Option<&'a str>,
    message: Option<&'a str>,
    created_at: Option<&'a str>,
    /// What it was read from.
    raw: &'a str,
}

fn read_event(context: &mut Context, kind: Option<&str>, event: &Event<'_>, origin: Origin) -> bool {
    let Some(kind) = kind.and_then(json::string) else { return false };
    let places = [event.timestamp, event.created_at];
    match (kind.as_ref(), event.message.filter(|message| json::kind(message) == b'{')) {
        ("message", Some(message)) => read_message(context, message, event),
        ("session", _) => match event.id.and_then(json::scalar) {
            Some(id) if origin == Origin::Line => {
                context.begin();
                context.enter(&id, Some(&id), None);
                context.moment(&places);
            }
            _ => {
                context.moment(&places);
                context.skip(Rule::NotSpeech);
            }
        },
        (kind, _) if SILENT.contains(&kind) => {
            context.moment(&places);
            context.skip(Rule::NotSpeech);
        }
        (kind, _) => {
            // Claude Code, too, has lines with a type; those have no id under this name.
            if event.id.is_none() && origin == Origin::Line && kind != "message" {
                return false;
            }
            context.moment(&places);
            context.skip(Rule::Unrecognised);
        }
    }
    true
}

fn read_message(context: &mut Context, message: &str, event: &Event<'_>) {
    // Most of a file is results of tools, which need not be looked at for anything else.
    let role = match json::first(message, "role").and_then(json::string).as_deref() {
        Some("user") => Ok("user"),
        Some("assistant") => Ok("assistant"),
        Some("system") => Err(Rule::SystemRole),
        _ => Err(Rule::NotSpeech),
    };
    let role = match role {
        Ok(role) => role,
        Err(rule) => {
            let inner = if event.timestamp.is_none() { json::first(message, "timestamp") } else { None };
            context.moment(&[event.timestamp, inner, event.created_at]);
            return context.skip(rule);
        }
    };
    let [content, timestamp, provider, model] =
        json::members(message, &["content", "timestamp", "provider", "model"]);
    let moment = context.moment(&[event.timestamp, timestamp, event.created_at]);
    let mirrors = |model: Cow<'_, str>| MIRRORS.contains(&model.as_ref());
    if provider == Some("\"openclaw\"") && model.and_then(json::string).is_some_and(mirrors) {
        return context.skip(Rule::DeliveryMirror);
    }
    let speech = Speech::of(content, Strings::Ignore);
    if let Some(rule) = silence(role, &speech.text, speech.others) {
        return context.skip(rule);
    }
    let mut metadata = Metadata::default();
    metadata.json("parent_id", event.parent);
    metadata.json("provider", provider);
    metadata.json("model", model);
    let channel = context.session_key().and_then(channel).map(|channel| Cow::Owned(channel.to_owned()));
    context.say(Draft {
        role,
        content: speech.text,
        moment,
        id: event.id.and_then(json::scalar),
        part_of: None,
        complete: true,
        source: Format::OpenClaw.name(),
        channel,
        sender: None,
        metadata,
        raw: event.raw,
    });
}

/// Why a text is nothing that was said.
fn silence(role: &str, text: &str, others: bool) -> Option<Rule> {
    if text.is_empty() {
        return Some(if others { Rule::NotSpeech } else { Rule::NoText });
    }
    let silent = role == "assistant" && SILENCE.iter().any(|word| word.eq_ignore_ascii_case(text.trim()));
    silent.then_some(Rule::SilentReply)
}

/// The channel that a session key names: `agent:<agent>:<channel>:<place>:…`.
fn channel(key: &str) -> Option<&str> {
    let mut parts = key.split(':');
    let (agent, channel, place) = (parts.next()?, parts.nth(1)?, parts.next()?);
    (agent == "agent" && PLACES.contains(&place) && !channel.is_empty()).then_some(channel)
}

fn read_hook(context: &mut Context, event: &str) -> bool {
    let [kind, name, action, session_key, timestamp, details] =
        json::members(event, &["type", "event", "action", "sessionKey", "timestamp", "context"]);
    let Some(details) = details else { return false };
    let [from, to, content, said_at, channel, conversation, id, success] = json::members(
        details,
        &["from", "to", "content", "timestamp", "channelId", "conversationId", "messageId", "success"],
    );
    let kind = kind.or(name).and_then(json::string).unwrap_or_default();
    let action = match kind.split_once(':') {
        Some(("message", action)) => Cow::Borrowed(action),
        Some(_) => return false,
        None if kind == "message" => action.and_then(json::string).unwrap_or_default(),
        None => return false,
    };
    let channel = channel.and_then(json::scalar);
    let conversation = conversation.and_then(json::scalar);
    if let Some(key) = session_key.and_then(json::scalar) {
        context.enter(&key, None, None);
    } else if let Some(conversation) = &conversation {
        // Not a session's name, but it keeps apart what was said in different places.
        context.enter(&format!("{}:{conversation}", channel.as_deref().unwrap_or("")), None, None);
    }
    let moment = context.moment(&[timestamp, said_at]);
    let (role, sender) = match action.as_ref() {
        "received" => ("user", from),
        "sent" => ("assistant", None),
        _ => {
            context.skip(Rule::NotSpeech);
            return true;
        }
    };
    let speech = Speech::of(content, Strings::Ignore);
    let rule = match success {
        Some("false") => Some(Rule::Undelivered),
        _ => silence(role, &speech.text, speech.others),
    };
    if let Some(rule) = rule {
        context.skip(rule);
        return true;
    }
    let mut metadata = Metadata::default();
    metadata.text("conversation_id", conversation);
    metadata.json("recipient", to);
    context.say(Draft {
        role,
        content: speech.text,
        moment,
        id: id.and_then(json::scalar),
        part_of: None,
        complete: true,
        source: Format::OpenClawHooks.name(),
        channel,
        sender: sender.and_then(json::scalar),
        metadata,
        raw: event,
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_session_keys() {
        for (key, expected) in [
            ("agent:main:telegram:group:-100:topic:12", Some("telegram")),
            ("agent:main:feishu:direct:ou_1", Some("feishu")),
            ("agent:main:main", None),
            ("agent:main:subagent:1b2c", None),
            ("cron:每日早报", None),
            ("agent:main::group:1", None),
        ] {
            assert_eq!(channel(key), expected, "{key}");
        }
    }
}
