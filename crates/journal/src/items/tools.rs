//! Calls of MCP servers and of tools of the client, searches, images.

use quipu_wire::{
    DynamicToolCallStatus, Json, McpToolCallError, McpToolCallResult, McpToolCallStatus,
    ThreadItem, WebSearchAction,
};

use crate::event::{
    self, DynamicToolCallRequest, DynamicToolCallResponse, Elapsed, Event, ImageGenerationEnd,
    McpInvocation, McpResult, McpToolCallBegin, McpToolCallEnd, ViewImageToolCall, WebSearchBegin,
    WebSearchEnd,
};

pub(super) fn mcp_called(begin: McpToolCallBegin) -> ThreadItem {
    ThreadItem::McpToolCall {
        id: begin.call_id,
        server: begin.invocation.server,
        tool: begin.invocation.tool,
        status: McpToolCallStatus::InProgress,
        arguments: begin.invocation.arguments.unwrap_or_default(),
        result: None,
        error: None,
        duration_ms: None,
    }
}

pub(super) fn mcp_answered(end: McpToolCallEnd) -> ThreadItem {
    let failed = end
        .result
        .as_ref()
        .map_or(true, |result| result.is_error == Some(true));
    let (result, error) = match end.result {
        Ok(result) => {
            let structured_content = result.structured_content;
            (
                Some(McpToolCallResult {
                    content: result.content,
                    structured_content,
                }),
                None,
            )
        }
        Err(message) => (None, Some(McpToolCallError { message })),
    };
    ThreadItem::McpToolCall {
        id: end.call_id,
        server: end.invocation.server,
        tool: end.invocation.tool,
        status: if failed {
            McpToolCallStatus::Failed
        } else {
            McpToolCallStatus::Completed
        },
        arguments: end.invocation.arguments.unwrap_or_default(),
        result,
        error,
        duration_ms: Some(end.duration.as_millis()),
    }
}

pub(super) fn dynamic_called(call: DynamicToolCallRequest) -> ThreadItem {
    ThreadItem::DynamicToolCall {
        id: call.call_id,
        namespace: call.namespace,
        tool: call.tool,
        arguments: call.arguments,
        status: DynamicToolCallStatus::InProgress,
        content_items: None,
        success: None,
        duration_ms: None,
    }
}

pub(super) fn dynamic_answered(answer: DynamicToolCallResponse) -> ThreadItem {
    let content = answer
        .content_items
        .iter()
        .filter_map(|item| item.parse().ok())
        .collect();
    ThreadItem::DynamicToolCall {
        id: answer.call_id,
        namespace: answer.namespace,
        tool: answer.tool,
        arguments: answer.arguments,
        status: match answer.success {
            true => DynamicToolCallStatus::Completed,
            false => DynamicToolCallStatus::Failed,
        },
        content_items: Some(content),
        success: Some(answer.success),
        duration_ms: Some(answer.duration.as_millis()),
    }
}

pub(super) fn searching(begin: WebSearchBegin) -> ThreadItem {
    ThreadItem::WebSearch {
        id: begin.call_id,
        query: String::new(),
        action: None,
    }
}

pub(super) fn searched(end: WebSearchEnd) -> ThreadItem {
    let action = match end.action {
        event::WebSearchAction::Search { query, queries } => {
            WebSearchAction::Search { query, queries }
        }
        event::WebSearchAction::OpenPage { url } => WebSearchAction::OpenPage { url },
        event::WebSearchAction::FindInPage { url, pattern } => {
            WebSearchAction::FindInPage { url, pattern }
        }
        event::WebSearchAction::Other => WebSearchAction::Other,
    };
    ThreadItem::WebSearch {
        id: end.call_id,
        query: end.query,
        action: Some(action),
    }
}

pub(super) fn viewed(view: ViewImageToolCall) -> ThreadItem {
    ThreadItem::ImageView {
        id: view.call_id,
        path: view.path,
    }
}

