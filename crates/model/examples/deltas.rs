//! What one delta costs: allocations and time, from socket to event, in each wire format. The
//! server's bytes are made beforehand and sent from another thread, so only the client is counted.
//!
//!     cargo run --release -p quipu-model --example deltas

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use quipu_model::{Client, Credentials, ModelEvent, ProviderConfig, Request, WireApi};
use serde_json::{Value, json};

const DELTAS: usize = 20_000;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut out = io::stdout();
    for wire in [WireApi::Responses, WireApi::Chat, WireApi::Anthropic] {
        let body = stream(wire);
        let base_url = serve(body.clone())?;
        let client = Client::new(
            ProviderConfig {
                id: "bench".into(),
                base_url: Some(base_url),
                wire_api: wire,
                ..ProviderConfig::default()
            },
            Credentials::None,
        );
        // The first answer warms the client up; the second is counted.
        read(&client).await;
        let (allocations, begun) = (ALLOCATIONS.get(), Instant::now());
        let deltas = read(&client).await;
        let (elapsed, allocations) = (begun.elapsed(), ALLOCATIONS.get() - allocations);
        writeln!(
            out,
            "{wire:?}: {deltas} deltas, {:.0} bytes, {:.2} allocations, {:.0} ns each",
            body.len() as f64 / deltas as f64,
            allocations as f64 / deltas as f64,
            elapsed.as_nanos() as f64 / deltas as f64,
        )?;
    }
    Ok(())
}

async fn read(client: &Client) -> usize {
    let mut stream = client.stream(Request::default());
    let mut deltas = 0;
    while let Some(event) = stream.next().await {
        deltas += usize::from(matches!(event, ModelEvent::TextDelta { .. }));
    }
    deltas
}

fn serve(body: String) -> io::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let base_url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
        let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        for connection in listener.incoming().flatten() {
            let mut connection = connection;
            let mut request = [0; 65536];
            if connection.read(&mut request).is_err()
                || connection.write_all(answer.as_bytes()).is_err()
            {
                return;
            }
        }
    });
    Ok(base_url)
}

/// A whole answer of that format, as its provider writes it.
fn stream(wire: WireApi) -> String {
    let event = |value: Value| {
        format!(
            "event: {}\ndata: {value}\n\n",
            value["type"].as_str().unwrap_or("")
        )
    };
    let text = "word ".repeat(DELTAS);
    let (head, delta, tail) = match wire {
        WireApi::Responses | WireApi::Offline => (
            event(
                json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": "msg_1", "type": "message", "role": "assistant", "content": []}}),
            ),
            event(
                json!({"type": "response.output_text.delta", "sequence_number": 1, "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "word ", "logprobs": []}),
            ),
            event(
                json!({"type": "response.output_item.done", "item": {"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}}),
            ) + &event(json!({"type": "response.completed", "response": {"id": "r"}})),
        ),
        WireApi::Chat => (
            String::new(),
            format!(
                "data: {}\n\n",
                json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": null}]})
            ),
            format!(
                "data: {}\n\ndata: [DONE]\n\n",
                json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})
            ),
        ),
        WireApi::Anthropic => (
            event(
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            ),
            event(
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}),
            ),
            event(json!({"type": "content_block_stop", "index": 0}))
                + &event(json!({"type": "message_stop"})),
        ),
    };
    head + &delta.repeat(DELTAS) + &tail
}
