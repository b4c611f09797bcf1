//! Asking the user whether a tool may be called, and what the answer means for later calls.

use std::collections::BTreeMap;

use quipu_engine::Waiting;
use quipu_mcp::OfferedTool;
use quipu_policy::mcp::{
    ToolApprovalMode, ToolHints, app_tool_question, mcp_tool_needs_question, mcp_tool_question,
};
use quipu_wire::{
    Json, McpElicitationObjectType, McpElicitationSchema, McpServerElicitationAction,
    McpServerElicitationRequest, McpServerElicitationRequestParams,
    McpServerElicitationRequestResponse, ServerRequest, ToolRequestUserInputOption,
    ToolRequestUserInputParams, ToolRequestUserInputQuestion, ToolRequestUserInputResponse,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::Approval;
use crate::call::Running;
use crate::guardian::Action;

const REJECTED: &str = "user rejected MCP tool call";
const CANCELLED: &str = "user cancelled MCP tool call";
/// The answers where the user is asked as if by the agent.
const ALLOW: &str = "Allow";
const ALLOW_SESSION: &str = "Allow for this session";
const CANCEL: &str = "Cancel";

/// How long an agreement lasts.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Persist {
    Session,
    Always,
}

/// What a client is told about the call, in `_meta`.
#[derive(Serialize)]
struct Meta<'a> {
    codex_approval_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    persist: Option<[&'static str; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connector_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connector_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connector_description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_params: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_params_display: Option<Vec<Param<'a>>>,
}

#[derive(Serialize)]
struct Param<'a> {
    name: &'a str,
    value: &'a Value,
    display_name: &'a str,
}

/// Sees to it that somebody agreed to a call; the error is what the user and the model are told.
pub(super) async fn approve(
    run: &Running,
    offered: &OfferedTool,
    arguments: Option<&Json>,
) -> Result<(), String> {
    let mode = run.scope.mcp.approval_mode(offered);
    let (server, tool) = (&offered.server, &offered.tool.name);
    let hints = ToolHints {
        read_only: offered.tool.hints.read_only_hint,
        destructive: offered.tool.hints.destructive_hint,
        open_world: offered.tool.hints.open_world_hint,
    };
    let needed = run.agreements().await.decide(&run.scope, |settings| {
        mcp_tool_needs_question(server, tool, mode, hints, settings)
    });
    if !needed {
        return Ok(());
    }
    if run.scope.reviewed {
        let action = Action::mcp_tool(server, tool, arguments);
        return match run.review(action).await {
            Approval::Denied(why) => Err(why),
            _ => Ok(()),
        };
    }
    let may_persist = mode == ToolApprovalMode::Auto;
    let persist = if run.scope.mcp.asks_by_elicitation {
        elicit(run, offered, arguments, may_persist).await?
    } else {
        ask(run, offered).await?
    };
    if let Some(persist) = persist.filter(|_| may_persist) {
        let accepted = (server.clone(), tool.clone());
        run.agree(move |it| it.approvals_mut().accept_mcp_tool(&accepted.0, &accepted.1))
            .await;
        if persist == Persist::Always {
            run.host.always_allow(offered).await;
        }
    }
    Ok(())
}

/// Asks as if the server asked, with an empty form.
async fn elicit(
    run: &Running,
    offered: &OfferedTool,
    arguments: Option<&Json>,
    may_persist: bool,
) -> Result<Option<Persist>, String> {
    let (tool, app) = (&offered.tool, offered.connector.as_ref());
    let parsed = arguments.map(Json::to_value);
    let meta = Meta {
        codex_approval_kind: "mcp_tool_call",
        persist: may_persist.then_some(["session", "always"]),
        tool_title: tool.title.as_deref(),
        tool_description: tool.description.as_deref(),
        source: app.map(|_| "connector"),
        connector_id: app.map(|app| app.id.as_str()),
        connector_name: app.and_then(|app| app.name.as_deref()),
        connector_description: app.and_then(|app| app.description.as_deref()),
        tool_params: arguments,
        tool_params_display: parsed.as_ref().and_then(Value::as_object).map(|members| {
            let shown = |(name, value)| Param {
                name,
                value,
                display_name: name,
            };
            members
                .iter()
                .map(|(name, value)| shown((name.as_str(), value)))
                .collect()
        }),
    };
    let params = McpServerElicitationRequestParams {
        thread_id: run.scope.thread_id.to_string(),
        turn_id: Some(run.scope.turn_id.to_string()),
        server_name: offered.server.clone(),
        request: McpServerElicitationRequest::Form {
            meta: Json::new(&meta).ok(),
            message: question(offered),
            requested_schema: McpElicitationSchema {
                schema: None,
                kind: McpElicitationObjectType::Object,
                properties: BTreeMap::new(),
                required: None,
            },
        },
    };
    let request = ServerRequest::McpServerElicitationRequest(params);
    let answer = match run.ask(request, Some(Waiting::Approval)).await {
        None => return Err(CANCELLED.to_owned()),
        Some(Err(())) => return Err(REJECTED.to_owned()),
        Some(Ok(answer)) => answer,
    };
    let response: McpServerElicitationRequestResponse =
        answer.parse().map_err(|_| REJECTED.to_owned())?;
    match response.action {
        McpServerElicitationAction::Accept => Ok(response.meta.as_ref().and_then(persisted)),
        McpServerElicitationAction::Decline => Err(REJECTED.to_owned()),
        McpServerElicitationAction::Cancel => Err(CANCELLED.to_owned()),
    }
}

/// The question, in the name of the app if the tool belongs to one.
fn question(offered: &OfferedTool) -> String {
    let tool = &offered.tool.name;
    match &offered.connector {
        Some(app) => app_tool_question(app.name.as_deref().unwrap_or(&app.id), tool),
        None => mcp_tool_question(&offered.server, tool),
    }
}

fn persisted(meta: &Json) -> Option<Persist> {
    #[derive(Deserialize)]
    struct Wish {
        persist: Persist,
    }
    meta.parse::<Wish>().ok().map(|wish| wish.persist)
}

/// Asks as if the agent asked, for clients that switched elicitations off.
async fn ask(run: &Running, offered: &OfferedTool) -> Result<Option<Persist>, String> {
    let id = format!("mcp_tool_call_approval_{}", run.id());
    let option = |label: &str, description: &str| ToolRequestUserInputOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    let request = ServerRequest::ItemToolRequestUserInput(ToolRequestUserInputParams {
        thread_id: run.scope.thread_id.to_string(),
        turn_id: run.scope.turn_id.to_string(),
        item_id: run.id().to_string(),
        is_blocking: true,
        questions: vec![ToolRequestUserInputQuestion {
            id: id.clone(),
            header: "Approve app tool call?".to_owned(),
            question: question(offered),
            is_other: false,
            is_secret: false,
            options: Some(vec![
                option(ALLOW, "The tool is called this once."),
                option(
                    ALLOW_SESSION,
                    "The tool is not asked about again in this session.",
                ),
                option(CANCEL, "The tool is not called."),
            ]),
        }],
    });
    let answer = run.ask(request, Some(Waiting::UserInput)).await;
    let answers = match answer {
        Some(Ok(answer)) => answer.parse::<ToolRequestUserInputResponse>().ok(),
        _ => None,
    };
    let chosen = answers.and_then(|mut it| it.answers.remove(&id)?.answers.pop());
    match chosen.as_deref() {
        Some(ALLOW) => Ok(None),
        Some(ALLOW_SESSION) => Ok(Some(Persist::Session)),
        _ => Err(CANCELLED.to_owned()),
    }
}
