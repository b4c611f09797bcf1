//! A server with a scripted model, for tests of threads and turns.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_server::{CloudTiming, Server, Settings};
use quipu_testkit::conversation::{Conversation, brief};
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home directory, a model, and the server between them.
pub struct Stage {
    directory: TempDir,
    home: PathBuf,
    pub model: ModelServer,
    server: Arc<Server>,
}

impl Stage {
    /// Commands run freely, and nothing is tried twice.
    pub async fn new() -> Stage {
        Stage::with("").await
    }

    /// The same with more settings.
    pub async fn with(settings: &str) -> Stage {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        Stage::at(directory, home, settings).await
    }

    /// With a model that speaks another wire format, and more settings of its provider.
    pub async fn speaking(wire: &str, provider: &str) -> Stage {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        let provider = format!("wire_api = \"{wire}\"\n{provider}");
        Stage::build(directory, home, "", &provider).await
    }

    /// With more tables after that of the provider, in a directory that the test knows before.
    pub async fn in_directory(directory: TempDir, tables: &str) -> Stage {
        let home = directory.path().join("home");
        let provider = format!("wire_api = \"responses\"\n{tables}");
        Stage::build(directory, home, "", &provider).await
    }

    /// With a home directory of the test's choice.
    pub async fn at(directory: TempDir, home: PathBuf, settings: &str) -> Stage {
        Stage::build(directory, home, settings, "wire_api = \"responses\"").await
    }

    pub async fn build(directory: TempDir, home: PathBuf, settings: &str, provider: &str) -> Stage {
        let model = ModelServer::start().await.unwrap();
        Home::at(&home).ensure().unwrap();
        let name = match provider.contains("name = ") {
            true => "",
            false => "name = \"scripted\"",
        };
        let config = format!(
            "model = \"scripted-model\"\nmodel_provider = \"scripted\"\nsandbox_mode = \"danger-full-access\"\n\
             approval_policy = \"never\"\n{settings}\n[model_providers.scripted]\n{name}\n\
             base_url = \"{}\"\nrequest_max_retries = 0\nstream_max_retries = 0\n{provider}\n",
            model.base_url(),
        );
        std::fs::write(home.join("config.toml"), config).unwrap();
        let server = Server::new(settings_in(directory.path(), &home, &[]));
        Stage {
            directory,
            home,
            model,
            server,
        }
    }

    /// Another server on the same home, whose reviewing model has only so long.
    pub fn restart_with_review_limit(&mut self, limit: Duration) {
        let mut settings = settings_in(self.directory.path(), &self.home, &[]);
        settings.review_limit = limit;
        self.server = Server::new(settings);
    }

    /// Another server on the same home after this one was stopped.
    pub async fn restart(&mut self) {
        self.server.stop().await;
        self.restart_with_env(&[]);
    }

    /// Another server on the same home, with more variables.
    pub fn restart_with_env(&mut self, vars: &[(&str, &str)]) {
        self.server = Server::new(settings_in(self.directory.path(), &self.home, vars));
    }

    /// Another server on the same home, with more variables, that asks for a workspace's limits in a hurry.
    pub fn restart_in_workspace(&mut self, vars: &[(&str, &str)]) {
        let mut settings = settings_in(self.directory.path(), &self.home, vars);
        settings.cloud = CloudTiming {
            backoff: Duration::from_millis(1),
            limit: Duration::from_secs(1),
        };
        self.server = Server::new(settings);
    }

    /// Another server on the same home, which fetches the provider's marketplace from this repository.
    pub fn restart_with_marketplace(&mut self, repository: &Path) {
        let mut settings = settings_in(self.directory.path(), &self.home, &[]);
        settings.curated = Some(repository.display().to_string());
        self.server = Server::new(settings);
    }

    /// Another server on the same home, whose threads are idle soon.
    pub fn restart_impatient(&mut self) {
        let mut settings = settings_in(self.directory.path(), &self.home, &[]);
        settings.idle = Duration::from_millis(20);
        self.server = Server::new(settings);
    }

