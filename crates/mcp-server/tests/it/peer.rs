//! An agent server in this process, and an MCP client that says what the test wants.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use quipu_client::Connect;
use quipu_embed::Embedded;
use quipu_embed::config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_testkit::client::within;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// A server with its home and a directory to work in.
pub struct Place {
    pub directory: TempDir,
    server: Arc<Mutex<Embedded>>,
}

impl Place {
    pub fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        let server = Arc::new(Mutex::new(start(&directory)));
        Place { directory, server }
    }

    /// Ends the server and starts another on the same home.
    pub async fn restart(&self) {
        self.stop().await;
        *self.server.lock().unwrap() = start(&self.directory);
    }

    pub async fn stop(&self) {
        let server = self.server.lock().unwrap().clone();
        within("the end of the server", server.stop()).await;
    }

    pub fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    pub fn connect(&self) -> Connect {
        let server = Arc::clone(&self.server);
        Arc::new(move || server.lock().unwrap().options())
    }

    /// A client over standard input and output that has introduced itself.
    pub async fn peer(&self) -> Peer {
        self.peer_with(json!({ "elicitation": {} })).await
    }

    /// The same with these capabilities.
    pub async fn peer_with(&self, capabilities: Value) -> Peer {
        let mut peer = self.stranger();
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "clientInfo": { "name": "tester", "version": "1" },
        });
        let answer = peer.call("initialize", hello).await;
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-06-18",
            "{answer}"
        );
        peer
    }

    pub fn stranger(&self) -> Peer {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let serving = quipu_mcp_server::serve(
            self.connect(),
            Some(self.work()),
            BufReader::new(input),
            output,
        );
        let (lines, writer) = tokio::io::split(ours);
        Peer {
            lines: BufReader::new(lines),
            writer,
            serving: tokio::spawn(serving),
            next_id: 0,
            seen: Vec::new(),
        }
    }
}

fn start(directory: &TempDir) -> Embedded {
    let home = Home::at(directory.path().join("home"));
    home.ensure().unwrap();
    std::fs::write(home.config_file(), "model_provider = \"offline\"\n").unwrap();
    let path = std::env::var("PATH").unwrap();
    let env = Env::new([("PATH", path.as_str())], directory.path());
    let system = SystemPaths::in_directory(&directory.path().join("etc"));
    Embedded::start(Loader::with_system_paths(
        env,
        home,
        Overrides::default(),
        system,
    ))
}

pub struct Peer {
    pub lines: BufReader<ReadHalf<DuplexStream>>,
    pub writer: WriteHalf<DuplexStream>,
    pub serving: JoinHandle<std::io::Result<()>>,
    next_id: i64,
    /// What came while an answer was waited for.
    pub seen: Vec<Value>,
}

impl Peer {
    pub async fn send(&mut self, message: Value) {
        self.write(&message.to_string()).await;
    }

    pub async fn write(&mut self, line: &str) {
        self.writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    pub async fn next(&mut self) -> Value {
        let mut line = String::new();
        within("a message", self.lines.read_line(&mut line))
            .await
            .unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request and returns its id.
    pub async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(id, &mut |_| panic!("nothing was to be asked"))
            .await
    }

    /// Calls a tool and answers what it elicits.
    pub async fn tool(
        &mut self,
        name: &str,
        arguments: Value,
        answer: &mut dyn FnMut(&Value) -> Value,
    ) -> Value {
        let params =
            json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "p" } });
        let id = self.ask("tools/call", params).await;
        self.answer(id, answer).await["result"].clone()
    }

    /// Waits for the answer to a request; `seen` has what came before it.
    pub async fn answer(&mut self, id: i64, answer: &mut dyn FnMut(&Value) -> Value) -> Value {
        self.seen.clear();
        loop {
            let message = self.next().await;
            let is_request = message.get("method").is_some();
            if message["id"] == id && !is_request {
                return message;
            }
            if is_request && message.get("id").is_some() {
                let answer = answer(&message["params"]);
                self.send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }))
                    .await;
            }
            self.seen.push(message);
        }
    }

    /// The types of the events that came, those that depend on the model's context left out.
    pub fn events(&self) -> Vec<&str> {
        let events = self
            .seen
            .iter()
            .filter_map(|it| it["params"]["msg"]["type"].as_str());
        events
            .filter(|it| !["raw_response_item", "token_count"].contains(it))
            .collect()
    }

    /// The first event of a type.
    pub fn event(&self, kind: &str) -> &Value {
        let mut events = self.seen.iter().map(|it| &it["params"]["msg"]);
        events.find(|it| it["type"] == kind).unwrap()
    }
}

/// A prompt that tells the offline model what to do.
pub fn script(steps: Value) -> String {
    json!({ "script": steps }).to_string()
}

pub fn run(command: &str) -> Value {
    json!({ "calls": [{ "name": "shell_command", "arguments": { "command": command } }] })
}
