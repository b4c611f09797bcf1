//! Quipu in the test's own process, with a home of its own and the offline model.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use quipu_client::{Client, Options};
use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_server::{Server, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;

pub use quipu_testkit::client::within;

/// A home folder and a server on it.
pub struct Lab {
    pub folder: TempDir,
    pub server: Arc<Server>,
}

impl Lab {
    /// Commands run freely.
    pub fn new() -> Lab {
        Lab::with("sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n")
    }

    /// With settings of the test's choice.
    pub fn with(settings: &str) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        home.ensure().unwrap();
        let config = format!("model_provider = \"offline\"\n{settings}");
        std::fs::write(home.config_file(), config).unwrap();
        let server = server(folder.path(), home);
        Lab { folder, server }
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

fn server(folder: &Path, home: Home) -> Arc<Server> {
    let path = std::env::var("PATH").unwrap();
    let vars = [("PATH", path.as_str()), ("HOME", folder.to_str().unwrap())];
    let env = Env::new(vars, folder);
    let system = SystemPaths::in_folder(&folder.join("etc"));
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