pub(super) fn drawn(end: ImageGenerationEnd) -> ThreadItem {
    ThreadItem::ImageGeneration {
        id: end.call_id,
        status: end.status,
        revised_prompt: end.revised_prompt,
        result: end.result,
        saved_path: end.saved_path,
    }
}

/// The event of a call to an MCP server that runs, or has run.
pub(super) fn store_mcp(item: ThreadItem) -> Option<Event> {
    let ThreadItem::McpToolCall {
        id,
        server,
        tool,
        status,
        arguments,
        result,
        error,
        duration_ms,
    } = item
    else {
        return None;
    };
    let arguments = Some(arguments).filter(|arguments| !arguments.is_null());
    let invocation = McpInvocation {
        server,
        tool,
        arguments,
    };
    if status == McpToolCallStatus::InProgress {
        return Some(Event::McpToolCallBegin(McpToolCallBegin {
            call_id: id,
            invocation,
        }));
    }
    let result = match result {
        Some(result) => Ok(McpResult {
            content: result.content,
            structured_content: result.structured_content,
            is_error: Some(status == McpToolCallStatus::Failed),
            meta: None,
        }),
        None => Err(error.map(|error| error.message).unwrap_or_default()),
    };
    let duration = Elapsed::from_millis(duration_ms.unwrap_or_default());
    Some(Event::McpToolCallEnd(McpToolCallEnd {
        call_id: id,
        invocation,
        duration,
        result,
    }))
}

/// The event of a call to a tool of the client that runs, or has run.
pub(super) fn store_dynamic(item: ThreadItem, turn: &str) -> Option<Event> {
    let ThreadItem::DynamicToolCall {
        id,
        namespace,
        tool,
        arguments,
        status,
        content_items,
        success,
        duration_ms,
    } = item
    else {
        return None;
    };
    let (call_id, turn_id) = (id, turn.to_owned());
    if status == DynamicToolCallStatus::InProgress {
        let call = DynamicToolCallRequest {
            call_id,
            turn_id,
            namespace,
            tool,
            arguments,
        };
        return Some(Event::DynamicToolCallRequest(call));
    }
    let content = content_items.unwrap_or_default();
    Some(Event::DynamicToolCallResponse(DynamicToolCallResponse {
        call_id,
        turn_id,
        namespace,
        tool,
        arguments,
        content_items: content
            .iter()
            .filter_map(|item| Json::new(item).ok())
            .collect(),
        success: success.unwrap_or(status == DynamicToolCallStatus::Completed),
        error: None,
        duration: Elapsed::from_millis(duration_ms.unwrap_or_default()),
    }))
}

pub(super) fn store_search(
    call_id: String,
    query: String,
    action: Option<WebSearchAction>,
) -> Event {
    let action = match action {
        None => return Event::WebSearchBegin(WebSearchBegin { call_id }),
        Some(WebSearchAction::Search { query, queries }) => {
            event::WebSearchAction::Search { query, queries }
        }
        Some(WebSearchAction::OpenPage { url }) => event::WebSearchAction::OpenPage { url },
        Some(WebSearchAction::FindInPage { url, pattern }) => {
            event::WebSearchAction::FindInPage { url, pattern }
        }
        Some(WebSearchAction::Other | WebSearchAction::Unrecognized(_)) => {
            event::WebSearchAction::Other
        }
    };
    Event::WebSearchEnd(WebSearchEnd {
        call_id,
        query,
        action,
    })
}

pub(super) fn store_view(call_id: String, path: String) -> Event {
    Event::ViewImageToolCall(ViewImageToolCall { call_id, path })
}

pub(super) fn store_drawing(
    call_id: String,
    status: String,
    revised_prompt: Option<String>,
    result: String,
    saved_path: Option<String>,
) -> Event {
    Event::ImageGenerationEnd(ImageGenerationEnd {
        call_id,
        status,
        revised_prompt,
        result,
        saved_path,
    })
}
