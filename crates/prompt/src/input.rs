//! What a person says, as the model gets it: one message with a part for every piece.

use std::path::Path;

use quipu_wire::{ContentItem, Json, UserInput};

use super::image::{self, ImageError};
use super::message;

/// The most characters that the texts of one input may have together.
pub const MAX_TEXT_CHARS: usize = 1 << 20;

/// How many characters the texts of an input have, if that is too many.
pub fn too_long(inputs: &[UserInput]) -> Option<usize> {
    let texts = || {
        inputs.iter().filter_map(|input| match input {
            UserInput::Text { text, .. } => Some(text),
            _ => None,
        })
    };
    if texts().map(String::len).sum::<usize>() <= MAX_TEXT_CHARS {
        return None;
    }
    let chars = texts().map(|text| text.chars().count()).sum();
    (chars > MAX_TEXT_CHARS).then_some(chars)
}

/// The message; nothing if the input only names skills and apps. Blocks on local images.
pub fn user_message(inputs: &[UserInput]) -> Option<Json> {
    let mut parts = Vec::new();
    let mut images = 0;
    for input in inputs {
        match input {
            UserInput::Text { text, .. } => parts.push(message::text(text)),
            UserInput::Image { url } => {
                images += 1;
                image(&mut parts, "<image>".to_owned(), url.clone());
            }
            UserInput::LocalImage { path } => {
                images += 1;
                match image::load(Path::new(path)) {
                    Ok(url) => image(&mut parts, format!("<image name=[Image #{images}]>"), url),
                    Err(error) => parts.push(message::text(note(path, &error))),
                }
            }
            _ => {}
        }
    }
    (!parts.is_empty()).then(|| message::user(parts))
}

/// The ids of the apps that an input mentions.
pub fn mentioned_apps(inputs: &[UserInput]) -> Vec<&str> {
    mentions(inputs, "app://")
}

/// The plugins that an input mentions, as `<name>@<marketplace>`.
pub fn mentioned_plugins(inputs: &[UserInput]) -> Vec<&str> {
    mentions(inputs, "plugin://")
}

/// The ids after a scheme, in mentions of their own and in links of the text, each once.
fn mentions<'a>(inputs: &'a [UserInput], scheme: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut add = |path: &'a str| {
        let id = path.trim().strip_prefix(scheme);
        if let Some(id) = id.filter(|id| !id.is_empty() && !found.contains(id)) {
            found.push(id);
        }
    };
    for input in inputs {
        match input {
            UserInput::Mention { path, .. } => add(path),
            UserInput::Text { text, .. } => links(text).for_each(&mut add),
            _ => {}
        }
    }
    found
}

/// The targets of links whose text begins with `@` or `$`, such as `[@name](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split('[').skip(1).filter_map(|link| {
        let (name, after) = link.split_once("](")?;
        let (target, _) = after.split_once(')')?;
        name.starts_with(['@', '$']).then_some(target)
    })
}

fn image(parts: &mut Vec<ContentItem>, opening: String, image_url: String) {
    parts.push(message::text(opening));
    parts.push(ContentItem::InputImage { image_url });
    parts.push(message::text("</image>"));
}

/// What the model reads in the place of an image that cannot be sent.
fn note(path: &str, error: &ImageError) -> String {
    match error {
        ImageError::Unreadable(error) => {
            format!("Codex could not read the local image at `{path}`: {error}")
        }
        ImageError::Unsupported(mime) => {
            format!("Codex cannot attach image at `{path}`: unsupported image `{mime}`.")
        }
    }
}
