//! Quipu's server inside the calling process: no child, no socket, no program to install.
//!
//! ```no_run
//! use quipu_embed::{Embedded, client::{prompt, wire::ThreadStartParams}};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     quipu_embed::init();
//!     tokio::runtime::Runtime::new()?.block_on(async {
//!         let server = Embedded::from_environment()?;
//!         let client = server.connect().await?;
//!         let thread = client.start_thread(ThreadStartParams::default()).await?;
//!         let done = client.run_turn(prompt(&thread.id, "What does this project do?")).await?;
//!         println!("{}", done.agent_message);
//!         client.disconnect().await;
//!         server.stop().await;
//!         Ok(())
//!     })
//! }
//! ```
//!
//! **Call [`init`] first thing in `main`.** The agent's commands are started and confined by running the program
//! again as a helper; a program that does not call it would start its own work over and over instead. In tests,
//! which have no `main`, `quipu_sandbox::run_helper_in_tests!()` does the same for commands.
//!
//! The server needs a multi-threaded tokio runtime.

#![deny(missing_docs)]

mod patch_program;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use quipu_client as client;
use quipu_client::{Client, ConnectError, Options};
pub use quipu_config as config;
use quipu_config::{Env, Home, HomeError, Loader, Overrides};
use quipu_server::{Server, Settings};

/// The name of the home directory in that of the user, if no variable names another.
const HOME: &str = ".quipu";

/// Does the work of a helper and ends the process, if that is what this process was started for. In all others it
/// does nothing. To be called first in `main`, before threads are started or arguments read.
pub fn init() {
    quipu_sandbox::maybe_run_helper();
    if let Some(code) = patch_program::maybe_run() {
        std::process::exit(code);
    }
}

/// The settings of a server in this process, whose commands find `apply_patch`. For those who start the server
/// themselves; others use [`Embedded`].
#[must_use]
pub fn settings(config: Loader) -> Settings {
    let mut settings = Settings::new(config);
    patch_program::offer(&mut settings);
    settings
}

/// A server in this process, cheap to clone. Any number of clients can connect to it; their threads are separate
/// unless they ask for the same.
#[derive(Clone)]
pub struct Embedded(Arc<Server>);

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// No directory for state was found.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The directory for state cannot be used.
    #[error("cannot use {} as home: {source}", path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Embedded {
    /// A server with the configuration, accounts and threads of this user, as `quipu app-server` has them.
    pub fn from_environment() -> Result<Embedded, EmbedError> {
        let env = Env::from_process();
        let home = Home::resolve(&env, HOME)?;
        let unusable = |source| EmbedError::Unusable {
            path: home.path().to_owned(),
            source,
        };
        home.ensure().map_err(unusable)?;
        let home = home.settled().map_err(unusable)?;
        Ok(Embedded::start(Loader::new(
            env,
            home,
            Overrides::default(),
        )))
    }

    /// A server with a configuration of the caller's choice.
    #[must_use]
    pub fn start(config: Loader) -> Embedded {
        Embedded::with(settings(config))
    }

    /// A server with [settings](settings()) that were changed.
    #[must_use]
    pub fn with(settings: Settings) -> Embedded {
        Embedded(Server::new(settings))
    }

    /// How to connect a client, for those who want more than [`connect`](Self::connect) gives: a handler, limits, a
    /// name. Each use is a connection of its own; it needs a runtime.
    #[must_use]
    pub fn options(&self) -> Options {
        Options::connection(self.0.connect_in_process())
    }

    /// A connected client.
    pub async fn connect(&self) -> Result<Client, ConnectError> {
        Client::connect(self.options()).await
    }

    /// Ends what is running and all connections. To be called before the runtime goes down.
    pub async fn stop(&self) {
        self.0.stop().await;
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded").finish_non_exhaustive()
    }
}
