//! Questions of MCP servers in the words of the protocol, and back.

use quipu_engine::{ThreadId, TurnId, Waiting};
use quipu_mcp::{Elicitation, Reaction};
use quipu_policy::mcp::mcp_may_elicit;
use quipu_wire::{
    McpServerElicitationAction, McpServerElicitationRequest, McpServerElicitationRequestParams,
    McpServerElicitationRequestResponse, ServerRequest,
};
use serde_json::value::RawValue;

use crate::call::Running;
use crate::host::Answer;

/// Asks the user on behalf of a server whose tool is being called.
pub(super) async fn ask(run: &Running, server: &str, elicitation: Elicitation) -> Reaction {
    if !mcp_may_elicit(&run.scope.approval_policy) {
        return Reaction::Decline;
    }
    let (thread, turn) = (&run.scope.thread_id, &run.scope.turn_id);
    match elicitation_request(thread, Some(turn), server, elicitation) {
        Ok(request) => reaction(run.ask_aside(request, Some(Waiting::Approval)).await),
        Err(why) => Reaction::Unsupported(why),
    }
}

/// The question as clients are asked it; the error is for the server.
pub fn elicitation_request(
    thread_id: &ThreadId,
    turn_id: Option<&TurnId>,
    server: &str,
    elicitation: Elicitation,
) -> Result<ServerRequest, String> {
    // The server's own `_meta` stays behind: in it approvals of tools are told from other questions, and a
    // server must not be able to dress up as one.
    let request = match elicitation {
        Elicitation::Form { message, schema } => McpServerElicitationRequest::Form {
            meta: None,
            message,
            requested_schema: serde_json::from_str(schema.get())
                .map_err(|error| format!("the form cannot be shown: {error}"))?,
        },
        Elicitation::Url {
            message,
            url,
            elicitation_id,
        } => McpServerElicitationRequest::Url {
            meta: None,
            message,
            url,
            elicitation_id,
        },
    };
    Ok(ServerRequest::McpServerElicitationRequest(
        McpServerElicitationRequestParams {
            thread_id: thread_id.to_string(),
            turn_id: turn_id.map(TurnId::to_string),
            server_name: server.to_owned(),
            request,
        },
    ))
}

/// What a client's answer means; none means that there will be none.
#[must_use]
pub fn reaction(answer: Option<Answer>) -> Reaction {
    let response = match answer {
        None => return Reaction::Cancel,
        Some(Err(())) => return Reaction::Decline,
        Some(Ok(json)) => json.parse::<McpServerElicitationRequestResponse>(),
    };
    let Ok(response) = response else {
        return Reaction::Decline;
    };
    match response.action {
        McpServerElicitationAction::Accept => {
            let content = response.content.filter(|it| !it.is_null());
            let raw = content.map(|it| RawValue::from_string(it.get().to_owned()));
            Reaction::Accept(raw.and_then(Result::ok))
        }
        McpServerElicitationAction::Decline => Reaction::Decline,
        McpServerElicitationAction::Cancel => Reaction::Cancel,
    }
}
