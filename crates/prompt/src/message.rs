//! Messages for the model's history, in the one form that is stored and sent: built and serialised here
//! so that no other file spells out the shape of an item.

use quipu_wire::{ContentItem, HookPromptFragment, Json, ResponseItem};

/// A text part of a message to the model.
pub fn text(text: impl Into<String>) -> ContentItem {
    ContentItem::InputText { text: text.into() }
}

/// A message by the person, or by the program in the person's place.
pub fn user(content: Vec<ContentItem>) -> Json {
    item("user", content)
}

/// A message by the program, which the model ranks above the person's.
pub fn developer(content: Vec<ContentItem>) -> Json {
    item("developer", content)
}

/// A message by the model.
pub fn assistant(text: impl Into<String>) -> Json {
    item(
        "assistant",
        vec![ContentItem::OutputText { text: text.into() }],
    )
}

/// A message of the person with one text.
pub fn user_text(words: impl Into<String>) -> Json {
    user(vec![text(words)])
}

/// One developer message with a part per section; nothing if there is no section.
pub fn developer_sections(sections: Vec<String>) -> Option<Json> {
    (!sections.is_empty()).then(|| developer(sections.into_iter().map(text).collect()))
}

/// One message in the person's name with a part per section; nothing if there is no section.
pub fn user_sections(sections: Vec<String>) -> Option<Json> {
    (!sections.is_empty()).then(|| user(sections.into_iter().map(text).collect()))
}

/// What hooks want the model to go on with, in the person's name.
pub fn hook_prompt(fragments: &[HookPromptFragment]) -> Json {
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let parts = fragments.iter().map(|fragment| {
        let id = escape(&fragment.hook_run_id).replace('"', "&quot;");
        text(format!(
            r#"<hook_prompt hook_run_id="{id}">{}</hook_prompt>"#,
            escape(&fragment.text)
        ))
    });
    user(parts.collect())
}

fn item(role: &str, content: Vec<ContentItem>) -> Json {
    let item = ResponseItem::Message {
        role: role.to_owned(),
        content,
        end_turn: None,
        phase: None,
        id: None,
    };
    // Strings and lists of strings always serialise.
    Json::new(&item).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_form_of_the_responses_api() {
        let image = ContentItem::InputImage {
            image_url: "data:,".into(),
        };
        assert_eq!(
            user(vec![text("a\n"), image]).get(),
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a\n"},{"type":"input_image","image_url":"data:,"}]}"#
        );
        assert_eq!(
            assistant("done").get(),
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}"#
        );
        assert!(developer_sections(Vec::new()).is_none());
    }
}
