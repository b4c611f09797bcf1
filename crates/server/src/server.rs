//! The state that connections share.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock, Weak};
use std::time::Duration;

use futures_util::future;
use parking_lot::Mutex;
use quipu_auth::{Accounts, Authority};
use quipu_mcp::oauth::Store as McpLogins;
use quipu_model::{Client as ModelClient, Credentials, ProviderConfig};
use quipu_rpc::{CloseCode, Connection, Limits, OnFull};
use quipu_spending::Ledger;
use quipu_telemetry::Telemetry;
use tokio::time::timeout;

use crate::accounts::{self, CommandCredentials, LoginCredentials, Logins, PrintedTokens};
use crate::agents::Agents;
use crate::announce::Announcer;
use crate::apps;
use crate::budgets::Budgets;
use crate::cloud::Cloud;
use crate::commands::Commands;
use crate::connection::serve;
use crate::files::Watches;
use crate::hub::{Client, Hub};
use crate::identity::Identity;
use crate::lanes::Lanes;
use crate::mcp;
use crate::models::RemoteModels;
use crate::once::Keys;
use crate::platform;
use crate::plugins::RemotePlugins;
use crate::questions::QuestionIds;
use crate::refusal::Refusal;
use crate::search::Searches;
use crate::settings::{Settings, announced_version};
use crate::skills::Skills;
use crate::store::{self, LazyLedger, LazyLeftTurns, LazyNodes, LazyStore};
use crate::telemetry::{self, Reporting};
use crate::threads::{Message, Stop, Threads};

/// How long running turns may take to end once they are asked to.
const INTERRUPT: Duration = Duration::from_secs(2);

/// How long programs that notify the user of a turn may take before the server is stopped.
const NOTIFY: Duration = Duration::from_secs(5);

/// What may be on its way in each direction of a connection within the process.
const IN_PROCESS: Limits = Limits {
    messages: 1024,
    bytes: 16 << 20,
};

/// Where logins at MCP servers are kept, which the settings say too.
type LazyLogins = LazyLock<McpLogins, Box<dyn FnOnce() -> McpLogins + Send>>;

/// A server without its listener: give it connections with [`serve`] or take one with
/// [`connect_in_process`](Server::connect_in_process).
pub struct Server {
    this: Weak<Server>,
    pub(crate) settings: Settings,
    pub(crate) hub: Hub,
    pub(crate) budgets: Budgets,
    pub(crate) question_ids: QuestionIds,
    pub(crate) lanes: Lanes,
    pub(crate) identity: Identity,
    pub(crate) threads: Threads,
    pub(crate) agents: Agents,
    pub(crate) announcer: Announcer,
    pub(crate) store: LazyStore,
    pub(crate) keys: Keys,
    reporting: OnceLock<Reporting>,
    pub(crate) watches: Watches,
    pub(crate) commands: Commands,
    pub(crate) searches: Searches,
    pub(crate) skills: Skills,
    pub(crate) accounts: Accounts,
    pub(crate) logins: Logins,
    /// The logins at MCP servers.
    pub(crate) mcp_logins: LazyLogins,
    pub(crate) cloud: Cloud,
    pub(crate) remote_models: RemoteModels,
    pub(crate) remote_plugins: RemotePlugins,
    pub(crate) apps: apps::Kept,
    pub(crate) printed_tokens: PrintedTokens,
    /// What answers of models cost.
    pub(crate) ledger: LazyLedger,
    pub(crate) nodes: LazyNodes,
    pub(crate) left_turns: LazyLeftTurns,
    models: Mutex<HashMap<String, ModelClient>>,
    /// Set once everything ends: clients need no word of every thread that is unloaded then, and no turns start, nor do
    /// threads start any by themselves.
    pub(crate) stopping: AtomicBool,
}

