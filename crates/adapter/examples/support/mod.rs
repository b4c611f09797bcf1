//! The server of the examples: the program whose path is given as the first argument, or Quipu in this very
//! process with its offline model.

use quipu_adapter::{Section, Server};
use quipu_config::{Env, Home, Loader, Overrides};
use quipu_embed::Embedded;
use tempfile::TempDir;

/// Where the example works, and the server if it is in this process.
pub struct Place {
    directory: TempDir,
    embedded: Embedded,
}

impl Place {
    pub fn new() -> std::io::Result<Place> {
        let directory = tempfile::tempdir()?;
        let home = Home::at(directory.path().join("home"));
        home.ensure()?;
        std::fs::write(home.config_file(), "model_provider = \"offline\"\n")?;
        let vars = std::env::vars().filter(|(name, _)| name != "OPENAI_API_KEY");
        let env = Env::new(vars, directory.path());
        let embedded = Embedded::start(Loader::new(env, home, Overrides::default()));
        Ok(Place {
            directory,
            embedded,
        })
    }

    /// Your own program needs only one line of this: `Server::spawn("quipu")`.
    pub fn server(&self) -> std::io::Result<Server> {
        if let Some(program) = std::env::args_os().nth(1) {
            return Ok(Server::spawn(program));
        }
        let embedded = self.embedded.clone();
        Ok(Server::options(move || embedded.options()))
    }

    /// Ends the server, before the runtime goes and with it the directory.
    pub async fn leave(self) {
        self.embedded.stop().await;
        drop(self.directory);
    }
}

/// A section that makes the offline model do as it is told. A real model would be asked in words.
pub fn script(steps: &serde_json::Value) -> Section {
    Section::new("Script", serde_json::json!({ "script": steps }).to_string())
}
