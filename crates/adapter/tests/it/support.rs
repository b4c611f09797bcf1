//! Quipu in the test's own process, with a home of its own and the offline model.

use std::future::IntoFuture;
use std::path::Path;
use std::sync::{Arc, Mutex};

use quipu_adapter::{Adapter, Event, EventKind, Prompt, Section, Server, ToolInvoked};
use quipu_client::Options;
use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_server::Settings;
use quipu_testkit::client::within;
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home and a server on it.
pub struct Lab {
    pub directory: TempDir,
    pub server: Arc<quipu_server::Server>,
}

impl Lab {
    /// Commands run freely.
    pub fn new() -> Lab {
        Lab::with("model_provider = \"offline\"\nsandbox_mode = \"danger-full-access\"\n")
    }

    /// With settings of the test's choice.
    pub fn with(settings: &str) -> Lab {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path().join("home"));
        home.ensure().unwrap();
        std::fs::write(home.config_file(), settings).unwrap();
        let server = server(directory.path(), home);
        Lab { directory, server }
    }

    /// An adapter that connects again for each evaluation.
    pub fn adapter(&self) -> Adapter {
        Adapter::new(self.connecting()).cwd(self.directory.path())
    }

    pub fn connecting(&self) -> Server {
        let server = Arc::clone(&self.server);
        Server::options(move || Options::connection(server.connect_in_process()))
    }
}

fn server(directory: &Path, home: Home) -> Arc<quipu_server::Server> {
    let path = std::env::var("PATH").unwrap();
    let vars = [
        ("PATH", path.as_str()),
        ("HOME", directory.to_str().unwrap()),
    ];
    let env = Env::new(vars, directory);
    let system = SystemPaths::in_directory(&directory.join("etc"));
    let config = Loader::with_system_paths(env, home, Overrides::default(), system);
    quipu_server::Server::new(Settings::new(config))
}

/// A prompt that makes the offline model play these steps.
pub fn script(steps: Value) -> Section {
    Section::new("Task", json!({ "script": steps }).to_string())
}

/// A prompt for text with a script.
pub fn scripted(steps: Value) -> Prompt<String> {
    Prompt::text("test").section(script(steps))
}

/// Waits for an evaluation.
pub async fn soon<F: IntoFuture>(future: F) -> F::Output {
    within("an evaluation", future.into_future()).await
}

/// Settings for a server whose model is scripted over HTTP. More keys of the provider may follow.
pub fn on(model: &ModelServer) -> String {
    format!(
        "model = \"scripted-model\"\nmodel_provider = \"scripted\"\nsandbox_mode = \"danger-full-access\"\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}\"\nwire_api = \"responses\"\n",
        model.base_url()
    )
}

/// All events of an adapter's evaluations.
#[derive(Clone, Default)]
pub struct Events(Arc<Mutex<Vec<Event>>>);

impl Events {
    pub fn of(adapter: Adapter) -> (Adapter, Events) {
        let events = Events::default();
        let kept = events.clone();
        let adapter = adapter.on_event(move |event| {
            kept.push(event);
            Ok(())
        });
        (adapter, events)
    }

    pub fn push(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }

    pub fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// The kinds in order; uses of tools by name and success.
    pub fn summary(&self) -> Vec<String> {
        let kind = |event: &Event| match &event.kind {
            EventKind::PromptRendered { .. } => "rendered".to_owned(),
            EventKind::PromptExecuted { .. } => "executed".to_owned(),
            EventKind::ToolInvoked(it) if it.success => it.tool.clone(),
            EventKind::ToolInvoked(it) => format!("{} failed", it.tool),
            other => panic!("{other:?}"),
        };
        self.all().iter().map(kind).collect()
    }

    pub fn tools(&self) -> Vec<ToolInvoked> {
        let tool = |event: Event| match event.kind {
            EventKind::ToolInvoked(it) => Some(it),
            _ => None,
        };
        self.all().into_iter().filter_map(tool).collect()
    }
}