impl Server {
    /// Makes a server. Nothing is read, started or connected before the first request that needs it.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Server> {
        let config = Arc::clone(&settings.config);
        let version = move || announced_version(&config);
        let identity = Identity::new(settings.config.env(), version);
        let (store, ledger, nodes, left_turns) = store::lazily(Arc::clone(&settings.config));
        let authority = Authority::from_env(|name| settings.config.env().get(name));
        let home = settings.config.home().path();
        let config = Arc::clone(&settings.config);
        let logins = Arc::clone(&config);
        let mcp_logins: LazyLogins = LazyLock::new(Box::new(move || mcp::login_store(&logins)));
        let keep = Box::new(move || accounts::usual_keep(&config));
        let accounts = Accounts::kept(home, authority, quipu_model::http_client, keep);
        Arc::new_cyclic(|this| Server {
            this: Weak::clone(this),
            settings,
            hub: Hub::default(),
            budgets: Budgets::default(),
            question_ids: QuestionIds::default(),
            lanes: Lanes::default(),
            identity,
            threads: Threads::default(),
            agents: Agents::default(),
            announcer: Announcer::default(),
            store,
            keys: Keys::default(),
            reporting: OnceLock::new(),
            watches: Watches::default(),
            commands: Commands::default(),
            searches: Searches::default(),
            skills: Skills::default(),
            accounts,
            logins: Logins::default(),
            mcp_logins,
            cloud: Cloud::default(),
            remote_models: RemoteModels::default(),
            remote_plugins: RemotePlugins::default(),
            apps: apps::Kept::default(),
            printed_tokens: PrintedTokens::default(),
            ledger,
            nodes,
            left_turns,
            models: Mutex::default(),
            stopping: AtomicBool::new(false),
        })
    }

    /// A connection to this server from the same process, served in the background until it is closed.
    ///
    /// Needs a multi-threaded runtime, since turns wait for files now and then. A program whose agent
    /// may run commands calls `quipu_sandbox::maybe_run_helper` first thing in `main`, and
    /// [`stop`](Server::stop) before the runtime goes down.
    #[must_use]
    pub fn connect_in_process(self: &Arc<Self>) -> Connection {
        let (ours, theirs) = Connection::pair(IN_PROCESS);
        tokio::spawn(serve(Arc::clone(self), theirs, OnFull::Wait));
        ours
    }

    /// Ends what is running and all connections, as the end of the process would, within bounds. Programs
    /// of the setting `notify` may finish. For those who serve in their own process; [`run`](crate::run)
    /// does it by itself.
    pub async fn stop(&self) {
        self.announcer.finish(NOTIFY).await;
        self.interrupt().await;
        self.close().await;
    }

    /// Lets what is running finish, but not longer than `limit`. Clients are served all the while.
    pub(crate) async fn drain(&self, limit: Duration) {
        let stop = match self.hands_over() {
            true => {
                self.stopping.store(true, Ordering::Relaxed);
                Stop::HandOver { now: false }
            }
            false => Stop::Wait,
        };
        let rooms = self.hub.all().into_iter();
        let answered = rooms.map(|client| async move { client.room.emptied().await });
        let turns = self.threads.all().into_iter().map(|thread| async move {
            thread.idle(stop).await;
            // Another server can have it at once. An agent stays with the thread that it belongs to.
            if stop != Stop::Wait && self.agents.get(&thread.id).is_none() {
                thread.close().await;
            }
        });
        let done = future::join(future::join_all(answered), future::join_all(turns));
        if timeout(limit, done).await.is_err() {
            tracing::warn!("shutdown timeout; ending running turns");
        }
    }

    /// Whether running turns are left to another server, or to the next one, instead of being interrupted.
    pub(crate) fn hands_over(&self) -> bool {
        // Settings that nothing has needed so far are not read to end.
        self.threads.count() > 0 && self.left_turns.as_ref().is_some_and(|it| it.go_on)
    }

    /// Refuses if a new turn would only be interrupted soon.
    pub(crate) fn takes_turns(&self) -> Result<(), Refusal> {
        match self.stopping.load(Ordering::Relaxed) {
            true => Err(Refusal::Stopping),
            false => Ok(()),
        }
    }

    /// Ends what is still running and notifies clients, within bounds.
    pub(crate) async fn interrupt(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        for client in self.hub.all() {
            client.leave();
        }
        let stop = match self.hands_over() {
            true => Stop::HandOver { now: true },
            false => Stop::Interrupt,
        };
        let threads = self.threads.all();
        let ended = threads.iter().map(|thread| async move {
            thread.idle(stop).await;
            thread.close().await;
        });
        if timeout(INTERRUPT, future::join_all(ended)).await.is_err() {
            tracing::error!("some threads did not end in time");
        }
        self.announcer.end().await;
    }

    /// Ends all connections after what is queued for them was written, and reports what is left to report.
    pub(crate) async fn close(&self) {
        for client in self.hub.all() {
            client.outbox.close(CloseCode::GOING_AWAY);
        }
        self.hub.all_closed().await;
        if let Some(reporting) = self.reporting.get() {
            reporting.telemetry.flush(telemetry::FLUSH).await;
        }
    }

    /// Releases what belongs to a connection.
    pub(crate) async fn disconnected(&self, client: &Client) {
        self.hub.disconnect(client.id);
        self.watches.disconnected(client.id);
        self.searches.disconnected(client.id);
        for thread in self.threads.all() {
            thread.send(Message::Gone(client.id)).await;
        }
    }

    /// The directory that relative paths of requests are resolved against.
    pub(crate) fn cwd(&self) -> &Path {
        self.settings.config.env().cwd()
    }

    /// For parts that the server owns.
    pub(crate) fn weak(&self) -> Weak<Server> {
        Weak::clone(&self.this)
    }

    /// The directory of all state.
    pub(crate) fn home(&self) -> &Path {
        self.settings.config.home().path()
    }

    /// What answers of models cost, where the settings say.
    #[must_use]
    pub fn ledger(&self) -> &dyn Ledger {
        &**self.ledger
    }

    /// The user's shell.
    pub(crate) fn shell(&self) -> String {
        platform::shell(self.settings.config.env())
    }

    /// The name of the user's shell.
    pub(crate) fn shell_name(&self) -> String {
        let shell = self.shell();
        let name = shell.rsplit('/').next().unwrap_or("bash");
        name.trim_end_matches(".exe").to_owned()
    }

    /// Where threads report what happens in them, as the settings say when the first thread is loaded.
    pub(crate) fn reporting(&self) -> &Reporting {
        self.reporting
            .get_or_init(|| telemetry::start(&self.settings.config, self.settings.metrics))
    }

    /// Where something is reported, once the first thread has been loaded, and only if something is.
    pub(crate) fn telemetry(&self) -> Option<&Telemetry> {
        let telemetry = &self.reporting.get()?.telemetry;
        telemetry.is_on().then_some(telemetry)
    }

    /// The client of a provider; threads of one provider share its connections.
    pub fn model_client(&self, provider: &ProviderConfig) -> ModelClient {
        let mut models = self.models.lock();
        if let Some(client) = models
            .get(&provider.id)
            .filter(|client| client.provider() == provider)
        {
            return client.clone();
        }
        let client = if let Some(command) = &provider.auth {
            let printed = CommandCredentials::new(Weak::clone(&self.this), command.clone());
            ModelClient::new(provider.clone(), printed)
        } else if provider.requires_openai_auth {
            let login = LoginCredentials(Weak::clone(&self.this));
            ModelClient::new(provider.clone(), login)
        } else {
            ModelClient::new(provider.clone(), Credentials::None)
        };
        models.insert(provider.id.clone(), client.clone());
        client
    }
}