    /// Another server on the same home, whose clients may have only so many threads loaded.
    pub fn restart_with_threads(&mut self, most: usize) {
        let mut settings = settings_in(self.directory.path(), &self.home, &[]);
        settings.threads_per_client = most;
        self.server = Server::new(settings);
    }

    /// Ends the server as the end of the process would.
    pub async fn stop(&self) {
        self.server.stop().await;
    }

    /// A new client.
    pub async fn client(&self) -> Conversation {
        Conversation::start(self.server.connect_in_process()).await
    }

    /// A new client of another name.
    pub async fn client_as(&self, name: &str) -> Conversation {
        Conversation::start_as(self.server.connect_in_process(), name).await
    }

    /// A new client with capabilities of its own.
    pub async fn client_with(&self, capabilities: Value) -> Conversation {
        Conversation::start_with(self.server.connect_in_process(), "testkit", capabilities).await
    }

    /// A new client with numbered events.
    pub async fn numbered(&self) -> Conversation {
        Conversation::start_numbered(self.server.connect_in_process()).await
    }

    /// A new client, and a thread that it started.
    pub async fn thread(&self) -> (Conversation, String) {
        self.thread_with(json!({})).await
    }

    pub async fn thread_with(&self, params: Value) -> (Conversation, String) {
        let mut client = self.client().await;
        let started = client.call("thread/start", params).await;
        client.skip_to("thread/started").await;
        (client, text(&started["thread"]["id"]))
    }

    /// The directory in which threads work.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Queues the model's next answers.
    pub fn play(&self, steps: impl IntoIterator<Item = Value>) {
        for step in steps {
            self.model.queue_json(step);
        }
    }

    /// What the model was sent last, as text.
    pub fn last_request(&self) -> String {
        let requests = self.model.requests();
        requests
            .last()
            .map(|it| it.body.to_string())
            .unwrap_or_default()
    }
}

fn settings_in(directory: &Path, home: &Path, more: &[(&str, &str)]) -> Settings {
    let path = std::env::var("PATH").unwrap();
    let vars = [
        ("PATH", path.as_str()),
        ("HOME", directory.to_str().unwrap()),
    ];
    let env = Env::new(vars.iter().chain(more).copied(), directory);
    let system = SystemPaths::in_directory(&directory.join("etc"));
    let config = Loader::with_system_paths(env, Home::at(home), Overrides::default(), system);
    Settings::new(config)
}

/// Starts a turn; its id.
pub async fn say(client: &mut Conversation, thread: &str, words: &str) -> String {
    let answer = client.call("turn/start", input(thread, words)).await;
    text(&answer["turn"]["id"])
}

/// Runs a whole turn; everything that was reported of it.
pub async fn run(client: &mut Conversation, thread: &str, words: &str) -> Vec<Value> {
    say(client, thread, words).await;
    client.until("turn/completed").await
}

pub fn input(thread: &str, words: &str) -> Value {
    json!({ "threadId": thread, "input": [{ "type": "text", "text": words }] })
}

/// A step in which the model calls a tool.
pub fn calls(name: &str, arguments: Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

/// What was reported in a few words, without counts of tokens and limits.
pub fn order(messages: &[Value]) -> Vec<String> {
    let received = messages.iter().map(brief);
    received
        .filter(|it| it != "thread/tokenUsage/updated" && it != "account/rateLimits/updated")
        .collect()
}

/// How a turn ended.
pub fn status(messages: &[Value]) -> String {
    text(&messages.last().unwrap()["params"]["turn"]["status"])
}

/// The completed items of a kind.
pub fn completed<'a>(messages: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let done = messages
        .iter()
        .filter(|it| it["method"] == "item/completed");
    done.map(|it| &it["params"]["item"])
        .filter(|item| item["type"] == kind)
        .collect()
}

pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}

/// A tool of the client that holds the turn until the test answers.
pub fn gate() -> Value {
    json!({ "dynamicTools": [{ "name": "gate", "description": "waits", "inputSchema": { "type": "object" } }] })
}

/// What opens the gate.
pub fn open() -> Value {
    json!({ "contentItems": [{ "type": "inputText", "text": "open" }], "success": true })
}
