//! `mcpServer/tool/call` and `mcpServer/resource/read`: the MCP servers of a thread, without its model.

use quipu_mcp::{CallEvent, Client, Fleet, ToolCall};
use quipu_wire::method::request::{McpServerResourceRead, McpServerToolCall};
use quipu_wire::{
    Json, McpResourceReadParams, McpResourceReadResponse, McpServerToolCallParams,
    McpServerToolCallResponse,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::Handler;
use crate::threads::{self, McpMessage, Message};
use crate::{Cx, Refusal};

/// Events of a call that may wait.
const EVENTS: usize = 16;

impl Handler for McpServerToolCall {
    async fn run(cx: Cx, params: McpServerToolCallParams) -> Result<Self::Result, Refusal> {
        let client = client(&cx, &params.thread_id, &params.server).await?;
        let arguments = raw(params.arguments)?;
        if let Some(other) = arguments.as_ref().filter(|it| !it.get().starts_with('{')) {
            let text = format!("arguments must be a JSON object, not {other}");
            return Err(Refusal::invalid_request(text));
        }
        let (events, mut happened) = mpsc::channel::<CallEvent>(EVENTS);
        let call = client.call_tool(ToolCall {
            name: &params.tool,
            arguments: arguments.as_deref(),
            meta: Vec::new(),
            events,
        });
        tokio::pin!(call);
        let result = loop {
            tokio::select! {
                biased;
                () = cx.client.left() => return Err(failed("the client has left")),
                // Nobody is asked on behalf of such a call: dropping a question cancels it.
                Some(_) = happened.recv() => {}
                result = &mut call => break result,
            }
        };
        let result = result.map_err(|error| failed(&error.to_string()))?;
        let json =
            |it: Box<RawValue>| Json::try_from(it).map_err(|error| failed(&error.to_string()));
        let content = result.content.into_iter().map(json);
        Ok(McpServerToolCallResponse {
            content: content.collect::<Result<_, _>>()?,
            structured_content: result.structured_content.map(json).transpose()?,
            is_error: result.is_error,
        })
    }
}

impl Handler for McpServerResourceRead {
    async fn run(cx: Cx, params: McpResourceReadParams) -> Result<Self::Result, Refusal> {
        #[derive(Deserialize)]
        struct Contents(Vec<Json>);
        let Some(thread_id) = &params.thread_id else {
            let text = "threadId is required: MCP servers belong to threads";
            return Err(Refusal::invalid_request(text));
        };
        let client = client(&cx, thread_id, &params.server).await?;
        let read = client.read_resource(&params.uri).await;
        let read = read.map_err(|error| failed(&error.to_string()))?;
        let Contents(contents) = Json::try_from(read)
            .map_err(|error| failed(&error.to_string()))?
            .parse()
            .map_err(|error| failed(&error.to_string()))?;
        Ok(McpResourceReadResponse {
            contents,
            origin_call_id: params.origin_call_id,
        })
    }
}

/// A connection to a server of a loaded thread.
async fn client(cx: &Cx, thread_id: &str, server: &str) -> Result<Client, Refusal> {
    let thread = threads::loaded(&cx.server, thread_id)?;
    let (done, fleet) = oneshot::channel::<Fleet>();
    thread.send(Message::Mcp(McpMessage::Fleet { done })).await;
    let fleet = fleet.await.map_err(|_| Refusal::ThreadUnloading)?;
    if !fleet.names().any(|name| name == server) {
        return Err(failed(&format!("unknown MCP server '{server}'")));
    }
    let client = fleet.client(server).await;
    client.map_err(|error| failed(&error.to_string()))
}

fn raw(json: Option<Json>) -> Result<Option<Box<RawValue>>, Refusal> {
    let raw = json.filter(|it| it.get() != "null");
    let raw = raw.map(|it| RawValue::from_string(it.get().to_owned()));
    raw.transpose().map_err(|error| failed(&error.to_string()))
}

fn failed(why: &str) -> Refusal {
    Refusal::internal(why)
}
