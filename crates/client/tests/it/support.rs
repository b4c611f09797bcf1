//! Quipu in the test's own process, with a home of its own and the offline model.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use quipu_client::{Client, Options};
use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_rpc::{Connection, Limits};
use quipu_server::{Server, Settings};
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};
use tempfile::TempDir;

pub use quipu_testkit::client::within;

/// A home directory and a server on it.
pub struct Lab {
    pub directory: TempDir,
    pub server: Arc<Server>,
}

impl Lab {
    /// Commands run freely.
    pub fn new() -> Lab {
        Lab::with("sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n")
    }

    /// With settings of the test's choice.
    pub fn with(settings: &str) -> Lab {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path().join("home"));
        home.ensure().unwrap();
        let config = format!("model_provider = \"offline\"\n{settings}");
        std::fs::write(home.config_file(), config).unwrap();
        let server = server(directory.path(), home);
        Lab { directory, server }
    }

    /// How to connect to it.
    pub fn options(&self) -> Options {
        Options::connection(self.server.connect_in_process())
    }

    /// A connected client.
    pub async fn client(&self) -> Client {
        connect(self.options()).await
    }
}

pub async fn connect(options: Options) -> Client {
    within("a connection", Client::connect(options))
        .await
        .unwrap()
}

fn server(directory: &Path, home: Home) -> Arc<Server> {
    let path = std::env::var("PATH").unwrap();
    let vars = [
        ("PATH", path.as_str()),
        ("HOME", directory.to_str().unwrap()),
    ];
    let env = Env::new(vars, directory);
    let system = SystemPaths::in_directory(&directory.join("etc"));
    let config = Loader::with_system_paths(env, home, Overrides::default(), system);
    Server::new(Settings::new(config))
}

/// A new thread with all that is configured.
pub async fn thread(client: &Client) -> String {
    let started = client.start_thread(Default::default());
    within("a thread", started).await.unwrap().id
}

/// A prompt that makes the offline model play these steps.
pub fn script(steps: Value) -> String {
    json!({ "script": steps }).to_string()
}

/// Waits for something that must succeed soon.
pub async fn soon<T, E: std::fmt::Debug>(future: impl Future<Output = Result<T, E>>) -> T {
    within("a result", future).await.unwrap()
}

/// A client, and the server's end of its connection in the test's hands.
pub async fn scripted(change: impl FnOnce(Options) -> Options) -> (Client, Peer) {
    let (options, mut peer) = unconnected();
    let (client, ()) = tokio::join!(connect(change(options)), peer.greet());
    (client, peer)
}

/// Options whose server is in the test's hands.
pub fn unconnected() -> (Options, Peer) {
    let (ours, theirs) = Connection::pair(LIMITS);
    (Options::connection(ours), Peer(Raw::new(theirs)))
}

/// What a pair of connected ends holds.
const LIMITS: Limits = Limits {
    messages: 1024,
    bytes: 16 << 20,
};

/// A server that does what the test says.
pub struct Peer(pub Raw);

impl Peer {
    /// Takes the client in.
    pub async fn greet(&mut self) {
        let hello = self.asked("initialize").await;
        self.answer(&hello, json!({ "userAgent": "peer/0.118.0 (test)" }))
            .await;
        self.told("initialized").await;
    }

    /// The next message, which must be a request of this method.
    pub async fn asked(&mut self, method: &str) -> Value {
        let message = self.0.next().await.unwrap();
        assert_eq!(message["method"], method, "{message}");
        assert!(message["id"].is_i64(), "{message}");
        message
    }

    async fn told(&mut self, method: &str) {
        let message = self.0.next().await.unwrap();
        assert_eq!(message["method"], method, "{message}");
    }

    pub async fn answer(&mut self, request: &Value, result: Value) {
        self.say(json!({ "id": request["id"], "result": result }))
            .await;
    }

    pub async fn refuse(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.say(json!({ "id": request["id"], "error": error }))
            .await;
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.say(json!({ "method": method, "params": params }))
            .await;
    }

    /// Asks the client; its answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = json!({ "id": "q", "method": method, "params": params });
        let answer = self.0.call(&request).await;
        assert_eq!(answer["id"], "q", "{answer}");
        answer
    }

    pub async fn say(&mut self, message: Value) {
        self.0.send([message.to_string()]).await;
    }
}
