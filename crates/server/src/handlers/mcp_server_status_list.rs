//! `mcpServerStatus/list`: no MCP servers are started yet.

use quipu_wire::method::request::McpServerStatusList;
use quipu_wire::{ListMcpServerStatusParams, ListMcpServerStatusResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for McpServerStatusList {
    async fn handle(_cx: Cx, _params: ListMcpServerStatusParams, reply: Reply<Self>) {
        let empty = ListMcpServerStatusResponse {
            data: Vec::new(),
            next_cursor: None,
        };
        reply.send(Ok(empty)).await;
    }
}
