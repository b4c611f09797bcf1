//! Forms and pages that MCP servers and the agent ask the user for. Editors that show forms get them as they are; in
//! others, what can be answered by choosing is asked like a permission.

use quipu_client::wire::{
    McpServerElicitationAction as Action, McpServerElicitationRequest as Request,
    ToolRequestUserInputQuestion,
};
use serde_json::{Map, Value, json};

use crate::editor::Editor;
use crate::permission::{self, Choice, choice};
use crate::schema::{
    Elicitation, ElicitationAnswer, ElicitationCapabilities, PermissionKind, ToolCall,
    ToolCallStatus,
};

/// Where and of whom something is asked.
pub struct Asker<'a> {
    pub editor: &'a Editor,
    pub session_id: &'a str,
    /// What the editor can show.
    pub shows: ElicitationCapabilities,
    /// An id for tool calls that only stand for a question.
    pub call_id: String,
}

/// What the user did: the action, the form's values, and what is to be remembered.
pub type Answer = (Action, Option<Value>, Option<Value>);

/// A tool call of its own, for questions that belong to no item.
pub fn titled(id: &str, title: String) -> ToolCall {
    ToolCall {
        tool_call_id: id.to_owned(),
        title: Some(title),
        status: Some(ToolCallStatus::Pending),
        ..ToolCall::default()
    }
}

impl Asker<'_> {
    /// Asks what an MCP server wants to know.
    pub async fn ask(&self, server: &str, request: &Request) -> Answer {
        match request {
            Request::Form {
                meta,
                message,
                requested_schema,
            } => {
                let schema = json!(requested_schema);
                let message = format!("{server}: {message}");
                let is_empty = schema["properties"].as_object().is_none_or(Map::is_empty);
                let meta = meta.as_ref();
                let meta = meta.and_then(|it| serde_json::from_str(it.get()).ok());
                match (is_empty, self.shows.form.is_some()) {
                    (true, _) => self.confirm(message, &meta.unwrap_or_default()).await,
                    (false, true) => self.form(message, schema).await,
                    (false, false) => self.choose(&message, &schema).await,
                }
            }
            Request::Url {
                message,
                url,
                elicitation_id,
                ..
            } => {
                let message = format!("{server}: {message}");
                if self.shows.url.is_none() {
                    let title = format!("{message} Open {url} first.");
                    return self.confirm(title, &Value::Null).await;
                }
                let session_id = self.session_id;
                let request = Elicitation::Url {
                    session_id,
                    message,
                    url,
                    elicitation_id,
                };
                self.elicit(request).await
            }
            _ => (Action::Decline, None, None),
        }
    }

    /// Yes or no. Calls of MCP tools may also be allowed for longer, as far as they say so.
    async fn confirm(&self, message: String, meta: &Value) -> Answer {
        let remembers = |word: &str| {
            let offered = &meta["persist"];
            let words = offered.as_array().map_or(&[][..], Vec::as_slice);
            offered == word || words.iter().any(|it| it == word)
        };
        let mut choices = vec![choice("Allow", PermissionKind::AllowOnce, Some(None))];
        for (word, name) in [
            ("session", "Allow for this session"),
            ("always", "Always allow"),
        ] {
            if remembers(word) {
                let kind = PermissionKind::AllowAlways;
                choices.push(choice(name, kind, Some(Some(word))));
            }
        }
        choices.push(choice("Reject", PermissionKind::RejectOnce, None));
        let call = titled(&self.call_id, message);
        match permission::ask(self.editor, self.session_id, call, choices).await {
            Some(Some(word)) => {
                let meta = word.map(|it| json!({ "persist": it }));
                (Action::Accept, Some(json!({})), meta)
            }
            Some(None) => (Action::Decline, None, None),
            None => (Action::Cancel, None, None),
        }
    }

    async fn form(&self, message: String, mut schema: Value) -> Answer {
        for field in schema["properties"].as_object_mut().into_iter().flatten() {
            name_values(field.1);
        }
        let request = Elicitation::Form {
            session_id: self.session_id,
            message,
            requested_schema: schema,
        };
        self.elicit(request).await
    }

    async fn elicit(&self, request: Elicitation<'_>) -> Answer {
        match self.editor.ask("elicitation/create", &request).await {
            Ok(ElicitationAnswer::Accept { content }) => {
                let content = json!(content.unwrap_or_default());
                (Action::Accept, Some(content), None)
            }
            Ok(ElicitationAnswer::Decline) => (Action::Decline, None, None),
            Ok(ElicitationAnswer::Cancel) => (Action::Cancel, None, None),
            Err(error) => {
                tracing::warn!(%error, "form not shown");
                (Action::Decline, None, None)
            }
        }
    }

    /// Asks for one field after the other, where all can be chosen. Others are declined, and the user learns why.
    async fn choose(&self, message: &str, schema: &Value) -> Answer {
        let fields = schema["properties"].as_object();
        let mut content = Map::new();
        for (name, field) in fields.into_iter().flatten() {
            let Some(choices) = choices_of(field) else {
                let text = format!(
                    "\n\n{message}\nThe field `{name}` has to be typed, but this editor shows no forms, so the form was declined.\n\n"
                );
                self.editor.say(self.session_id, &text).await;
                return (Action::Decline, None, None);
            };
            let title = field["title"].as_str().unwrap_or(name);
            let call = titled(&self.call_id, format!("{message} {title}?"));
            match permission::ask(self.editor, self.session_id, call, choices).await {
                Some(value) => content.insert(name.clone(), value),
                None => return (Action::Cancel, None, None),
            };
        }
        (Action::Accept, Some(Value::Object(content)), None)
    }

    /// Asks the questions of the agent with one form. Nothing if this editor shows no forms.
    pub async fn questions(&self, questions: &[ToolRequestUserInputQuestion]) -> Option<Value> {
        self.shows.form.as_ref()?;
        let mut properties = Map::new();
        for question in questions {
            let options = question.options.as_deref().unwrap_or_default();
            let mut field = json!({
                "type": "string", "title": question.header, "description": question.question,
            });
            let labels: Vec<_> = options.iter().map(|it| &it.label).collect();
            if question.is_other && !labels.is_empty() {
                let described = options
                    .iter()
                    .map(|it| format!("{}: {}", it.label, it.description));
                let described: Vec<_> = described.collect();
                let text = format!("{} ({})", question.question, described.join("; "));
                field["description"] = text.into();
            } else if !labels.is_empty() {
                field["enum"] = json!(labels);
            }
            properties.insert(question.id.clone(), field);
        }
        let schema = json!({ "type": "object", "properties": properties });
        let message = "The agent has a question".to_owned();
        let (_, content, _) = self.form(message, schema).await;
        Some(content.unwrap_or_default())
    }
}

