//! The adapter: a server, the settings of its threads, and those who watch.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_client::wire::{
    AskForApproval, Personality, ReasoningEffort, ReasoningSummary, SandboxMode,
};

use crate::bridge::Bridge;
use crate::events::{SubscriberError, Subscribers};
use crate::limits::Limits;
use crate::server::{Connected, Pool};
use crate::{Evaluation, Event, Login, McpServer, Prices, Prompt, Result, Server, Session};

/// Evaluates prompts on a server. Cheap to clone; clones share a pooled server.
///
/// ```no_run
/// use quipu_adapter::{Adapter, Prompt, Section, Server, Session};
///
/// # async fn hello() -> quipu_adapter::Result<()> {
/// let adapter = Adapter::new(Server::spawn("quipu"));
/// let prompt = Prompt::text("hello").section(Section::new("Task", "What does this project do?"));
/// let response = adapter.evaluate(&prompt, &Session::new()).await?;
/// println!("{}", response.output);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Adapter {
    pub(crate) settings: Arc<Settings>,
    pool: Arc<Pool>,
}

/// The settings of an adapter.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub name: String,
    pub server: Server,
    pub identity: Identity,
    pub cwd: Option<PathBuf>,
    pub startup_timeout: Duration,
    pub model: ModelSettings,
    pub approvals: Approvals,
    pub sandbox: Option<SandboxMode>,
    pub login: Option<Login>,
    pub reuses_threads: bool,
    pub is_ephemeral: bool,
    pub mcp_servers: BTreeMap<String, McpServer>,
    pub prices: Prices,
    pub subscribers: Subscribers,
}

/// The name of the client, as the server knows it.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub name: String,
    pub title: String,
    pub version: String,
}

/// The model and how it works. What is not said is up to the server's configuration.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModelSettings {
    /// The model's name.
    pub model: Option<String>,
    /// How much it thinks.
    pub effort: Option<ReasoningEffort>,
    /// How its thoughts are summarised.
    pub summary: Option<ReasoningSummary>,
    /// How it speaks.
    pub personality: Option<Personality>,
}

/// When the server asks whether the agent may do something, and what it is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approvals {
    /// It does not ask, and questions that come all the same are answered with yes. The sandbox is the
    /// boundary.
    #[default]
    Never,
    /// It asks about commands that are not known to only read; yes.
    Untrusted,
    /// It asks after a command has failed in the sandbox; yes.
    OnFailure,
    /// It asks about whatever goes beyond the sandbox; no.
    OnRequest,
}

impl Approvals {
    pub(crate) fn policy(self) -> AskForApproval {
        match self {
            Approvals::Never => AskForApproval::Never,
            Approvals::Untrusted => AskForApproval::Untrusted,
            Approvals::OnFailure => AskForApproval::OnFailure,
            Approvals::OnRequest => AskForApproval::OnRequest,
        }
    }

    pub(crate) fn accepts(self) -> bool {
        self != Approvals::OnRequest
    }
}

impl Adapter {
    /// An adapter on a server, with everything else as the server is configured.
    #[must_use]
    pub fn new(server: Server) -> Adapter {
        let settings = Settings {
            name: "codex_app_server".to_owned(),
            server,
            identity: Identity {
                name: "quipu-adapter".to_owned(),
                title: "Quipu Adapter".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            cwd: None,
            startup_timeout: Duration::from_secs(10),
            model: ModelSettings::default(),
            approvals: Approvals::Never,
            sandbox: None,
            login: None,
            reuses_threads: false,
            is_ephemeral: false,
            mcp_servers: BTreeMap::new(),
            prices: Prices::new(),
            subscribers: Subscribers::default(),
        };
        Adapter {
            settings: Arc::new(settings),
            pool: Arc::default(),
        }
    }

    /// An adapter that differs has a pool of its own: its server may have to be another.
    fn with(self, change: impl FnOnce(&mut Settings)) -> Adapter {
        let mut settings = Arc::unwrap_or_clone(self.settings);
        change(&mut settings);
        Adapter {
            settings: Arc::new(settings),
            pool: Arc::default(),
        }
    }

    /// The name that events carry: `codex_app_server` if not given.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Adapter {
        self.with(|it| it.name = name.into())
    }

    /// The name and version of the program, which servers tell to model providers. [`Server::with`] introduces itself.
    #[must_use]
    pub fn client(self, name: impl Into<String>, version: impl Into<String>) -> Adapter {
        self.with(|it| (it.identity.name, it.identity.version) = (name.into(), version.into()))
    }

    /// The name of the program for people.
    #[must_use]
    pub fn client_title(self, title: impl Into<String>) -> Adapter {
        self.with(|it| it.identity.title = title.into())
    }

    /// Where the agent works, as an absolute path: this process's directory if not given. A prompt's
    /// workspace goes before it.
    #[must_use]
    pub fn cwd(self, cwd: impl Into<PathBuf>) -> Adapter {
        self.with(|it| it.cwd = Some(cwd.into()))
    }

    /// How long a server may take to start and to introduce itself, and a pooled one to answer before it is used
    /// again: 10 seconds if not given.
    #[must_use]
    pub fn startup_timeout(self, limit: Duration) -> Adapter {
        self.with(|it| it.startup_timeout = limit)
    }

    /// The model.
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Adapter {
        self.with(|it| it.model.model = Some(model.into()))
    }

