//! What the model gets of a result.

use quipu_mcp::{CallResult, compact};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::call::{Finished, Output};

/// What stands in for an image that the model cannot see.
const UNSEEN: &str = "(an image, left out because this model takes no images)";

/// The blocks of a result that become parts of their own.
#[derive(Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Block {
    Text {
        text: String,
    },
    Image {
        data: String,
        mime_type: String,
    },
    #[serde(other)]
    Other,
}

/// The output of a tool that answered.
pub(super) fn success(result: &CallResult, accepts_images: bool) -> Finished {
    if let Some(data) = &result.structured_content
        && data.get() != "null"
    {
        return compact(data.get()).into();
    }
    let blocks: Vec<Block> = result.content.iter().map(|it| read(it)).collect();
    if !blocks.iter().any(|it| matches!(it, Block::Image { .. })) {
        let texts: Vec<String> = result.content.iter().map(|it| compact(it.get())).collect();
        return format!("[{}]", texts.join(",")).into();
    }
    let both = blocks.into_iter().zip(&result.content);
    let parts = both.map(|(block, raw)| part(block, raw, accepts_images));
    Output::Parts(parts.collect()).into()
}

/// The output of a call that brought no result.
pub(super) fn failure(message: &str) -> Finished {
    format!(r#"[{{"type":"text","text":{}}}]"#, json!(message)).into()
}

fn read(raw: &RawValue) -> Block {
    serde_json::from_str(raw.get()).unwrap_or(Block::Other)
}

fn part(block: Block, raw: &RawValue, accepts_images: bool) -> Value {
    let text = match block {
        Block::Image { data, mime_type } if accepts_images => {
            let image_url = match data.starts_with("data:") {
                true => data,
                false => format!("data:{mime_type};base64,{data}"),
            };
            return json!({ "type": "input_image", "image_url": image_url });
        }
        Block::Image { .. } => UNSEEN.to_owned(),
        Block::Text { text } => text,
        Block::Other => compact(raw.get()),
    };
    json!({ "type": "input_text", "text": text })
}