/// Names of values in a list of their own are the form of older MCP servers, which editors do not know.
fn name_values(field: &mut Value) {
    let Some(Value::Array(names)) = field.as_object_mut().and_then(|it| it.remove("enumNames"))
    else {
        return;
    };
    let values = field["enum"].take();
    let values = values.as_array().into_iter().flatten();
    let named = values.enumerate().map(|(index, value)| {
        let title = names.get(index).unwrap_or(value);
        json!({ "const": value, "title": title })
    });
    field["oneOf"] = named.collect();
    field.as_object_mut().map(|it| it.remove("enum"));
}

/// The values of a field, if they can be chosen.
fn choices_of(field: &Value) -> Option<Vec<Choice<Value>>> {
    let option = |name: &str, value: Value| choice(name, PermissionKind::AllowOnce, value);
    if field["type"] == "boolean" {
        return Some(vec![option("Yes", true.into()), option("No", false.into())]);
    }
    if let Some(options) = field["oneOf"].as_array() {
        let option = |it: &Value| Some(option(it["title"].as_str()?, it["const"].clone()));
        return options.iter().map(option).collect();
    }
    let names = field["enumNames"].as_array();
    let values = field["enum"].as_array()?;
    let named = values.iter().enumerate().map(|(index, value)| {
        let name = names.and_then(|it| it.get(index)?.as_str());
        Some(option(name.or(value.as_str())?, value.clone()))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fields_with_values_can_be_chosen() {
        let names = |field: Value| {
            let choices = choices_of(&field)?.into_iter();
            Some(choices.map(|it| (it.name, it.meaning)).collect::<Vec<_>>())
        };
        let named = |name: &str, value: Value| (name.to_owned(), value);
        assert_eq!(
            names(json!({ "type": "boolean" })),
            Some(vec![named("Yes", true.into()), named("No", false.into())])
        );
        assert_eq!(
            names(json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] })),
            Some(vec![named("A", "a".into())])
        );
        assert_eq!(
            names(json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["A"] })),
            Some(vec![named("A", "a".into()), named("b", "b".into())])
        );
        assert_eq!(names(json!({ "type": "string" })), None);
    }

    #[test]
    fn names_of_values_move_to_the_values() {
        let mut field = json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["A"] });
        name_values(&mut field);
        let named = json!([{ "const": "a", "title": "A" }, { "const": "b", "title": "b" }]);
        assert_eq!(field, json!({ "type": "string", "oneOf": named }));
    }
}
