//! Where evaluations get a server from: a process for each, one for all, or whatever the program
//! connects to.

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_client::wire::ThreadLoadedListParams;
use quipu_client::{Client, ConnectError, Options, Received, TurnLimits};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::adapter::Identity;
use crate::bridge::Bridge;
use crate::{Error, Result};

/// How to get a server. By default each evaluation has its own, which ends with it;
/// [`pooled`](Self::pooled) shares one.
#[derive(Clone, Debug)]
pub struct Server {
    start: Start,
    pub(crate) is_pooled: bool,
}

#[derive(Clone)]
enum Start {
    Program(Program),
    Options(Arc<dyn Fn() -> Options + Send + Sync>),
    With(Arc<dyn Fn(Bridge) -> BoxFuture<'static, Result<Client, ConnectError>> + Send + Sync>),
}

#[derive(Clone)]
struct Program {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    shows_stderr: bool,
}

impl Server {
    /// Starts `PROGRAM app-server` as a child process: `quipu`, or any `codex` from 0.98 on. A program
    /// without a slash is looked up in `PATH`.
    pub fn spawn(program: impl Into<PathBuf>) -> Server {
        Server {
            start: Start::Program(Program {
                program: program.into(),
                args: vec!["app-server".into()],
                env: Vec::new(),
                shows_stderr: false,
            }),
            is_pooled: false,
        }
    }

    /// Connects as the program wants: to a websocket, to a unix socket, to a server in the same
    /// process. The bridge has to be the handler of the client. A process that the function starts is its own
    /// affair; prefer [`spawn`](Self::spawn) and [`options`](Self::options).
    ///
    /// ```
    /// use quipu_adapter::Server;
    /// use quipu_client::{Client, Options};
    ///
    /// let server = Server::with(async |bridge| {
    ///     Client::connect(Options::websocket("ws://127.0.0.1:4500").handler(bridge)).await
    /// });
    /// ```
    pub fn with<F>(connect: impl Fn(Bridge) -> F + Send + Sync + 'static) -> Server
    where
        F: Future<Output = Result<Client, ConnectError>> + Send + 'static,
    {
        Server {
            start: Start::With(Arc::new(move |bridge| connect(bridge).boxed())),
            is_pooled: false,
        }
    }

    /// Connects with options that a function makes for each connection. The adapter adds the handler, the name of
    /// the program and the time limit of the handshake.
    /// With `quipu-embed` the server is in the same process: `Server::options(move || embedded.options())`.
    pub fn options(make: impl Fn() -> Options + Send + Sync + 'static) -> Server {
        Server {
            start: Start::Options(Arc::new(make)),
            is_pooled: false,
        }
    }

    /// Uses one server for all evaluations of an adapter, also for those that run at once: each has a
    /// thread of its own. It is started when it is first needed, and again if it has ended or does not answer
    /// within the [startup timeout](crate::Adapter::startup_timeout) when the next evaluation needs it.
    #[must_use]
    pub fn pooled(mut self) -> Server {
        self.is_pooled = true;
        self
    }

    /// The arguments of a child process in place of `app-server`.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Server {
        if let Start::Program(program) = &mut self.start {
            program.args = args.into_iter().map(Into::into).collect();
        }
        self
    }

    /// Sets a variable in the environment of a child process, which otherwise inherits this process's.
    #[must_use]
    pub fn env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Server {
        self.variable(name.into(), Some(value.into()))
    }

    /// Removes a variable from the environment of a child process.
    #[must_use]
    pub fn env_remove(self, name: impl Into<OsString>) -> Server {
        self.variable(name.into(), None)
    }

    fn variable(mut self, name: OsString, value: Option<OsString>) -> Server {
        if let Start::Program(program) = &mut self.start {
            program.env.push((name, value));
        }
        self
    }

    /// Copies the standard error of a child process to this process's. In either case errors have the end
    /// of it.
    #[must_use]
    pub fn show_stderr(mut self) -> Server {
        if let Start::Program(program) = &mut self.start {
            program.shows_stderr = true;
        }
        self
    }

