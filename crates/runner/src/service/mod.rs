//! The service: a small shell around the orchestrator that does what it decides.

mod effects;
mod workflow;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tracing::level_filters::LevelFilter;

use crate::config::{Observability, TrackerConfig};
use crate::env::Env;
use crate::http;
use crate::leftovers;
use crate::orchestrator::{self, Command, CommandError, Done, Effect, Input, Orchestrator};
use crate::record::Places;
use crate::store::{self, Store};
use crate::time;
use crate::tracker::{self, Tracker, TrackerError};

pub(crate) use effects::patiently;
use workflow::WorkflowFile;
pub use workflow::{Loaded, load};

/// Questions that may wait for the service.
const QUEUE: usize = 64;
/// How often the workflow file is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Makes the tracker that a configuration names.
pub type OpenTracker =
    Arc<dyn Fn(&TrackerConfig, &Env) -> Result<Arc<dyn Tracker>, TrackerError> + Send + Sync>;

/// Takes over how much is logged.
pub type SetLogLevel = Arc<dyn Fn(LevelFilter) + Send + Sync>;

/// What a service is started with.
#[derive(Clone)]
pub struct ServiceOptions {
    /// The path of `WORKFLOW.md`.
    pub workflow: PathBuf,
    pub env: Env,
    /// Where its files are.
    pub places: Places,
    /// The port to listen on, before the one in the workflow.
    pub port: Option<u16>,
    pub open_tracker: OpenTracker,
    /// How long one question to the tracker may take.
    pub tracker_patience: Duration,
    /// Called with `observability.log_level` at the start and after every change of the workflow. The log belongs to
    /// the program, so without this the setting has no effect.
    pub set_log_level: Option<SetLogLevel>,
}

impl ServiceOptions {
    /// A service for a workflow file, whose files are below a home directory.
    pub fn new(workflow: &Path, home: &Path) -> io::Result<ServiceOptions> {
        let workflow = std::path::absolute(workflow)?;
        let directory = workflow.parent().unwrap_or(Path::new("/"));
        Ok(ServiceOptions {
            env: Env::of_process(directory),
            places: Places::of_workflow(home, &workflow),
            workflow,
            port: None,
            open_tracker: Arc::new(tracker::open),
            tracker_patience: Duration::from_secs(120),
            set_log_level: None,
        })
    }

    fn take_log_level(&self, settings: &Observability) {
        if let Some(set) = &self.set_log_level {
            set(settings.log_level);
        }
    }
}

/// Why a service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{0}")]
    Workflow(String),
    #[error("cannot use {}: {source}", path.display())]
    State { path: PathBuf, source: io::Error },
    #[error("cannot listen on port {port}: {source}")]
    Listen { port: u16, source: io::Error },
}

/// What others ask of a running service.
pub enum Query {
    State(oneshot::Sender<Value>),
    Issue(String, oneshot::Sender<Option<Value>>),
    Command(Command, oneshot::Sender<Result<Done, CommandError>>),
}

/// A way to ask a running service.
#[derive(Clone)]
pub struct Handle {
    queries: mpsc::Sender<Query>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    #[error("the service did not answer in time")]
    Timeout,
    #[error("the service is not running")]
    Unavailable,
}

impl Handle {
    /// How long an answer may take.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// Asks, and waits for the answer.
    pub async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> Query,
    ) -> Result<T, AskError> {
        let (sender, answer) = oneshot::channel();
        let asking = async {
            let sent = self.queries.send(question(sender)).await;
            sent.map_err(|_| AskError::Unavailable)?;
            answer.await.map_err(|_| AskError::Unavailable)
        };
        let answer = tokio::time::timeout(Handle::PATIENCE, asking).await;
        answer.unwrap_or(Err(AskError::Timeout))
    }
}

/// A service that is ready to run.
pub struct Service {
    options: ServiceOptions,
    file: WorkflowFile,
    machine: Orchestrator,
    tracker: Arc<dyn Tracker>,
    tracker_config: TrackerConfig,
    store: Store,
    /// By issue id: turning one true ends that worker.
    stops: BTreeMap<String, watch::Sender<bool>>,
    inputs: mpsc::UnboundedSender<Input>,
    happened: mpsc::UnboundedReceiver<Input>,
    queries: mpsc::Receiver<Query>,
    handle: Handle,
    address: Option<SocketAddr>,
    next_tick: Option<Instant>,
    /// Held as long as the service lives: no other service may use the same files.
    _lock: std::fs::File,
}

