//! A server with a home of its own, and clients for it.

use std::sync::Arc;

use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_rpc::{Connection, OnFull};
use quipu_server::{Server, Settings, serve};
use quipu_testkit::client::Client;
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};
use tempfile::TempDir;

pub struct Lab {
    pub directory: TempDir,
    server: Arc<Server>,
}

impl Lab {
    pub fn new() -> Lab {
        Lab::with(&[], "")
    }

    /// A server with environment variables and a configuration file.
    pub fn with(vars: &[(&str, &str)], config: &str) -> Lab {
        Lab::at(tempfile::tempdir().unwrap(), vars, config)
    }

    /// The same in a directory of the test's choice.
    pub fn at(directory: TempDir, vars: &[(&str, &str)], config: &str) -> Lab {
        let home = Home::at(directory.path().join("home"));
        home.ensure().unwrap();
        std::fs::write(home.config_file(), config).unwrap();
        let env = Env::new(vars.iter().copied(), directory.path());
        let system = SystemPaths::in_directory(&directory.path().join("etc"));
        let config = Loader::with_system_paths(env, home, Overrides::default(), system);
        Lab {
            directory,
            server: Server::new(Settings::new(config)),
        }
    }

    /// A new connection to the server.
    pub fn connection(&self) -> Connection {
        self.server.connect_in_process()
    }

    /// Serves the other end of a connection.
    pub fn serve(&self, connection: Connection) {
        tokio::spawn(serve(Arc::clone(&self.server), connection, OnFull::Wait));
    }

    /// A client that has introduced itself.
    pub async fn client(&self) -> Client {
        Client::start(self.connection()).await
    }

    /// A connection that has said nothing.
    pub fn raw(&self) -> Raw {
        Raw::new(self.connection())
    }

    /// A connection whose `initialize` was answered.
    pub async fn raw_initialized(&self, capabilities: Value) -> Raw {
        let mut raw = self.raw();
        let answer = raw
            .call(&initialize(json!("hello"), "raw", capabilities))
            .await;
        assert!(answer["result"].is_object(), "{answer}");
        raw
    }
}

/// An `initialize` request.
pub fn initialize(id: Value, name: &str, capabilities: Value) -> Value {
    json!({ "id": id, "method": "initialize", "params": {
        "clientInfo": { "name": name, "version": "1" },
        "capabilities": capabilities,
    } })
}

/// The error that a request is answered with when the caller is to blame.
pub fn refusal(id: Value, message: &str) -> Value {
    json!({ "id": id, "error": { "code": -32600, "message": message } })
}
