//! What one delta costs the whole server: allocations, time and bytes, from the provider's socket to the
//! bytes for the client, in each wire format, and with numbered events. What the provider says is made beforehand and sent by a
//! thread that allocates nothing; the client only looks for line ends.
//!
//!     cargo run --release -p quipu-server --example deltas

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_rpc::{Connection, OnFull};
use quipu_server::{Server, Settings, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

const DELTAS: usize = 20_000;
const LINE_LIMIT: usize = 16 << 20;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    ALLOCATED.fetch_add(bytes, Ordering::Relaxed);
}

/// Allocations so far and their bytes.
fn counted() -> [usize; 2] {
    [&ALLOCATIONS, &ALLOCATED].map(|it| it.load(Ordering::Relaxed))
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A client that reads lines into one buffer.
struct Client {
    reader: BufReader<tokio::io::ReadHalf<DuplexStream>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
    line: String,
    bytes: usize,
    deltas: usize,
}

impl Client {
    async fn send(&mut self, message: Value) -> io::Result<()> {
        self.writer
            .write_all(format!("{message}\n").as_bytes())
            .await
    }

    /// Reads until a line has this text.
    async fn until(&mut self, text: &str) -> io::Result<()> {
        loop {
            self.line.clear();
            if self.reader.read_line(&mut self.line).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.bytes += self.line.len();
            self.deltas += usize::from(self.line.contains("item/agentMessage/delta"));
            if self.line.contains(text) {
                return Ok(());
            }
        }
    }

    async fn turn(&mut self, thread: &str) -> io::Result<()> {
        let input = json!([{ "type": "text", "text": "hello" }]);
        let params = json!({ "threadId": thread, "input": input });
        (self.bytes, self.deltas) = (0, 0);
        self.send(json!({ "id": 3, "method": "turn/start", "params": params }))
            .await?;
        self.until("\"turn/completed\"").await
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let mut out = io::stdout();
    for (wire, events) in [
        ("responses", false),
        ("responses", true),
        ("chat", false),
        ("anthropic", false),
    ] {
        let directory = tempfile::tempdir()?;
        let provider = provider(stream(wire))?;
        let mut client = connect(directory.path(), wire, &provider, events).await?;
        client
            .send(json!({ "id": 2, "method": "thread/start", "params": {} }))
            .await?;
        client.until("\"id\":2").await?;
        let answer: Value = serde_json::from_str(&client.line)?;
        let thread = answer["result"]["thread"]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        // The first turn warms everything up; the second is counted.
        client.turn(&thread).await?;
        let (before, begun) = (counted(), Instant::now());
        client.turn(&thread).await?;
        let (elapsed, after) = (begun.elapsed(), counted());
        if client.deltas != DELTAS {
            return Err(io::Error::other(client.line));
        }
        let each = |figure: usize| figure as f64 / client.deltas as f64;
        writeln!(
            out,
            "{wire}{}: {} deltas, {:.0} bytes to the client, {:.2} allocations of {:.0} bytes in all, {:.0} ns each",
            if events { ", numbered" } else { "" },
            client.deltas,
            each(client.bytes),
            each(after[0] - before[0]),
            each(after[1] - before[1]),
            elapsed.as_nanos() as f64 / client.deltas as f64,
        )?;
    }
    Ok(())
}

async fn connect(directory: &Path, wire: &str, base_url: &str, events: bool) -> io::Result<Client> {
    let settings = format!(
        "model = \"m\"\nmodel_context_window = 272000\nmodel_provider = \"p\"\n[model_providers.p]\nname = \"p\"\nbase_url = \"{base_url}\"\nwire_api = \"{wire}\"\n"
    );
    std::fs::write(directory.join("config.toml"), settings)?;
    let env = Env::new([("HOME", directory.to_string_lossy().as_ref())], directory);
    let system = SystemPaths::in_directory(&directory.join("etc"));
    let config = Loader::with_system_paths(env, Home::at(directory), Overrides::default(), system);
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    let connection = Connection::lines(reader, writer, LINE_LIMIT);
    tokio::spawn(serve(
        Server::new(Settings::new(config)),
        connection,
        OnFull::Wait,
    ));
    let (reader, writer) = tokio::io::split(ours);
    let mut client = Client {
        reader: BufReader::new(reader),
        writer,
        line: String::new(),
        bytes: 0,
        deltas: 0,
    };
    let hello = json!({
        "clientInfo": { "name": "deltas", "version": "1" },
        "capabilities": { "quipu": { "events": events } },
    });
    client
        .send(json!({ "id": 1, "method": "initialize", "params": hello }))
        .await?;
    client.until("\"id\":1").await?;
    client.send(json!({ "method": "initialized" })).await?;
    Ok(client)
}

/// Answers every request with the same bytes.
fn provider(body: String) -> io::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let base_url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
        let answer = format!("{head}transfer-encoding: chunked\r\n\r\n{body}0\r\n\r\n");
        for mut connection in listener.incoming().flatten() {
            if read_request(&mut connection).is_err()
                || connection.write_all(answer.as_bytes()).is_err()
            {
                // Not every request is for an answer.
                continue;
            }
        }
    });
    Ok(base_url)
}

/// Reads a whole request: to close a connection before that would break the answer off.
fn read_request(connection: &mut TcpStream) -> io::Result<()> {
    let mut buffer = [0; 1 << 16];
    let mut filled = 0;
    let mut rest = loop {
        let read = connection.read(&mut buffer[filled..])?;
        filled += read;
        if let Some(rest) = rest_of_body(&buffer[..filled]) {
            break rest;
        }
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    while rest > 0 {
        let read = connection.read(&mut buffer)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        rest = rest.saturating_sub(read);
    }
    Ok(())
}

/// How many bytes are still to come, once the head is there.
fn rest_of_body(request: &[u8]) -> Option<usize> {
    let head = request.windows(4).position(|it| it == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&request[..head]).ok()?;
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(Ok(0), str::parse).ok()?;
    Some((head + length).saturating_sub(request.len()))
}

/// A whole answer of that format, as its provider writes it: each event is a chunk of the body.
fn stream(wire: &str) -> String {
    let chunk = |event: String| format!("{:x}\r\n{event}\r\n", event.len());
    let event = |value: Value| {
        let kind = value["type"].as_str().unwrap_or_default();
        chunk(format!("event: {kind}\ndata: {value}\n\n"))
    };
    let plain = |value: Value| chunk(format!("data: {value}\n\n"));
    let message = |content: Value| json!({ "id": "msg_1", "type": "message", "role": "assistant", "content": content });
    let (head, delta, tail) = match wire {
        "responses" => (
            event(
                json!({ "type": "response.output_item.added", "output_index": 0, "item": message(json!([])) }),
            ),
            event(
                json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "word " }),
            ),
            event(
                json!({ "type": "response.output_item.done", "item": message(json!([{ "type": "output_text", "text": "word ".repeat(DELTAS) }])) }),
            ) + &event(json!({ "type": "response.completed", "response": { "id": "r" } })),
        ),
        "chat" => (
            String::new(),
            plain(
                json!({ "id": "c", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": { "content": "word " }, "finish_reason": null }] }),
            ),
            plain(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }))
                + &chunk("data: [DONE]\n\n".to_owned()),
        ),
        _ => (
            event(
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            ),
            event(
                json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "word " } }),
            ),
            event(json!({ "type": "content_block_stop", "index": 0 }))
                + &event(json!({ "type": "message_stop" })),
        ),
    };
    head + &delta.repeat(DELTAS) + &tail
}
