//! ChatGPT exports: each conversation is a tree of messages, of which the path to `current_node` was seen last.
//!
//! What must hold: a tree with cycles, missing parents or missing members gives the messages it has; a conversation
//! without a tree costs only itself.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::context::{Context, Draft, Metadata};
use crate::json::{self, truth, Error};
use crate::speech::Speech;
use crate::time::{self, Reading};
use crate::{Format, Reason, Rule};

/// A node of the tree.
#[derive(Clone, Copy, Default)]
struct Node<'a> {
    /// The whole node.
    json: &'a str,
    message: Option<&'a str>,
    parent: Option<&'a str>,
}

/// Reads one conversation; `false` if it is none.
pub(crate) fn read(context: &mut Context, record: &str) -> Result<bool, Error> {
    let [mapping, current, conversation_id, id, title, created] =
        json::record(record, &["mapping", "current_node", "conversation_id", "id", "title", "create_time"])?;
    let Some(mapping) = mapping else { return Ok(false) };
    if json::kind(mapping) != b'{' {
        context.bad(Reason::NoTree);
        return Ok(true);
    }
    let members = json::entries(mapping);
    let mut tree = HashMap::with_capacity(members.len());
    // Messages in the order of the file, for what is not on the path.
    let mut order = Vec::with_capacity(members.len());
    for (name, json) in &members {
        let [message, parent] = json::members(json, &["message", "parent"]);
        if tree.insert(name.as_ref(), Node { json, message, parent }).is_none() {
            order.push(name.as_ref());
        }
    }
    context.begin();
    let title = title.and_then(json::scalar);
    if let Some(id) = conversation_id.and_then(json::scalar).or_else(|| id.and_then(json::scalar)) {
        context.enter(&id, Some(&id), title.as_deref());
    }
    context.moment(&[created]);
    let path = path(&tree, &order, current);
    for name in &path {
        let Some(node) = tree.get(name) else { continue };
        let Some(message) = node.message else { continue };
        if json::kind(message) == b'{' {
            read_message(context, name, *node, message, title.as_deref());
        } else {
            context.bad(Reason::NotObject);
        }
    }
    let on_path: HashSet<&str> = path.into_iter().collect();
    for name in order {
        if !on_path.contains(name) && tree.get(name).is_some_and(|node| node.message.is_some()) {
            context.skip(Rule::OtherBranch);
        }
    }
    Ok(true)
}

/// Names of the nodes from the root to the current one. Without a current node that exists it is the newest leaf.
fn path<'a>(tree: &HashMap<&'a str, Node<'a>>, order: &[&'a str], current: Option<&str>) -> Vec<&'a str> {
    let find = |name: Option<&str>| {
        let name = name.and_then(json::scalar)?;
        tree.get_key_value(name.as_ref()).map(|(name, _)| *name)
    };
    let mut next = find(current).or_else(|| newest_leaf(tree, order));
    let mut path = Vec::new();
    let mut seen = HashSet::new();
    while let Some(name) = next {
        if !seen.insert(name) {
            break;
        }
        path.push(name);
        next = find(tree.get(name).and_then(|node| node.parent));
    }
    path.reverse();
    path
}

/// The node that is no other's parent and has the latest message, or, of messages without a time, the last one.
fn newest_leaf<'a>(tree: &HashMap<&'a str, Node<'a>>, order: &[&'a str]) -> Option<&'a str> {
    let parents: HashSet<Cow<'_, str>> =
        tree.values().filter_map(|node| node.parent.and_then(json::scalar)).collect();
    let time = |name: &str| {
        let message = tree.get(name)?.message?;
        let [time] = json::members(message, &["create_time"]);
        match time::read(time, &time::Zone::UTC) {
            Reading::Time(time) => Some(time),
            _ => None,
        }
    };
    let leaves = order.iter().copied().filter(|name| !parents.contains(*name));
    // All nodes of a cycle are parents.
    leaves.max_by_key(|name| time(name)).or_else(|| order.last().copied())
}

fn read_message(context: &mut Context, name: &str, node: Node<'_>, message: &str, title: Option<&str>) {
    let [id, author, created, content, details, recipient] =
        json::members(message, &["id", "author", "create_time", "content", "metadata", "recipient"]);
    let [role] = json::members(author.unwrap_or(""), &["role"]);
    let role = role.and_then(json::string);
    let [hidden, model] =
        json::members(details.unwrap_or(""), &["is_visually_hidden_from_conversation", "model_slug"]);
    let moment = context.moment(&[created]);
    let speech = text(content.unwrap_or(""));
    let addressed = recipient.and_then(json::string);
    let role = match role.as_deref() {
        _ if truth(hidden) => Err(Rule::Hidden),
        Some("user") => Ok("user"),
        Some("assistant") => Ok("assistant"),
        Some("system") => Err(Rule::SystemRole),
        _ => Err(Rule::NotSpeech),
    };
    let role = role.and_then(|role| match () {
        // Words to a tool are not words to the person.
        () if addressed.is_some_and(|recipient| recipient != "all") => Err(Rule::NotSpeech),
        () if !speech.text.is_empty() => Ok(role),
        () if speech.others => Err(Rule::NotSpeech),
        () => Err(Rule::NoText),
    });
    let role = match role {
        Ok(role) => role,
        Err(rule) => {
            context.skip(rule);
            return;
        }
    };
    let mut metadata = Metadata::default();
    metadata.text("title", title.map(Cow::Borrowed));
    metadata.json("parent_id", node.parent);
    metadata.json("model", model);
    context.say(Draft {
        role,
        content: speech.text,
        moment,
        id: id.and_then(json::scalar).or(Some(Cow::Borrowed(name)).filter(|name| !name.is_empty())),
        part_of: None,
        complete: true,
        source: Format::ChatGpt.name(),
        channel: None,
        sender: None,
        metadata,
        raw: node.json,
    });
}

/// The words of a content: its parts that are text, typed or spoken.
fn text(content: &str) -> Speech<'_> {
    let mut speech = Speech { text: Cow::Borrowed(""), others: false };
    let [kind, parts] = json::members(content, &["content_type", "parts"]);
    if !matches!(kind.and_then(json::string).as_deref(), Some("text" | "multimodal_text") | None) {
        speech.others = true;
        return speech;
    }
    for part in json::elements(parts.unwrap_or("")) {
        match json::kind(part) {
            b'"' => speech.add(json::string(part)),
            b'{' => {
                let [kind, text] = json::members(part, &["content_type", "text"]);
                match kind.and_then(json::string).as_deref() {
                    Some("audio_transcription" | "text") => speech.add(text.and_then(json::string)),
                    _ => speech.others = true,
                }
            }
            _ => {}
        }
    }
    speech
}
