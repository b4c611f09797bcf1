//! The MCP server whose tools are those of connected apps. A tool whose name ends in `ask` asks the user.

use std::io;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::{State, answer};
use crate::http::Request;

/// Where it is.
pub(super) const PATH: &str = "/api/codex/apps";

impl State {
    pub(super) async fn apps(&self, stream: &mut TcpStream, request: &Request) -> io::Result<()> {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let id = &body["id"];
        let Some(method) = body["method"].as_str() else {
            if let Some(asked) = self.lock().asked.take() {
                // The one who asked may have gone.
                asked.send(body).ok();
            }
            return answer(stream, 202, "").await;
        };
        if id.is_null() {
            return answer(stream, 202, "").await;
        }
        let result = match method {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "apps", "version": "1" },
            }),
            "tools/list" => json!({ "tools": self.lock().tools }),
            "tools/call" if ends_in_ask(&body) => return self.ask(stream, id).await,
            "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
            _ => json!({}),
        };
        let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        answer(stream, 200, &message.to_string()).await
    }

    /// Asks the user and answers with what came back.
    async fn ask(&self, stream: &mut TcpStream, id: &Value) -> io::Result<()> {
        let (sender, answered) = oneshot::channel();
        self.lock().asked = Some(sender);
        let head =
            "HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await?;
        let schema = json!({
            "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
        });
        let question = json!({
            "jsonrpc": "2.0", "id": 7, "method": "elicitation/create",
            "params": { "mode": "form", "message": "Confirm?", "requestedSchema": schema },
        });
        event(stream, &question).await?;
        let back = answered.await.unwrap_or_default();
        let text = back["result"].to_string();
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        event(
            stream,
            &json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        )
        .await?;
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}

fn ends_in_ask(call: &Value) -> bool {
    let name = call["params"]["name"].as_str();
    name.is_some_and(|name| name.ends_with("ask"))
}

async fn event(stream: &mut TcpStream, message: &Value) -> io::Result<()> {
    stream
        .write_all(format!("data: {message}\n\n").as_bytes())
        .await
}
