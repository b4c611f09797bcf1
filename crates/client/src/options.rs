//! What a client is connected with.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_rpc::{Connection, Limits, Notification};
use quipu_wire::{AskForApproval, SandboxMode};
use tokio::sync::mpsc;

use crate::handler::{Answers, Defaults, Handler};
use crate::observe::{Observe, Received};
use crate::{Retry, Version};

/// The oldest server that the client is tested with.
const OLDEST: Version = Version::new(0, 98, 0);

/// Where the server is and how to deal with it. All fields have defaults but the transport; the
/// constructors name one, and each method changes one thing.
///
/// ```
/// use quipu_client::Options;
///
/// let options = Options::spawn("quipu")
///     .client("my-tool", "1.0")
///     .cwd("/home/me/project")
///     .env("RUST_LOG", "warn");
/// ```
pub struct Options {
    pub(crate) transport: Transport,
    pub(crate) client_name: String,
    pub(crate) client_title: Option<String>,
    pub(crate) client_version: String,
    pub(crate) experimental_api: bool,
    pub(crate) opt_out: Vec<String>,
    pub(crate) minimum_version: Option<Version>,
    pub(crate) defaults: ThreadDefaults,
    pub(crate) timeouts: Timeouts,
    pub(crate) retry: Retry,
    pub(crate) event_buffer: Limits,
    pub(crate) first_id: i64,
    pub(crate) handler: Arc<dyn Answers>,
    pub(crate) observer: Arc<dyn Observe>,
    /// Takes notifications with their numbers, which the server is asked for.
    pub(crate) tap: Option<mpsc::Sender<Notification>>,
}

/// How to connect to a server, as often as needed: programs that outlive a connection make the next one with it.
pub type Connect = Arc<dyn Fn() -> Options + Send + Sync>;

/// The way to a server.
pub(crate) enum Transport {
    Spawn(Spawn),
    WebSocket { url: String, token: Option<String> },
    Unix(PathBuf),
    Connection(Connection),
}

/// A server to be started as a child process.
pub(crate) struct Spawn {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub env: Vec<(OsString, Option<OsString>)>,
    pub cwd: Option<PathBuf>,
}

/// What [`Client::start_thread`](crate::Client::start_thread) and its kin fill in where the caller
/// leaves a field open.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadDefaults {
    pub model: Option<String>,
    pub cwd: Option<String>,
    pub approval_policy: Option<AskForApproval>,
    pub sandbox: Option<SandboxMode>,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From the start of the server, or of the connection, to its answer to `initialize`: 30 seconds.
    pub handshake: Duration,
    /// From sending a request to its answer: 30 seconds. One call can have its own with
    /// [`Call::timeout`](crate::Call::timeout).
    pub request: Duration,
    /// How long a turn may be silent: 5 minutes. It is not silent while a question to the
    /// [`Handler`] waits for its answer. `None` sets no limit.
    pub turn_silence: Option<Duration>,
    /// How long a turn may take in all: 5 minutes. `None` sets no limit.
    pub turn_total: Option<Duration>,
    /// How long the [`Handler`] may take for one question before the safe default is answered in
    /// its place: no limit, since a person may be asked.
    pub handler: Option<Duration>,
    /// How long a child process may take to exit once its input has ended, before it is killed:
    /// 5 seconds.
    pub shutdown: Duration,
}

/// How long the turns of a client may take; see [`Client::with_turn_limits`](crate::Client::with_turn_limits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnLimits {
    /// How long a turn may be silent, as [`Timeouts::turn_silence`] has it.
    pub silence: Option<Duration>,
    /// How long a turn may take in all.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        let minutes = |count: u64| Duration::from_secs(60 * count);
        Timeouts {
            handshake: Duration::from_secs(30),
            request: Duration::from_secs(30),
            turn_silence: Some(minutes(5)),
            turn_total: Some(minutes(5)),
            handler: None,
            shutdown: Duration::from_secs(5),
        }
    }
}

