//! What a server is started with.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use quipu_config::{LoadRequest, Loader, Snapshot};
use quipu_journal::Source;
use quipu_wire::ConfigWarningNotification;

use crate::cloud::CloudTiming;

/// The version that this server announces, unless `announced_version` in the configuration names another. Clients compare
/// it with what they need; none refuses a higher one than it knows.
pub const PROTOCOL_VERSION: &str = "0.166.0";

/// The version that a server with this configuration announces.
#[must_use]
pub fn announced_version(config: &Loader) -> String {
    let snapshot = config.load(&LoadRequest::default()).ok();
    let chosen = snapshot.and_then(|it| it.session().announced_version);
    chosen
        .filter(|it| is_version(it))
        .unwrap_or_else(|| PROTOCOL_VERSION.to_owned())
}

/// That the configured version is none, and which one is announced.
pub(crate) fn version_warning(snapshot: &Snapshot) -> Option<ConfigWarningNotification> {
    let chosen = snapshot.session().announced_version;
    let invalid = chosen.filter(|it| !is_version(it))?;
    Some(ConfigWarningNotification {
        summary: format!(
            "`announced_version` is `{invalid}`, which is not three numbers with dots between them; \
             {PROTOCOL_VERSION} is announced."
        ),
        details: None,
        path: None,
        range: None,
    })
}

fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    text.split('.').count() == 3 && text.split('.').all(is_number)
}

/// What the process knows before the first client connects.
pub struct Settings {
    /// The configuration, which also knows the home directory and the environment.
    pub config: Arc<Loader>,
    /// How long a client of a socket may take to send `initialize`.
    pub handshake: Duration,
    /// How long running turns may go on after the first signal to stop. Together with ending them it
    /// stays below the ten seconds that service managers commonly grant.
    pub drain: Duration,
    /// How long running turns may go on after the signal to reload.
    pub reload: Duration,
    /// How long a model may think about an approval before it counts as denied.
    pub review_limit: Duration,
    /// How long a thread at which nothing happens keeps what it has in memory.
    pub idle: Duration,
    /// Threads that one client may have loaded. Each takes some kilobytes while nothing happens in it.
    pub threads_per_client: usize,
    /// How the backend of a business workspace is asked for its limits.
    pub cloud: CloudTiming,
    /// What kind of program the threads of this process are made by.
    pub source: Source,
    /// Whether threads are refused where no model is configured. Otherwise the offline model answers, which says so, for
    /// those who write clients.
    pub needs_model: bool,
    /// Whether listeners serve `/metrics`.
    pub metrics: bool,
    /// Whether clients are notified of changes in the directories of skills. A process of one turn has no use for that, and
    /// at its end would wait some twenty milliseconds for the kernel to let go of what it watched.
    pub watch_skills: bool,
    /// The repository of the provider's marketplace of plugins, fetched when a client asks for plugins; none is not
    /// fetched.
    pub curated: Option<String>,
    /// A directory with programs that come along with this one, first in the `PATH` of commands. It is made for the
    /// first turn: a start leaves nothing behind.
    pub programs: Programs,
}

/// A directory that is made when it is needed, if it can be.
pub type Programs = LazyLock<Option<PathBuf>, Box<dyn FnOnce() -> Option<PathBuf> + Send>>;

impl Settings {
    /// Settings with defaults for all but the configuration.
    #[must_use]
    pub fn new(config: Loader) -> Settings {
        Settings {
            config: Arc::new(config),
            handshake: Duration::from_secs(30),
            drain: Duration::from_secs(7),
            reload: Duration::from_secs(600),
            review_limit: Duration::from_secs(90),
            idle: Duration::from_secs(300),
            threads_per_client: 5_000,
            cloud: CloudTiming::default(),
            source: Source::default(),
            needs_model: false,
            metrics: false,
            watch_skills: true,
            curated: None,
            programs: LazyLock::new(Box::new(|| None)),
        }
    }
}
