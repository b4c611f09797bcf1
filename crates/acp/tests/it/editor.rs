//! An agent server in this process, and an editor that says what the test wants.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use quipu_client::{Connect, Options};
use quipu_embed::Embedded;
use quipu_embed::config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_rpc::Connection;
use quipu_testkit::client::within;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// A server with its home and a directory to work in.
pub struct Place {
    directory: TempDir,
    /// Nothing while there is no server.
    server: Arc<Mutex<Option<Embedded>>>,
    settings: Settings,
}

/// How a server is configured: its `config.toml` and its environment.
struct Settings {
    config: String,
    env: Vec<(String, String)>,
}

impl Place {
    pub fn new() -> Place {
        Place::with("model_provider = \"offline\"\n", &[])
    }

    pub fn with(config: &str, env: &[(&str, &str)]) -> Place {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        let settings = Settings {
            config: config.to_owned(),
            env: env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        };
        let server = Arc::new(Mutex::new(Some(start(&directory, &settings))));
        Place {
            directory,
            server,
            settings,
        }
    }

    pub fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    pub async fn stop(&self) {
        let server = self.server.lock().take().unwrap();
        within("the end of the server", server.stop()).await;
    }

    /// Starts another server on the same home.
    pub fn start(&self) {
        *self.server.lock() = Some(start(&self.directory, &self.settings));
    }

    pub fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    pub fn connect(&self) -> Connect {
        let server = Arc::clone(&self.server);
        let nowhere = self.directory.path().join("nowhere");
        Arc::new(move || match &*server.lock() {
            Some(server) => server.options(),
            None => Options::unix(&nowhere),
        })
    }

    /// An editor that has said nothing yet.
    pub fn stranger(&self) -> Editor {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let connection = Connection::lines(input, output, 1 << 20);
        let stop = std::future::pending();
        let (connect, home) = (self.connect(), self.home());
        let serving = async move {
            quipu_acp::serve(connect, "1.2.3", &home, connection, stop).await;
        };
        let (lines, writer) = tokio::io::split(ours);
        Editor {
            lines: BufReader::new(lines),
            writer,
            serving: tokio::spawn(serving),
            next_id: 0,
            updates: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// An editor with a session, and the id of that.
    pub async fn editor(&self, capabilities: Value) -> (Editor, String) {
        let mut editor = self.stranger();
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
        editor.call("initialize", hello).await;
        let new = json!({ "cwd": self.work(), "mcpServers": [] });
        let answer = editor.call("session/new", new).await;
        let id = answer["result"]["sessionId"].as_str();
        let id = id.unwrap_or_else(|| panic!("{answer}")).to_owned();
        (editor, id)
    }
}

fn start(directory: &TempDir, settings: &Settings) -> Embedded {
    let home = Home::at(directory.path().join("home"));
    home.ensure().unwrap();
    std::fs::write(home.config_file(), &settings.config).unwrap();
    let path = std::env::var("PATH").unwrap();
    let env = settings.env.iter();
    let env = env.map(|(name, value)| (name.as_str(), value.as_str()));
    let env = Env::new(
        [("PATH", path.as_str())].into_iter().chain(env),
        directory.path(),
    );
    let system = SystemPaths::in_directory(&directory.path().join("etc"));
    Embedded::start(Loader::with_system_paths(
        env,
        home,
        Overrides::default(),
        system,
    ))
}

pub struct Editor {
    lines: BufReader<ReadHalf<DuplexStream>>,
    pub writer: WriteHalf<DuplexStream>,
    pub serving: JoinHandle<()>,
    next_id: i64,
    /// What the agent showed.
    pub updates: Vec<Value>,
    /// What the agent asked for, which waits for an answer, and what it cancelled.
    pub asked: Vec<Value>,
}

impl Editor {
    pub async fn write(&mut self, lines: &str) {
        let lines = format!("{lines}\n");
        self.writer.write_all(lines.as_bytes()).await.unwrap();
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line);
        within("a message", read).await.unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// Takes the next message; if it is an answer, returns it.
    pub async fn take(&mut self) -> Option<Value> {
        let message = self.next().await;
        match message["method"].as_str() {
            None => return Some(message),
            Some("session/update") => self.updates.push(message["params"]["update"].clone()),
            Some(_) => self.asked.push(message),
        }
        None
    }

    /// A request with an id of its own.
    pub fn request(&mut self, method: &str, params: Value) -> (i64, String) {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        (id, request.to_string())
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> i64 {
        let (id, request) = self.request(method, params);
        self.write(&request).await;
        id
    }

    /// Waits for the answer to a request.
    pub async fn answer(&mut self, id: i64) -> Value {
        loop {
            if let Some(answer) = self.take().await {
                assert_eq!(answer["id"], id, "{answer}");
                return answer;
            }
        }
    }

    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// Waits until the agent has asked for something, and returns that.
    pub async fn question(&mut self) -> Value {
        while self.asked.is_empty() {
            let answer = self.take().await;
            assert!(answer.is_none(), "{answer:?}");
        }
        self.asked.remove(0)
    }

    pub async fn reply(&mut self, question: &Value, result: Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        self.write(&answer.to_string()).await;
    }

    /// Waits until this text has been shown as a message of the agent.
    pub async fn until_said(&mut self, text: &str) {
        while !self.said().contains(text) {
            let answer = self.take().await;
            assert!(answer.is_none(), "{answer:?} before `{text}`");
        }
    }

    /// All that the agent said.
    pub fn said(&self) -> String {
        let messages = self
            .updates
            .iter()
            .filter(|it| it["sessionUpdate"] == "agent_message_chunk");
        messages
            .filter_map(|it| it["content"]["text"].as_str())
            .collect()
    }
}

/// The params of a prompt that tells the offline model what to do.
pub fn prompt(session_id: &str, steps: Value) -> Value {
    let text = json!({ "script": steps }).to_string();
    json!({ "sessionId": session_id, "prompt": [{ "type": "text", "text": text }] })
}