impl Options {
    fn new(transport: Transport) -> Options {
        Options {
            transport,
            client_name: "quipu-client".to_owned(),
            client_title: None,
            client_version: env!("CARGO_PKG_VERSION").to_owned(),
            experimental_api: true,
            opt_out: Vec::new(),
            minimum_version: Some(OLDEST),
            defaults: ThreadDefaults::default(),
            timeouts: Timeouts::default(),
            retry: Retry::default(),
            event_buffer: Limits {
                messages: 8192,
                bytes: 64 << 20,
            },
            first_id: 0,
            handler: Arc::new(Defaults),
            observer: Arc::new(|_: Received<'_>| {}),
            tap: None,
        }
    }

    /// Starts `PROGRAM app-server` as a child process and speaks over its standard input and output.
    /// A program without a slash is looked up in `PATH`. The child and everything it starts is ended
    /// with the client.
    pub fn spawn(program: impl Into<PathBuf>) -> Options {
        Options::new(Transport::Spawn(Spawn {
            program: program.into(),
            args: vec!["app-server".into()],
            env: Vec::new(),
            cwd: None,
        }))
    }

    /// Connects to a websocket at `ws://HOST:PORT`, or `wss://HOST:PORT` for TLS.
    pub fn websocket(url: impl Into<String>) -> Options {
        Options::new(Transport::WebSocket {
            url: url.into(),
            token: None,
        })
    }

    /// Connects to a unix socket.
    pub fn unix(path: impl Into<PathBuf>) -> Options {
        Options::new(Transport::Unix(path.into()))
    }

    /// Speaks over a connection that exists, such as the one that `Server::connect_in_process` of
    /// `quipu-server` gives: a server in the same process, without sockets in between.
    pub fn connection(connection: Connection) -> Options {
        Options::new(Transport::Connection(connection))
    }

    /// The name and version of the program that embeds this client; servers tell them to model
    /// providers.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>, version: impl Into<String>) -> Options {
        self.client_name = name.into();
        self.client_version = version.into();
        self
    }

    /// A name of that program for people.
    #[must_use]
    pub fn client_title(mut self, title: impl Into<String>) -> Options {
        self.client_title = Some(title.into());
        self
    }

