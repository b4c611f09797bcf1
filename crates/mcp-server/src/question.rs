//! Questions of the agent to the user, asked for by one form with a field for each.

use quipu_client::wire::{
    ToolRequestUserInputAnswer, ToolRequestUserInputParams, ToolRequestUserInputQuestion,
    ToolRequestUserInputResponse,
};
use serde_json::{Map, Value, json};

const DECLINED: &str = "The user declined to answer.";

/// The event that reports the questions.
pub fn event(asked: &ToolRequestUserInputParams) -> Value {
    json!({
        "type": "request_user_input",
        "call_id": asked.item_id,
        "turn_id": asked.turn_id,
        "questions": asked.questions,
    })
}

/// The form. Where answers are offered and others are possible too, these have a field of their own.
pub fn elicitation(questions: &[ToolRequestUserInputQuestion]) -> Value {
    let mut fields = Map::new();
    for question in questions {
        let options = question.options.as_deref().unwrap_or_default();
        let mut field = json!({
            "type": "string", "title": question.header, "description": question.question,
        });
        if !options.is_empty() {
            let named = |label: &str, text: &str| match text.is_empty() {
                true => label.to_owned(),
                false => format!("{label}: {text}"),
            };
            let names = options.iter().map(|it| named(&it.label, &it.description));
            field["enumNames"] = names.collect();
            field["enum"] = options.iter().map(|it| it.label.as_str()).collect();
        }
        fields.insert(question.id.clone(), field);
        if let Some(name) = other(questions, question) {
            let field = json!({
                "type": "string",
                "title": format!("{} (other)", question.header),
                "description": "An answer of your own, if none of those offered fits.",
            });
            fields.insert(name, field);
        }
    }
    let message = match questions {
        [question] => question.question.clone(),
        _ => "Codex has some questions.".to_owned(),
    };
    json!({
        "message": message,
        "requestedSchema": { "type": "object", "properties": fields },
        "codex_elicitation": "user-input",
        "codex_questions": questions,
    })
}

/// The name of the field for an answer that was not offered, if there is one.
fn other(
    questions: &[ToolRequestUserInputQuestion],
    question: &ToolRequestUserInputQuestion,
) -> Option<String> {
    let has_options = question.options.as_ref().is_some_and(|it| !it.is_empty());
    if !question.is_other || !has_options {
        return None;
    }
    let mut name = format!("{}_other", question.id);
    while questions.iter().any(|it| it.id == name) {
        name.push('_');
    }
    Some(name)
}

/// What the agent reads: the values of the form, that the user declined, or no answer at all if the form was put away.
pub fn answer(
    questions: &[ToolRequestUserInputQuestion],
    answer: &Result<Value, Value>,
) -> ToolRequestUserInputResponse {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            let why = error["message"].as_str().unwrap_or("the client is gone");
            return each(questions, &format!("The user could not be asked: {why}"));
        }
    };
    let content = match answer["action"].as_str() {
        Some("accept") => &answer["content"],
        Some("cancel") => &Value::Null,
        _ => return each(questions, DECLINED),
    };
    let mut answers = std::collections::BTreeMap::new();
    for question in questions {
        let names = [Some(question.id.clone()), other(questions, question)];
        let values = names.iter().flatten().map(|name| &content[name]);
        let values: Vec<String> = values
            .filter_map(Value::as_str)
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect();
        if !values.is_empty() {
            let answer = ToolRequestUserInputAnswer { answers: values };
            answers.insert(question.id.clone(), answer);
        }
    }
    ToolRequestUserInputResponse { answers }
}

/// The same answer to every question.
pub fn each(
    questions: &[ToolRequestUserInputQuestion],
    text: &str,
) -> ToolRequestUserInputResponse {
    let answer = |question: &ToolRequestUserInputQuestion| {
        let answers = vec![text.to_owned()];
        (question.id.clone(), ToolRequestUserInputAnswer { answers })
    };
    ToolRequestUserInputResponse {
        answers: questions.iter().map(answer).collect(),
    }
}
