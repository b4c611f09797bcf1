//! What the scripted server answers, the same over every transport.

use serde_json::{Value, json};

/// What to do about a request.
pub(super) enum Act {
    Result(Value),
    Error(i64, &'static str),
    /// Says these things first, then answers with a text.
    SayFirst(Vec<Value>, &'static str),
    /// Asks the user and answers with what came back.
    Ask(Value),
    /// Never answers.
    Hang,
    /// Answers when there is a line in this pipe.
    Wait(String),
    /// Ends the process.
    Crash,
    /// Writes what is no message, then answers.
    Garbage,
    /// Writes a message that is too long to be taken.
    Huge,
    /// Says a great many things that nobody asked for, then answers.
    Flood,
    /// Starts a process that would outlive it, and answers with both ids.
    Family,
    /// Gets one more tool and says so.
    Grow,
    /// Forgets to read its input from now on.
    Deaf,
}

/// An image of one pixel.
pub const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(super) fn act(mode: &str, grown: bool, method: &str, params: &Value) -> Act {
    match method {
        "initialize" if mode == "refuse" => Act::Error(-32000, "no way"),
        "initialize" => Act::Result(json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {}, "resources": {} },
            "serverInfo": { "name": "scripted", "version": "1" },
        })),
        "ping" => Act::Result(json!({})),
        "tools/list" => Act::Result(tools(mode, grown, params)),
        "resources/list" if mode == "large" => {
            let page = params["cursor"].as_str().map_or(0, str::len);
            Act::Result(json!({
                "resources": [{ "uri": "note://x", "name": "x".repeat(3 << 20) }],
                "nextCursor": "x".repeat(page + 1),
            }))
        }
        "resources/list" if params["cursor"] == "two" => {
            Act::Result(json!({ "resources": [{ "uri": "note://two", "name": "two" }] }))
        }
        "resources/list" => Act::Result(json!({
            "resources": [{ "uri": "note://one", "name": "one", "mimeType": "text/plain", "size": 3 }],
            "nextCursor": "two",
        })),
        "resources/templates/list" => Act::Result(json!({
            "resourceTemplates": [{ "uriTemplate": "note://{name}", "name": "note" }],
        })),
        "resources/read" if params["uri"] == "note://one" => Act::Result(json!({
            "contents": [{ "uri": "note://one", "mimeType": "text/plain", "text": "abc" }],
        })),
        "resources/read" => Act::Error(-32002, "no such resource"),
        "tools/call" => call(params),
        _ => Act::Error(-32601, "Method not found"),
    }
}

fn call(params: &Value) -> Act {
    let progress = |number: u64| {
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": params["_meta"]["progressToken"], "progress": number, "total": 2,
            "message": format!("step {number}"),
        } })
    };
    match params["name"].as_str().unwrap_or_default() {
        "fail" => Act::Error(-32000, "tool broke"),
        "is_error" => Act::Result(json!({
            "content": [{ "type": "text", "text": "bad thing" }], "isError": true,
        })),
        "picture" => Act::Result(json!({ "content": [
            { "type": "text", "text": "pixel" },
            { "type": "image", "data": PIXEL, "mimeType": "image/png" },
        ] })),
        "structured" => Act::Result(json!({
            "content": [{ "type": "text", "text": "t" }], "structuredContent": { "z": 1, "a": [1, 2] },
        })),
        "deep_content" => Act::Result(json!({ "content": [{ "type": "x", "x": nested() }] })),
        "deep_data" => Act::Result(json!({ "content": [], "structuredContent": nested() })),
        "long" => Act::Result(text(&"0123456789".repeat(20_000))),
        "progress" => Act::SayFirst(vec![progress(1), progress(2)], "done"),
        "ask" => Act::Ask(json!({ "message": "Confirm?", "requestedSchema": {
            "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
        } })),
        "ask_url" => Act::Ask(json!({
            "mode": "url", "message": "Go", "url": "https://example.com/x", "elicitationId": "e1",
        })),
        "ask_form" => Act::Ask(json!({ "message": "Who?", "requestedSchema": {
            "type": "object", "required": ["name"], "properties": {
                "color": { "type": "string", "enum": ["red", "blue"] },
                "name": { "type": "string", "title": "Name", "minLength": 2 },
            },
        } })),
        "ask_deep" => Act::Ask(json!({ "message": "Deep?", "requestedSchema": {
            "type": "object", "properties": { "deep": { "type": "object", "properties": {} } },
        } })),
        "hang" => Act::Hang,
        "wait" => Act::Wait(
            params["arguments"]["pipe"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        ),
        "crash" => Act::Crash,
        "garbage" => Act::Garbage,
        "huge" => Act::Huge,
        "flood" => Act::Flood,
        "family" => Act::Family,
        "grow" => Act::Grow,
        "deaf" => Act::Deaf,
        _ => Act::Result(text(
            &json!({ "arguments": params.get("arguments") }).to_string(),
        )),
    }
}

/// Lists in lists, more than clients could read.
fn nested() -> Value {
    (0..200).fold(json!([]), |inner, _| json!([inner]))
}

/// The result of a tool that says one thing.
pub(super) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn tools(mode: &str, grown: bool, params: &Value) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "z": { "type": "integer", "minimum": 1 }, "a": { "enum": ["x", "y"] } },
        "required": ["z"],
    });
    let mut tools = vec![
        json!({ "name": "echo", "title": "Echo", "description": "echoes", "inputSchema": schema,
            "annotations": { "readOnlyHint": true } }),
        json!({ "name": "danger", "title": "Destroyer", "description": "boom",
            "inputSchema": { "type": "object" }, "annotations": { "destructiveHint": true } }),
        json!({ "name": "plain", "inputSchema": {} }),
        json!({ "name": "dotted.name", "inputSchema": {}, "annotations": { "readOnlyHint": true } }),
        json!({ "name": "x".repeat(70), "inputSchema": {}, "annotations": { "readOnlyHint": true } }),
    ];
    let quiet = [
        "fail",
        "is_error",
        "picture",
        "structured",
        "long",
        "progress",
        "ask",
        "ask_url",
        "ask_deep",
        "ask_form",
        "hang",
        "wait",
        "crash",
        "garbage",
        "huge",
        "flood",
        "family",
        "grow",
        "deaf",
        "deep_content",
        "deep_data",
    ];
    tools.extend(quiet.iter().map(|name| {
        json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } })
    }));
    if grown {
        tools.push(
            json!({ "name": "grown", "inputSchema": {}, "annotations": { "readOnlyHint": true } }),
        );
    }
    if mode == "many" {
        let more = (0..10_000).map(|n| json!({ "name": format!("t{n}"), "inputSchema": {} }));
        tools.extend(more);
    }
    if mode == "large" {
        let description = "x".repeat(300_000);
        tools.push(json!({ "name": "large", "description": description, "inputSchema": {} }));
    }
    if mode != "paged" {
        return json!({ "tools": tools });
    }
    let rest = tools.split_off(2);
    match params["cursor"].as_str() {
        None => json!({ "tools": tools, "nextCursor": "rest" }),
        Some(_) => json!({ "tools": rest }),
    }
}
