//! Items in the shapes that events have: commands, patches, messages.

use std::collections::BTreeMap;

use quipu_client::wire::{CommandAction, FileUpdateChange, PatchChangeKind, ThreadItem, UserInput};
use serde_json::{Map, Value, json};

/// A command line as the list of its words.
pub fn words(command: &str) -> Vec<String> {
    shlex::split(command).unwrap_or_else(|| vec![command.to_owned()])
}

/// What a command seems to do.
pub fn parsed(actions: &[CommandAction]) -> Value {
    let one = |action: &CommandAction| match action {
        CommandAction::Read {
            command,
            name,
            path,
        } => {
            json!({ "type": "read", "cmd": command, "name": name, "path": path })
        }
        CommandAction::ListFiles { command, path } => {
            json!({ "type": "list_files", "cmd": command, "path": path })
        }
        CommandAction::Search {
            command,
            query,
            path,
        } => {
            json!({ "type": "search", "cmd": command, "query": query, "path": path })
        }
        CommandAction::Unknown { command } => json!({ "type": "unknown", "cmd": command }),
        other => serde_json::to_value(other).unwrap_or_default(),
    };
    actions.iter().map(one).collect()
}

/// The changes of a patch by path.
pub fn changes(changes: &[FileUpdateChange]) -> Value {
    let one = |change: &FileUpdateChange| {
        let value = match &change.kind {
            PatchChangeKind::Add => json!({ "type": "add", "content": change.diff }),
            PatchChangeKind::Delete => json!({ "type": "delete", "content": change.diff }),
            PatchChangeKind::Update { move_path } => {
                json!({ "type": "update", "unified_diff": change.diff, "move_path": move_path })
            }
            other => serde_json::to_value(other).unwrap_or_default(),
        };
        (change.path.clone(), value)
    };
    let changes: Map<String, Value> = changes.iter().map(one).collect();
    Value::Object(changes)
}

/// An item that events show whole, or nothing for those that have events of their own.
pub fn whole(item: &ThreadItem) -> Option<Value> {
    Some(match item {
        ThreadItem::UserMessage { id, content } => {
            json!({ "type": "UserMessage", "id": id, "content": snake(content) })
        }
        ThreadItem::AgentMessage {
            id, text, phase, ..
        } => {
            let mut item = json!({
                "type": "AgentMessage",
                "id": id,
                "content": [{ "type": "Text", "text": text }],
            });
            if phase.is_some() {
                item["phase"] = snake(phase);
            }
            item
        }
        ThreadItem::Reasoning {
            id,
            summary,
            content,
        } => {
            json!({ "type": "Reasoning", "id": id, "summary_text": summary, "raw_content": content })
        }
        ThreadItem::Plan { id, text } => json!({ "type": "Plan", "id": id, "text": text }),
        ThreadItem::ContextCompaction { id } => json!({ "type": "ContextCompaction", "id": id }),
        _ => return None,
    })
}

/// What the user said, as one event has it.
pub fn said(content: &[UserInput]) -> Value {
    let mut text = String::new();
    let (mut images, mut local_images, mut elements) = (Vec::new(), Vec::new(), Vec::new());
    for input in content {
        match input {
            UserInput::Text {
                text: more,
                text_elements,
            } => {
                text.push_str(more);
                elements.extend(text_elements.iter().map(snake));
            }
            UserInput::Image { url } => images.push(url.clone()),
            UserInput::LocalImage { path } => local_images.push(path.clone()),
            _ => {}
        }
    }
    json!({
        "type": "user_message",
        "message": text,
        "images": images,
        "local_images": local_images,
        "text_elements": elements,
    })
}

/// A value of the protocol with its names in snake case, as events have them: keys, and the words of unions.
pub fn snake<T: serde::Serialize + ?Sized>(value: &T) -> Value {
    renamed(serde_json::to_value(value).unwrap_or_default(), true)
}

fn renamed(value: Value, is_word: bool) -> Value {
    match value {
        Value::String(text) if is_word => Value::String(snake_case(&text)),
        Value::Array(values) => values.into_iter().map(|it| renamed(it, false)).collect(),
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> = fields
                .into_iter()
                .map(|(key, value)| {
                    let is_tag = key == "type" || key == "status";
                    (snake_case(&key), renamed(value, is_tag))
                })
                .collect();
            fields.into_iter().collect()
        }
        other => other,
    }
}

fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