    /// The model of new threads and forks; the server's configured one if not given.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Options {
        self.defaults.model = Some(model.into());
        self
    }

    /// The working directory of new threads, and of a child process. The server's own, or this
    /// process's, if not given.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Options {
        let cwd = cwd.into();
        self.defaults.cwd = Some(cwd.to_string_lossy().into_owned());
        if let Transport::Spawn(spawn) = &mut self.transport {
            spawn.cwd = Some(cwd);
        }
        self
    }

    /// When the agent asks before it acts, in threads that this client starts, resumes or forks;
    /// the server's configured policy if not given.
    #[must_use]
    pub fn approval_policy(mut self, policy: AskForApproval) -> Options {
        self.defaults.approval_policy = Some(policy);
        self
    }

    /// What commands may do, in threads that this client starts, resumes or forks; the server's
    /// configured sandbox if not given.
    #[must_use]
    pub fn sandbox(mut self, mode: SandboxMode) -> Options {
        self.defaults.sandbox = Some(mode);
        self
    }

    /// Whether to use methods and fields that are marked experimental, such as dynamic tools; `true`
    /// if not given.
    #[must_use]
    pub fn experimental_api(mut self, enabled: bool) -> Options {
        self.experimental_api = enabled;
        self
    }

    /// Notifications that the server need not send, by method. [`Client::run_turn`] needs
    /// `turn/completed`, and reports only what it is told of.
    ///
    /// [`Client::run_turn`]: crate::Client::run_turn
    #[must_use]
    pub fn opt_out<M: Into<String>>(mut self, methods: impl IntoIterator<Item = M>) -> Options {
        self.opt_out.extend(methods.into_iter().map(Into::into));
        self
    }

    /// The oldest server to accept: 0.98.0 if not given. `None` accepts every server, also one that
    /// does not tell its version.
    #[must_use]
    pub fn minimum_version(mut self, version: Option<Version>) -> Options {
        self.minimum_version = version;
        self
    }

    /// Sets a variable in the environment of a child process, which otherwise inherits this
    /// process's. Other transports have no use for it.
    #[must_use]
    pub fn env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Options {
        self.variable(name.into(), Some(value.into()))
    }

    /// Removes a variable from the environment of a child process.
    #[must_use]
    pub fn env_remove(self, name: impl Into<OsString>) -> Options {
        self.variable(name.into(), None)
    }

    fn variable(mut self, name: OsString, value: Option<OsString>) -> Options {
        if let Transport::Spawn(spawn) = &mut self.transport {
            spawn.env.push((name, value));
        }
        self
    }

    /// The arguments of a child process in place of `app-server`. Other transports have no use for
    /// them.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Options {
        if let Transport::Spawn(spawn) = &mut self.transport {
            spawn.args = args.into_iter().map(Into::into).collect();
        }
        self
    }

    /// The bearer token of a websocket. Other transports have no use for it.
    #[must_use]
    pub fn bearer_token(mut self, secret: impl Into<String>) -> Options {
        if let Transport::WebSocket { token, .. } = &mut self.transport {
            *token = Some(secret.into());
        }
        self
    }

    /// How long things may take.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Options {
        self.timeouts = timeouts;
        self
    }

    /// How long the handshake may take, as [`Timeouts::handshake`] has it; the other limits stay.
    #[must_use]
    pub fn handshake_timeout(mut self, limit: Duration) -> Options {
        self.timeouts.handshake = limit;
        self
    }

    /// What to do when the server says that it is overloaded.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Options {
        self.retry = retry;
        self
    }

    /// How much may wait in each stream of events: 8192 of them or 64 MiB if not given. Beyond it the
    /// oldest are dropped, and the stream tells what was missed.
    #[must_use]
    pub fn event_buffer(mut self, events: usize, bytes: usize) -> Options {
        self.event_buffer = Limits {
            messages: events,
            bytes,
        };
        self
    }

    /// The id of the first request; the others count on from there. 0 if not given.
    #[must_use]
    pub fn first_request_id(mut self, id: i64) -> Options {
        self.first_id = id;
        self
    }

    /// Who is shown everything that the server writes, as it came and in order: notifications, questions, lines that
    /// are not messages, and standard error. It is called where messages are read, so it must not block. Nothing
    /// is lost on the way, unlike in a stream of events that is read too slowly.
    #[must_use]
    pub fn observer(mut self, observer: impl Fn(Received<'_>) + Send + Sync + 'static) -> Options {
        self.observer = Arc::new(observer);
        self
    }

    /// Who answers the server's questions; without one each gets its safe default.
    #[must_use]
    pub fn handler(mut self, handler: impl Handler) -> Options {
        self.handler = Arc::new(handler);
        self
    }
}

/// Starts `quipu`, which must be in `PATH`.
impl Default for Options {
    fn default() -> Options {
        Options::spawn("quipu")
    }
}

/// Environment, arguments and tokens may be secret and are not shown.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("transport", &self.transport)
            .field("client_name", &self.client_name)
            .field("client_version", &self.client_version)
            .field("experimental_api", &self.experimental_api)
            .field("minimum_version", &self.minimum_version)
            .field("defaults", &self.defaults)
            .field("timeouts", &self.timeouts)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Spawn(spawn) => write!(f, "Spawn({})", spawn.program.display()),
            Transport::WebSocket { url, .. } => write!(f, "WebSocket({url})"),
            Transport::Unix(path) => write!(f, "Unix({})", path.display()),
            Transport::Connection(_) => f.write_str("Connection"),
        }
    }
}