    /// A connected client within a time limit. A process that was started for it in vain is gone. How long turns
    /// may take is not for the client to say, but for those who evaluate.
    pub(crate) async fn connect(
        &self,
        bridge: Bridge,
        identity: &Identity,
        cwd: &Path,
        limit: Duration,
    ) -> Result<Client> {
        let options = match &self.start {
            Start::Program(program) => program.options(cwd),
            Start::Options(make) => make(),
            Start::With(connect) => {
                let connected = timeout(limit, connect(bridge)).await;
                let connected = connected.map_err(|_| Error::startup(limit))?;
                return connected
                    .map(unlimited)
                    .map_err(|error| Error::of_connect(&error));
            }
        };
        let options = options
            .client(&identity.name, &identity.version)
            .client_title(&identity.title)
            .handler(bridge)
            .handshake_timeout(limit);
        let connected = Client::connect(options).await;
        connected
            .map(unlimited)
            .map_err(|error| Error::of_connect(&error))
    }
}

fn unlimited(client: Client) -> Client {
    client.with_turn_limits(TurnLimits::default())
}

impl Program {
    fn options(&self, cwd: &Path) -> Options {
        let mut options = Options::spawn(&self.program).args(&self.args).cwd(cwd);
        for (name, value) in &self.env {
            options = match value {
                Some(value) => options.env(name, value),
                None => options.env_remove(name),
            };
        }
        match self.shows_stderr {
            true => options.observer(|received| {
                if let Received::Stderr(line) = received {
                    // A terminal that is gone is no reason to stop.
                    writeln!(io::stderr(), "{line}").unwrap_or_default();
                }
            }),
            false => options,
        }
    }
}

/// Starts `quipu`, which must be in `PATH`.
impl Default for Server {
    fn default() -> Server {
        Server::spawn("quipu")
    }
}

/// Environment and arguments may be secret and are not shown.
impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Start::Program(program) => write!(f, "{}", program.program.display()),
            Start::Options(_) | Start::With(_) => f.write_str("a function"),
        }
    }
}

/// A connected server with the handler that knows its evaluations.
#[derive(Clone)]
pub(crate) struct Connected {
    pub client: Client,
    pub bridge: Bridge,
}

/// The server that evaluations share, once one has started it.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Option<Connected>>);

impl Connected {
    /// Whether the server still answers. Any answer shows that it does.
    async fn answers(&self, limit: Duration) -> bool {
        use quipu_client::Error::{Refused, Unreadable};
        if self.client.closed().now_or_never().is_some() {
            return false;
        }
        let params = ThreadLoadedListParams::default();
        let asked = self.client.thread_loaded_list(params).timeout(Some(limit));
        match asked.await {
            Ok(_) | Err(Refused { .. } | Unreadable { .. }) => true,
            Err(error) => {
                tracing::warn!(%error, "the pooled server does not answer and is replaced");
                false
            }
        }
    }
}

impl Pool {
    /// The server that there is, if it answers within the limit, or the one that `start` starts. A server that does
    /// not answer ends with the last evaluation that still uses it.
    pub async fn get<E>(
        &self,
        limit: Duration,
        start: impl Future<Output = Result<Connected, E>>,
    ) -> Result<Connected, E> {
        let mut slot = self.0.lock().await;
        // Taken before it is asked: an evaluation whose deadline passes meanwhile leaves a new start to the next one.
        if let Some(connected) = slot.take()
            && connected.answers(limit).await
        {
            return Ok(slot.insert(connected).clone());
        }
        Ok(slot.insert(start.await?).clone())
    }

    /// Keeps new evaluations off a server that does not do as it is asked. It ends with the last
    /// evaluation that still uses it.
    pub async fn retire(&self, client: &Client) {
        let mut slot = self.0.lock().await;
        if slot.as_ref().is_some_and(|it| it.client.is_same(client)) {
            *slot = None;
        }
    }

    pub async fn close(&self) {
        if let Some(connected) = self.0.lock().await.take() {
            connected.client.disconnect().await;
        }
    }
}
