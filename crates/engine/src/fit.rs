//! What tools report is made to fit into the log: an item that has started always completes, and what clients are
//! notified of can be read again.

use quipu_wire::{
    DynamicToolCallOutputContentItem, DynamicToolCallStatus, Json, McpToolCallError,
    McpToolCallStatus, ThreadItem,
};

/// The bytes that one item, or one entry of the model's history, may take as JSON. A record of the log must hold
/// it together with what the log adds.
pub const MAX_RECORDED: usize = 31 << 20;

/// Leaves out of an item what would be too long.
pub fn fit(item: &mut ThreadItem) {
    let size = Json::new(item).map_or(usize::MAX, |it| it.get().len());
    if size <= MAX_RECORDED {
        return;
    }
    match item {
        ThreadItem::CommandExecution {
            command,
            command_actions,
            ..
        } => {
            command_actions.clear();
            cut(command, MAX_RECORDED / 12);
        }
        ThreadItem::FileChange { changes, .. } => {
            let each = MAX_RECORDED / 12 / changes.len().max(1);
            for change in changes {
                cut(&mut change.diff, each);
            }
        }
        ThreadItem::McpToolCall {
            status,
            result,
            error,
            ..
        } => {
            *status = McpToolCallStatus::Failed;
            *result = None;
            *error = Some(McpToolCallError {
                message: too_long(size),
            });
        }
        ThreadItem::DynamicToolCall {
            status,
            content_items,
            success,
            ..
        } => {
            *status = DynamicToolCallStatus::Failed;
            let text = too_long(size);
            *content_items = Some(vec![DynamicToolCallOutputContentItem::InputText { text }]);
            *success = Some(false);
        }
        ThreadItem::CollabAgentToolCall {
            prompt,
            agents_states,
            ..
        } => {
            let states = agents_states.values_mut();
            let texts = states.filter_map(|state| state.message.as_mut());
            let texts: Vec<&mut String> = texts.chain(prompt).collect();
            let each = MAX_RECORDED / 12 / texts.len().max(1);
            texts.into_iter().for_each(|text| cut(text, each));
        }
        // What a model writes was bounded before, and so was what a user sends.
        _ => {}
    }
}

/// The output of a tool as the model's history can keep it.
pub fn fit_output(output: Json) -> Json {
    let size = output.get().len();
    if size <= MAX_RECORDED {
        return output;
    }
    let mut value = output.to_value();
    match value.get_mut("output") {
        Some(text) => *text = too_long(size).into(),
        None => return output,
    }
    value.into()
}

fn too_long(size: usize) -> String {
    format!("The result of the tool takes {size} bytes; at most {MAX_RECORDED} can be stored.")
}

/// The bytes that a text takes as a JSON string, without the quotes.
pub fn encoded_len(text: &str) -> usize {
    text.bytes().map(encoded_byte).sum()
}

fn encoded_byte(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// Leaves of a text what takes at most so many bytes as JSON.
pub fn cut_encoded(text: &mut String, most: usize) {
    let mut taken = 0;
    let end = text.bytes().position(|byte| {
        taken += encoded_byte(byte);
        taken > most
    });
    if let Some(end) = end {
        cut(text, end);
    }
}

/// Leaves at most so many bytes of a text.
pub fn cut(text: &mut String, most: usize) {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}
