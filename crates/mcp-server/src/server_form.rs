//! What MCP servers of the agent ask the user: forms, pages, and whether one of their tools may run.

use quipu_client::wire::{
    Json, McpServerElicitationAction as Action, McpServerElicitationRequest as Request,
    McpServerElicitationRequestParams, McpServerElicitationRequestResponse, ReviewDecision,
};
use serde_json::{Map, Value, json};

use crate::approval::decision;

/// How long an approval of a tool can be remembered, with what is shown.
const PERSIST: [(&str, &str); 2] = [("session", "For this session"), ("always", "Always")];

/// The event that reports the question; the protocol does not say what id the MCP server gave it.
pub fn event(asked: &McpServerElicitationRequestParams, id: i64) -> Value {
    let mut request = json!(asked.request);
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|name, value| name != "_meta" || !value.is_null());
        for (name, plain) in [
            ("requestedSchema", "requested_schema"),
            ("elicitationId", "elicitation_id"),
        ] {
            if let Some(value) = fields.remove(name) {
                fields.insert(plain.to_owned(), value);
            }
        }
    }
    let mut event = json!({
        "type": "elicitation_request",
        "server_name": asked.server_name,
        "id": id,
        "request": request,
    });
    if is_approval(asked) {
        event["turn_id"] = json!(asked.turn_id);
    }
    event
}

/// The elicitation, as the MCP server made it. An approval that can be remembered has a field for that.
pub fn elicitation(asked: &McpServerElicitationRequestParams) -> Value {
    let server = &asked.server_name;
    let mut params = match &asked.request {
        Request::Form {
            message,
            requested_schema,
            ..
        } if !is_approval(asked) => json!({
            "message": format!("{server}: {message}"),
            "requestedSchema": requested_schema,
            "codex_elicitation": "mcp-server",
        }),
        Request::Url {
            message,
            url,
            elicitation_id,
            ..
        } => json!({
            "mode": "url",
            "message": format!("{server}: {message}"),
            "url": url,
            "elicitationId": elicitation_id,
            "codex_elicitation": "mcp-server",
        }),
        Request::Form { message, .. } => json!({
            "message": message,
            "requestedSchema": { "type": "object", "properties": remembering(asked) },
            "codex_elicitation": "mcp-tool-approval",
        }),
        _ => json!({ "message": format!("{server} has a question.") }),
    };
    if let Some(meta) = meta(asked).filter(Value::is_object) {
        params["_meta"] = meta;
    }
    params["codex_server"] = server.as_str().into();
    params
}

fn remembering(asked: &McpServerElicitationRequestParams) -> Map<String, Value> {
    let offered = meta(asked).map(|mut it| it["persist"].take());
    let offered = offered.unwrap_or_default();
    let is_offered = |word: &str| {
        let words = offered.as_array().map_or(&[][..], Vec::as_slice);
        offered == word || words.iter().any(|it| it == word)
    };
    let (words, names): (Vec<_>, Vec<_>) = PERSIST
        .iter()
        .filter(|it| is_offered(it.0))
        .copied()
        .unzip();
    let mut fields = Map::new();
    if !words.is_empty() {
        let field = json!({
            "type": "string", "title": "Remember", "enum": words, "enumNames": names,
        });
        fields.insert("persist".to_owned(), field);
    }
    fields
}

fn meta(asked: &McpServerElicitationRequestParams) -> Option<Value> {
    match &asked.request {
        Request::Form { meta, .. } | Request::Url { meta, .. } => meta.as_ref().map(Json::to_value),
        _ => None,
    }
}

/// Whether it asks for a page to be opened.
pub fn is_page(asked: &McpServerElicitationRequestParams) -> bool {
    matches!(asked.request, Request::Url { .. })
}

/// Whether it asks if a tool may run.
fn is_approval(asked: &McpServerElicitationRequestParams) -> bool {
    meta(asked).is_some_and(|it| it["codex_approval_kind"] == "mcp_tool_call")
}

/// What is asked, as the subject of a sentence.
pub fn subject(asked: &McpServerElicitationRequestParams) -> String {
    let server = &asked.server_name;
    match &asked.request {
        Request::Form { message, .. } if is_approval(asked) => {
            format!("The approval \"{message}\"")
        }
        _ => format!("A question of the MCP server `{server}`"),
    }
}

/// What the MCP server is answered.
pub fn answer(
    asked: &McpServerElicitationRequestParams,
    answer: &Result<Value, Value>,
) -> McpServerElicitationRequestResponse {
    let given = answer.as_ref().map_or(&Value::Null, |it| it);
    let (action, content, meta) = if is_approval(asked) {
        let (action, persist) = match decision(answer) {
            ReviewDecision::Approved => {
                let chosen = [&given["content"], &given["_meta"]].map(|it| it["persist"].as_str());
                (Action::Accept, chosen.into_iter().flatten().next())
            }
            ReviewDecision::ApprovedForSession => (Action::Accept, Some("session")),
            ReviewDecision::Abort => (Action::Cancel, None),
            _ => (Action::Decline, None),
        };
        let persist = persist.map(|it| json!({ "persist": it }));
        (action, Some(json!({})), persist)
    } else {
        let action = match given["action"].as_str() {
            Some("accept") => Action::Accept,
            Some("cancel") => Action::Cancel,
            _ => Action::Decline,
        };
        let part = |name: &str| given.get(name).filter(|it| it.is_object()).cloned();
        (action, part("content"), part("_meta"))
    };
    McpServerElicitationRequestResponse {
        action,
        content: content.filter(|_| action == Action::Accept).map(Into::into),
        meta: meta.map(Into::into),
    }
}