    /// How much the model thinks.
    #[must_use]
    pub fn effort(self, effort: ReasoningEffort) -> Adapter {
        self.with(|it| it.model.effort = Some(effort))
    }

    /// How the model's thoughts are summarised.
    #[must_use]
    pub fn summary(self, summary: ReasoningSummary) -> Adapter {
        self.with(|it| it.model.summary = Some(summary))
    }

    /// How the model speaks.
    #[must_use]
    pub fn personality(self, personality: Personality) -> Adapter {
        self.with(|it| it.model.personality = Some(personality))
    }

    /// When the server asks, and what it is answered: [`Approvals::Never`] if not given.
    #[must_use]
    pub fn approvals(self, approvals: Approvals) -> Adapter {
        self.with(|it| it.approvals = approvals)
    }

    /// What the agent's commands may do: as the server is configured if not given.
    #[must_use]
    pub fn sandbox(self, mode: SandboxMode) -> Adapter {
        self.with(|it| it.sandbox = Some(mode))
    }

    /// Logs in when a server has started.
    #[must_use]
    pub fn login(self, login: Login) -> Adapter {
        self.with(|it| it.login = Some(login))
    }

    /// Goes on in the thread that the session remembers, if model, directory, workspace, tools, approvals, sandbox
    /// and MCP servers are those that it was started with; else in a new one.
    #[must_use]
    pub fn reuse_threads(self) -> Adapter {
        self.with(|it| it.reuses_threads = true)
    }

    /// Keeps threads in the server's memory only. Servers do not resume such threads, so they are not reused.
    #[must_use]
    pub fn ephemeral(self) -> Adapter {
        self.with(|it| it.is_ephemeral = true)
    }

    /// Lets the agent use an MCP server. Its tools are `mcp__NAME__…` to the model.
    #[must_use]
    pub fn mcp_server(self, name: impl Into<String>, server: McpServer) -> Adapter {
        self.with(|it| drop(it.mcp_servers.insert(name.into(), server)))
    }

    /// What models cost, for costs in responses and budgets of money.
    #[must_use]
    pub fn prices(self, prices: Prices) -> Adapter {
        self.with(|it| it.prices = prices)
    }

    /// Watches all evaluations. A subscriber that fails or panics is logged and changes nothing.
    #[must_use]
    pub fn on_event(
        self,
        subscriber: impl Fn(&Event) -> std::result::Result<(), SubscriberError> + Send + Sync + 'static,
    ) -> Adapter {
        self.with(|it| it.subscribers.add(subscriber))
    }

    /// Evaluates a prompt; await it, after saying what else it should observe.
    pub fn evaluate<'a, O>(
        &'a self,
        prompt: &'a Prompt<O>,
        session: &'a Session,
    ) -> Evaluation<'a, O> {
        Evaluation::new(self, prompt, session)
    }

    /// Ends a pooled server and waits until it is gone. Dropping the last clone of the adapter ends it
    /// in the background.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// A connected server that is logged in. If there is none, one that was started and is not pooled is gone.
    pub(crate) async fn connect(&self, cwd: &Path, limits: &Limits) -> Result<Lease> {
        let start = self.start(cwd, limits);
        let connected = match self.settings.server.is_pooled {
            true => {
                let limit = self.settings.startup_timeout;
                limits.within(self.pool.get(limit, start)).await??
            }
            false => start.await?,
        };
        Ok(Lease {
            connected,
            pool: self
                .settings
                .server
                .is_pooled
                .then(|| Arc::clone(&self.pool)),
        })
    }

    /// Waits itself until the deadline, rather than being dropped then: so the server's end is waited for.
    async fn start(&self, cwd: &Path, limits: &Limits) -> Result<Connected> {
        let settings = &*self.settings;
        let bridge = Bridge::new(settings.approvals, settings.login.clone());
        let limit = limits.at_most(settings.startup_timeout);
        let connecting = settings
            .server
            .connect(bridge.clone(), &settings.identity, cwd, limit);
        let client = match (connecting.await, limits.ended()) {
            (Ok(client), _) => client,
            (Err(error), Some(ended)) => return Err(error.with_reason(ended.into())),
            (Err(error), None) => return Err(error),
        };
        if let Some(login) = &settings.login {
            let done = limits.within(login.perform(&client)).await;
            if let Err(error) = done.and_then(|done| done) {
                let stderr = client.stderr_tail();
                client.disconnect().await;
                return Err(error.with_stderr(stderr));
            }
        }
        Ok(Connected { client, bridge })
    }
}

impl Default for Adapter {
    fn default() -> Adapter {
        Adapter::new(Server::default())
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}

/// A server as long as an evaluation uses it. One that is not pooled ends when it is dropped.
pub(crate) struct Lease {
    pub connected: Connected,
    pool: Option<Arc<Pool>>,
}

impl Lease {
    /// Whether others use the server too.
    pub fn is_pooled(&self) -> bool {
        self.pool.is_some()
    }

    /// Gives the server back: one that is not pooled is gone when this returns, with everything that it
    /// started. One that did not obey is not used again.
    pub async fn release(self, obeyed: bool) {
        match &self.pool {
            None => self.connected.client.disconnect().await,
            Some(pool) if !obeyed => pool.retire(&self.connected.client).await,
            Some(_) => {}
        }
    }
}
