//! What an agent is told: words, or several things at once.

use quipu_wire::UserInput;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::schema::Schema;

/// One of several things.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Item {
    Text { text: String },
    Image { image_url: String },
    LocalImage { path: String },
    Skill { name: String, path: String },
    Mention { name: String, path: String },
}

/// What the model reads about the argument that has several things.
pub(super) const ITEMS: &str = "Several things to tell it. Either this or `message`.";

/// All kinds in one object, since not every provider understands alternatives.
impl Schema for Item {
    fn schema() -> Value {
        let text = |description: &str| json!({ "type": "string", "description": description });
        json!({
            "type": "object",
            "properties": {
                "type": text("`text`, `image`, `local_image`, `skill` or `mention`."),
                "text": text("With `text`: the words."),
                "image_url": text("With `image`: its URL."),
                "path": text("With `local_image` and `skill`: the file. With `mention`: what is meant, as `app://…`."),
                "name": text("With `skill` and `mention`: its name."),
            },
            "additionalProperties": false,
        })
    }
}

/// Makes input out of a message or of items; there must be one of them, and something in it.
pub(super) fn input(
    message: Option<String>,
    items: Option<Vec<Item>>,
) -> Result<Vec<UserInput>, String> {
    let problem = match (message, items) {
        (Some(_), Some(_)) => "Provide either message or items, but not both",
        (None, None) => "Provide one of: message or items",
        (Some(message), None) if message.trim().is_empty() => {
            "Empty message can't be sent to an agent"
        }
        (Some(message), None) => return Ok(vec![text(message)]),
        (None, Some(items)) if items.is_empty() => "Items can't be empty",
        (None, Some(items)) => return Ok(items.into_iter().map(user_input).collect()),
    };
    Err(problem.to_owned())
}

/// The input in a few words, for those who watch.
pub(super) fn prompt(input: &[UserInput]) -> String {
    let parts = input.iter().map(|input| match input {
        UserInput::Text { text, .. } => text.clone(),
        UserInput::Image { .. } => "[image]".to_owned(),
        UserInput::LocalImage { path } => format!("[local_image:{path}]"),
        UserInput::Skill { name, path } => format!("[skill:${name}]({path})"),
        UserInput::Mention { name, path } => format!("[mention:${name}]({path})"),
        UserInput::Unrecognized(_) => String::new(),
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn text(text: String) -> UserInput {
    UserInput::Text {
        text,
        text_elements: Vec::new(),
    }
}

fn user_input(item: Item) -> UserInput {
    match item {
        Item::Text { text: words } => text(words),
        Item::Image { image_url: url } => UserInput::Image { url },
        Item::LocalImage { path } => UserInput::LocalImage { path },
        Item::Skill { name, path } => UserInput::Skill { name, path },
        Item::Mention { name, path } => UserInput::Mention { name, path },
    }
}