impl Service {
    /// Checks the configuration, ends what an earlier service left behind, cleans up, and listens.
    pub async fn start(options: ServiceOptions) -> Result<Service, StartError> {
        let mut file = WorkflowFile::new(&options.workflow);
        let loaded = file.read_now(&options.env, &options.open_tracker);
        let loaded = loaded.map_err(StartError::Workflow)?;
        options.take_log_level(&loaded.config.observability);
        let places = options.places.clone();
        let unusable = |source| StartError::State {
            path: places.root.clone(),
            source,
        };
        let lock = lock(&options.places).await.map_err(unusable)?;
        let store = Store::open(options.places.clone()).map_err(unusable)?;
        let records = store::load(&options.places, store::put_aside).map_err(unusable)?;
        let day = store::load_day(&options.places, time::now(), store::put_aside);
        leftovers::end(leftovers::marks(&options.places.root, &records)).await;
        let (inputs, happened) = mpsc::unbounded_channel();
        let (sender, queries) = mpsc::channel(QUEUE);
        let port = options.port.or(loaded.config.server_port);
        let mut service = Service {
            tracker_config: loaded.config.tracker.clone(),
            machine: Orchestrator::new(loaded.config, records, day),
            tracker: loaded.tracker,
            options,
            file,
            store,
            stops: BTreeMap::new(),
            inputs,
            happened,
            queries,
            handle: Handle { queries: sender },
            address: None,
            next_tick: None,
            _lock: lock,
        };
        service.listen(port).await?;
        service.sweep().await;
        tracing::info!(workflow = %service.options.workflow.display(), "started");
        Ok(service)
    }

    /// Where its HTTP interface is.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// A way to ask it while it runs.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    async fn listen(&mut self, port: Option<u16>) -> Result<(), StartError> {
        if let Some(port) = port {
            let address = http::listen(port, self.handle()).await;
            let address = address.map_err(|source| StartError::Listen { port, source })?;
            tracing::info!(address = %address, "listening");
            self.address = Some(address);
        }
        #[cfg(unix)]
        {
            let path = self.options.places.socket();
            if let Err(error) = http::listen_unix(&path, self.handle()) {
                tracing::warn!(%error, "operators cannot reach this service: no control socket");
            }
        }
        Ok(())
    }

    /// Works until it shall end, and then until no agent is left.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = std::pin::pin!(shutdown);
        let mut ending = false;
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut finished = self.step(Input::Started);
        while !finished {
            let tick = self.next_tick;
            finished = tokio::select! {
                Some(input) = self.happened.recv() => self.step(input),
                Some(query) = self.queries.recv() => self.answer(query),
                () = tick_at(tick) => {
                    self.next_tick = None;
                    self.look_at_workflow();
                    self.step(Input::Tick)
                }
                _ = looks.tick() => {
                    self.look_at_workflow();
                    false
                }
                () = &mut shutdown, if !ending => {
                    ending = true;
                    tracing::info!("stopping");
                    self.step(Input::Stop)
                }
            };
        }
        self.store.flush().await;
        // A socket that stays is replaced by the next start.
        #[cfg(unix)]
        std::fs::remove_file(self.options.places.socket()).ok();
    }

    /// One step, and what follows from it; whether it was the last.
    fn step(&mut self, input: Input) -> bool {
        if let Input::Exited { issue_id, .. } = &input {
            self.stops.remove(issue_id);
        }
        let effects = self.machine.step(time::now(), input);
        self.perform_all(effects)
    }

    fn perform_all(&mut self, effects: Vec<Effect>) -> bool {
        let mut finished = false;
        for effect in effects {
            finished |= matches!(effect, Effect::Finished);
            self.perform(effect);
        }
        finished
    }

    fn answer(&mut self, query: Query) -> bool {
        let now = time::now();
        match query {
            // A caller that stopped waiting needs no answer.
            Query::State(answer) => drop(answer.send(orchestrator::state(&self.machine, now))),
            Query::Issue(identifier, answer) => {
                let places = self.store.places();
                let details = orchestrator::issue_details(&self.machine, &identifier, places);
                drop(answer.send(details));
            }
            Query::Command(command, answer) => {
                let (done, effects) = self.machine.command(now, &command);
                drop(answer.send(done));
                return self.perform_all(effects);
            }
        }
        false
    }

    /// Takes a changed workflow over; a broken one leaves the last good one in force.
    fn look_at_workflow(&mut self) {
        let now = std::time::Instant::now();
        let Some(loaded) = self
            .file
            .changed(now, &self.options.env, &self.options.open_tracker)
        else {
            return;
        };
        let loaded = loaded.map(|loaded| {
            if loaded.config.tracker != self.tracker_config {
                self.tracker_config = loaded.config.tracker.clone();
                self.tracker = loaded.tracker;
            }
            self.options.take_log_level(&loaded.config.observability);
            loaded.config
        });
        self.step(Input::Reloaded(loaded));
    }
}

async fn tick_at(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Keeps other services away from the same files. One that was just killed may need a moment to be gone.
async fn lock(places: &Places) -> io::Result<std::fs::File> {
    let root = places.root.clone();
    let locked = tokio::task::spawn_blocking(move || {
        quipu_disk::private_dirs(&root, Path::new("."))?;
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true);
        quipu_disk::open_locked(&mut options, &root.join("lock"))
    });
    locked.await.map_err(io::Error::other)?
}
