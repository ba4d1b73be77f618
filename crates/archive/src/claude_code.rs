//! Claude Code session files.
//!
//! A line is a block of an API message, what a person typed, or what the program adds for the model in the person's
//! name: results of tools, summaries, the traces of commands. Only the first two are speech.
//!
//! Nothing in a line says whether it is another block of its API message or the block before, grown: both have the
//! same message id, an id of their own and the line before as parent. So a line is taken for a snapshot of another
//! only if everything speaks for it: its words go on with those of the other, the other has no reason for stopping,
//! and no other block of the API message (thinking, a tool, other words) stands between them.

use crate::context::{Context, Draft, Metadata};
use crate::json::{self, truth, Error};
use crate::speech::{Speech, Strings};
use crate::{Format, Rule};

/// Lines that may have no session id.
const SILENT: [&str; 5] = ["summary", "file-history-snapshot", "queue-operation", "custom-title", "system"];
/// How the traces of a command begin.
const COMMANDS: [&str; 7] = [
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
];
/// Between these stands what the person wrote behind a command.
const ARGUMENTS: (&str, &str) = ("<command-args>", "</command-args>");
/// The model of answers that no model gave.
const SYNTHETIC: &str = "<synthetic>";

/// Whether a record is a line of Claude Code's, by its type and whether it has the ids such lines have.
pub(crate) fn is_line(kind: &str, has_ids: bool) -> bool {
    has_ids || SILENT.contains(&kind)
}

/// Reads one record; `false` if it is nothing of Claude Code's.
pub(crate) fn read(context: &mut Context, record: &str) -> Result<bool, Error> {
    let [kind, uuid, parent, session_id, timestamp, cwd, branch, message, sidechain, meta, summary, failed] =
        json::record(
            record,
            &[
                "type",
                "uuid",
                "parentUuid",
                "sessionId",
                "timestamp",
                "cwd",
                "gitBranch",
                "message",
                "isSidechain",
                "isMeta",
                "isCompactSummary",
                "isApiErrorMessage",
            ],
        )?;
    let Some(kind) = kind.and_then(json::string) else { return Ok(false) };
    if !is_line(&kind, uuid.or(session_id).is_some()) {
        return Ok(false);
    }
    if let Some(id) = session_id.and_then(json::scalar) {
        context.enter(&id, Some(&id), None);
    }
    let moment = context.moment(&[timestamp]);
    let role = match kind.as_ref() {
        "user" => "user",
        "assistant" => "assistant",
        _ => {
            context.skip(Rule::NotSpeech);
            return Ok(true);
        }
    };
    let Some(message) = message.filter(|message| json::kind(message) == b'{') else {
        context.skip(Rule::NoText);
        return Ok(true);
    };
    let [api_id, content, model, stop_reason] =
        json::members(message, &["id", "content", "model", "stop_reason"]);
    let api_id = api_id.and_then(json::scalar).filter(|_| role == "assistant");
    let model = model.and_then(json::scalar);
    let rule = if truth(sidechain) {
        Some(Rule::Sidechain)
    } else if truth(summary) {
        Some(Rule::Compaction)
    } else if truth(meta) {
        Some(Rule::Meta)
    } else if truth(failed) || model.as_deref() == Some(SYNTHETIC) {
        Some(Rule::Synthetic)
    } else {
        None
    };
    if let Some(rule) = rule {
        context.skip(rule);
        return Ok(true);
    }
    let speech = Speech::of(content, Strings::Ignore);
    let rule = match speech.text.as_ref() {
        "" if speech.others => Some(Rule::NotSpeech),
        "" => Some(Rule::NoText),
        text if role == "user" && is_command(text) => Some(Rule::Command),
        _ => None,
    };
    if let Some(rule) = rule {
        if let Some(id) = &api_id {
            context.block(id);
        }
        context.skip(rule);
        return Ok(true);
    }
    let mut metadata = Metadata::default();
    metadata.json("parent_id", parent);
    metadata.json("cwd", cwd);
    metadata.json("git_branch", branch);
    metadata.text("model", model);
    context.say(Draft {
        role,
        content: speech.text,
        moment,
        id: uuid.and_then(json::scalar),
        part_of: api_id,
        complete: stop_reason.is_some(),
        source: Format::ClaudeCode.name(),
        channel: None,
        sender: None,
        metadata,
        raw: record,
    });
    Ok(true)
}

/// Whether a text is the trace of a command and holds no word of the person's.
fn is_command(text: &str) -> bool {
    let text = text.trim_start();
    if !COMMANDS.iter().any(|start| text.starts_with(start)) {
        return false;
    }
    let (open, close) = ARGUMENTS;
    let arguments = text.split_once(open).map_or("", |(_, after)| after);
    let arguments = arguments.split_once(close).map_or(arguments, |(inner, _)| inner);
    arguments.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_without_words_are_none() {
        assert!(is_command("<command-name>/compact</command-name>\n<command-args></command-args>"));
        assert!(is_command("<local-command-stdout>done</local-command-stdout>"));
        assert!(!is_command("<command-name>/ask</command-name>\n<command-args>明天下雨吗</command-args>"));
        assert!(!is_command("what does <command-name> mean"));
    }
}
