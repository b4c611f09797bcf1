//! The server that the examples speak to: the program whose path is given as the first argument, or
//! Quipu in this very process with its offline model, which needs nothing and plays scripts.

use std::sync::{Arc, OnceLock};

use quipu_client::Options;
use quipu_config::{Env, Home, Loader, Overrides};
use quipu_server::{Server, Settings};
use tempfile::TempDir;

/// Where the example works, and the server if it is in this process.
pub struct Place {
    pub directory: TempDir,
    server: OnceLock<Arc<Server>>,
}

impl Place {
    pub fn new() -> std::io::Result<Place> {
        Ok(Place {
            directory: tempfile::tempdir()?,
            server: OnceLock::new(),
        })
    }

    /// How to connect. Your own program needs only one line of this: `Options::spawn("quipu")`.
    pub fn options(&self) -> std::io::Result<Options> {
        let directory = self.directory.path();
        if let Some(program) = std::env::args_os().nth(1) {
            return Ok(Options::spawn(program).cwd(directory));
        }
        let home = Home::at(directory.join("home"));
        home.ensure()?;
        std::fs::write(home.config_file(), "model_provider = \"offline\"\n")?;
        let env = Env::new(
            std::env::vars().filter(|(name, _)| name != "OPENAI_API_KEY"),
            directory,
        );
        let config = Loader::new(env, home, Overrides::default());
        let server = self
            .server
            .get_or_init(|| Server::new(Settings::new(config)));
        Ok(Options::connection(server.connect_in_process()))
    }

    /// Ends a server in this process, before the runtime goes and with it the directory.
    pub async fn leave(self) {
        if let Some(server) = self.server.get() {
            server.stop().await;
        }
    }
}

/// A prompt that makes the offline model do as it is told. A real model would be asked in words.
pub fn script(steps: serde_json::Value) -> String {
    serde_json::json!({ "script": steps }).to_string()
}
