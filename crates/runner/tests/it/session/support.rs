//! Servers written in shell, so that they can do what no good server does, and what a session says meanwhile.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_runner::session::{
    Event, EventKind, Launch, Limits, Session, SessionError, SessionOptions, TurnOutcome,
};
pub use quipu_testkit::client::within;
use serde_json::Value;
use tempfile::TempDir;

/// What the scripts have at hand: `say` writes a line, `get` reads one into `$line` and keeps it in the file `trace`,
/// `greet` plays the server up to the thread, `turn ID TURN` answers `turn/start`, `stay` reads to the end.
const PRELUDE: &str = r#"
say() { printf '%s\n' "$1"; }
get() { IFS= read -r line || exit 0; printf '%s\n' "$line" >> trace; }
hello() { get; say '{"id":1,"result":{"userAgent":"sh/0.118.0 (test)"}}'; get; }
greet() { hello; get; say '{"id":2,"result":{"thread":{"id":"thread-1"}}}'; }
turn() { get; say '{"id":'"$1"',"result":{"turn":{"id":"'"$2"'"}}}'; }
completed() { say '{"method":"turn/completed","params":{"threadId":"thread-1","turn":{"id":"'"$1"'","status":"completed"}}}'; }
stay() { while get; do :; done; }
"#;

/// A workspace with a server in it, and what its session reported.
pub struct Lab {
    pub workspace: TempDir,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Lab {
    pub fn new(script: &str) -> Lab {
        let workspace = TempDir::new().unwrap();
        let text = format!("{PRELUDE}\n{script}\n");
        std::fs::write(workspace.path().join("server.sh"), text).unwrap();
        Lab {
            workspace,
            events: Arc::default(),
        }
    }

    pub fn options(&self) -> SessionOptions {
        self.with(Launch::Shell("exec bash ./server.sh".into()))
    }

    pub fn with(&self, launch: Launch) -> SessionOptions {
        let events = Arc::clone(&self.events);
        SessionOptions {
            observer: Arc::new(move |event| events.lock().unwrap().push(event)),
            limits: Limits {
                response: Duration::from_secs(20),
                shutdown: Duration::from_millis(500),
                ..Limits::default()
            },
            ..SessionOptions::new(launch, self.path())
        }
    }

    pub fn path(&self) -> &Path {
        self.workspace.path()
    }

    /// A session with this server.
    pub async fn session(&self) -> Session {
        start(self.options()).await.unwrap()
    }

    /// A session with this server that runs one turn.
    pub async fn run(&self) -> Result<TurnOutcome, SessionError> {
        self.run_with(self.options()).await
    }

    pub async fn run_with(&self, options: SessionOptions) -> Result<TurnOutcome, SessionError> {
        let mut session = start(options).await?;
        let done = within("the turn", session.run_turn("do it")).await;
        within("the end", session.stop()).await;
        done
    }

    /// What the server was sent.
    pub fn trace(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path().join("trace")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// What the server was sent in answer to its question with this id.
    pub fn answer(&self, id: impl Into<Value>) -> Value {
        let id = id.into();
        let answers = |message: &Value| message["id"] == id && message.get("method").is_none();
        let trace = self.trace();
        let found = trace.iter().find(|it| answers(it));
        found
            .unwrap_or_else(|| panic!("no answer to {id}: {trace:#?}"))
            .clone()
    }

    /// The params of the first request of a method.
    pub fn sent(&self, method: &str) -> Value {
        let trace = self.trace();
        let found = trace.iter().find(|it| it["method"] == method);
        found.unwrap_or_else(|| panic!("no {method}: {trace:#?}"))["params"].clone()
    }

    pub fn events(&self, kind: EventKind) -> Vec<Event> {
        let events = self.events.lock().unwrap();
        events
            .iter()
            .filter(|it| it.kind == kind)
            .cloned()
            .collect()
    }
}

pub async fn start(options: SessionOptions) -> Result<Session, SessionError> {
    within("a session", Session::start(options)).await
}

/// Whether a process still runs.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
