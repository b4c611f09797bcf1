//! Apps as the model meets them: what they are, and a note about one that the person mentions.

use quipu_wire::Json;

use super::message;

/// How a note about an app begins, up to its id.
const MENTIONED: &str = "The user mentioned an app (app://";

/// An app whose tools are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct App {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The names of its tools; empty if they are not known yet.
    pub tools: Vec<String>,
}

/// The section that explains apps.
pub fn section() -> String {
    let text = include_str!("prompts/apps.md").trim_end();
    format!("<apps_instructions>\n{text}\n</apps_instructions>")
}

/// What the model reads after a message that mentions an app: the mention itself is not part of the text.
pub fn note(app: &App) -> Json {
    let tools: Vec<String> = app.tools.iter().map(|tool| format!("`{tool}`")).collect();
    let tools = match tools.is_empty() {
        true => "their names begin with `mcp__codex_apps__` and that of the app".to_owned(),
        false => tools.join(", "),
    };
    let (id, name) = (&app.id, &app.name);
    let text = format!(
        "{MENTIONED}{id}), `{name}`. Use its tools for the request where they fit: {tools}."
    );
    message::developer(vec![message::text(text)])
}

/// The id of the app that an item of a history is a note about.
pub fn noted(item: &Json) -> Option<&str> {
    let (_, rest) = item.get().split_once(MENTIONED)?;
    rest.split_once(')').map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_known_again() {
        let app = App {
            id: "calendar".into(),
            name: "Calendar".into(),
            tools: Vec::new(),
        };
        assert_eq!(noted(&note(&app)), Some("calendar"));
        assert_eq!(noted(&message::user_text("app://calendar")), None);
    }
}
