//! Where lists of apps come from: the backend's directory, and the tools of connected apps. Both are read
//! side by side and kept for a while, for each account.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quipu_auth::BackendError;
use quipu_config::Snapshot;
use quipu_extend::apps::{connected, read_page};
use quipu_mcp::Client;
use quipu_wire::{AppInfo, PlanType};
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};

use super::{SERVER, rules};
use crate::chatgpt::Backend;
use crate::{Server, mcp};

/// How long a list is good.
const GOOD_FOR: Duration = Duration::from_secs(60 * 60);
/// How long a page of the directory, and everything together, may take.
const PAGE_LIMIT: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(90);
/// Pages and apps of the directory that are read at most.
const MAX_PAGES: usize = 100;
const MAX_APPS: usize = 20_000;
/// Accounts whose lists are kept.
const KEPT: usize = 8;

/// A list of apps.
type List = Arc<[AppInfo]>;

/// Why there is no list. The texts are those clients know.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("failed to list apps: {0}")]
    Directory(String),
    #[error("failed to load accessible apps: {0}")]
    Connected(String),
    #[error("timed out waiting for app lists after {} seconds", LIMIT.as_secs())]
    TimedOut,
}

/// What is known so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loaded {
    pub directory: Option<List>,
    pub connected: Option<List>,
}

/// The lists of each account, with when they were read.
#[derive(Default)]
pub(crate) struct Kept(Mutex<HashMap<Account, Lists>>);

/// An address and an account there.
type Account = (String, Option<String>);

#[derive(Clone, Default)]
struct Lists {
    directory: Option<(Instant, List)>,
    connected: Option<(Instant, List)>,
}

impl Kept {
    fn get(&self, account: &Account) -> Lists {
        let kept = self.0.lock();
        kept.get(account).cloned().unwrap_or_default()
    }

    fn change(&self, account: &Account, change: impl FnOnce(&mut Lists)) {
        let mut kept = self.0.lock();
        if kept.len() >= KEPT && !kept.contains_key(account) {
            kept.clear();
        }
        change(kept.entry(account.clone()).or_default());
    }
}

type Read = Pin<Box<dyn Future<Output = Result<List, LoadError>> + Send>>;

/// Both lists on their way.
pub(super) struct Loading {
    server: Arc<Server>,
    account: Account,
    loaded: Loaded,
    directory: Option<Read>,
    connected: Option<Read>,
    /// Why the directory cannot be read. The other list is still worth having.
    failed: Option<LoadError>,
    limit: Pin<Box<Sleep>>,
}

impl Loading {
    /// Begins to read what is not known yet, or everything again where `refetch` says so. What was known before is shown until then.
    pub async fn begin(server: &Arc<Server>, settings: &Arc<Snapshot>, refetch: bool) -> Loading {
        let backend = Backend::new(server, settings).await;
        let account = backend.key();
        let kept = server.apps.get(&account);
        let is_good = |list: &Option<(Instant, List)>| {
            !refetch && list.as_ref().is_some_and(|(at, _)| at.elapsed() < GOOD_FOR)
        };
        let list = |kept: &Option<(Instant, List)>| kept.as_ref().map(|(_, list)| Arc::clone(list));
        let directory: Option<Read> = (!is_good(&kept.directory)).then(|| {
            let server = Arc::clone(server);
            Box::pin(async move { directory(&server, &backend).await }) as Read
        });
        let connected: Option<Read> = (!is_good(&kept.connected)).then(|| {
            let (server, settings) = (Arc::clone(server), Arc::clone(settings));
            Box::pin(async move { connected_apps(&server, &settings).await }) as Read
        });
        Loading {
            server: Arc::clone(server),
            account,
            loaded: Loaded {
                directory: list(&kept.directory),
                connected: list(&kept.connected),
            },
            directory,
            connected,
            failed: None,
            limit: Box::pin(sleep(LIMIT)),
        }
    }

    /// What is known so far.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Waits for both.
    pub async fn complete(&mut self) -> Result<(), LoadError> {
        while !self.next().await? {}
        Ok(())
    }

    /// Waits for the next part; `true` if there is none left. A list that was known before stands in for one
    /// that cannot be read from the apps again; the directory has to answer.
    pub async fn next(&mut self) -> Result<bool, LoadError> {
        if self.directory.is_none() && self.connected.is_none() {
            return self.failed.take().map_or(Ok(true), Err);
        }
        tokio::select! {
            read = part(&mut self.connected) => self.take_connected(read)?,
            read = part(&mut self.directory) => self.take_directory(read),
            () = &mut self.limit => return Err(LoadError::TimedOut),
        }
        let is_complete = self.directory.is_none() && self.connected.is_none();
        Ok(is_complete && self.failed.is_none())
    }

    fn take_connected(&mut self, read: Result<List, LoadError>) -> Result<(), LoadError> {
        self.connected = None;
        let is_known = self.loaded.connected.is_some();
        match read {
            Ok(list) => {
                let kept = (Instant::now(), Arc::clone(&list));
                let keep = |lists: &mut Lists| lists.connected = Some(kept);
                self.server.apps.change(&self.account, keep);
                self.loaded.connected = Some(list);
            }
            Err(error) if is_known => {
                tracing::warn!(%error, "failed to read connected apps; using the last list");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn take_directory(&mut self, read: Result<List, LoadError>) {
        self.directory = None;
        let list = match read {
            Ok(list) => list,
            Err(error) => {
                self.failed = Some(error);
                return;
            }
        };
        let kept = (Instant::now(), Arc::clone(&list));
        let keep = |lists: &mut Lists| lists.directory = Some(kept);
        self.server.apps.change(&self.account, keep);
        self.loaded.directory = Some(list);
    }
}

/// A part that is being read; one that is not never comes.
async fn part(read: &mut Option<Read>) -> Result<List, LoadError> {
    match read {
        Some(read) => read.await,
        None => std::future::pending().await,
    }
}

/// Reads the directory, page by page.
async fn directory(server: &Server, backend: &Backend) -> Result<List, LoadError> {
    let failed = |error: BackendError| match error {
        BackendError::Status { .. } => {
            LoadError::Directory(format!("Request failed with status {error}"))
        }
        BackendError::Unreachable(why) => LoadError::Directory(why),
    };
    let first = backend.url("connectors/directory/list?tier=categorized&external_logos=true");
    let mut apps: BTreeMap<String, AppInfo> = BTreeMap::new();
    let mut url = first.clone();
    for _ in 0..MAX_PAGES {
        let text = backend.get_within(server, url, PAGE_LIMIT).await;
        let page = read_page(&text.map_err(failed)?);
        let page = page.map_err(|error| LoadError::Directory(error.to_string()))?;
        add(&mut apps, page.apps);
        let Some(next) = page.next.filter(|_| apps.len() < MAX_APPS) else {
            break;
        };
        url = format!("{first}&token={}", encoded(&next));
    }
    if is_workspace(backend) {
        let url = backend.url("connectors/directory/list_workspace?external_logos=true");
        match backend
            .get_within(server, url, PAGE_LIMIT)
            .await
            .map(|text| read_page(&text))
        {
            Ok(Ok(page)) => add(&mut apps, page.apps),
            _ => tracing::warn!("failed to read the apps of the workspace"),
        }
    }
    Ok(apps.into_values().collect())
}

/// Of two apps with one id the first counts.
fn add(apps: &mut BTreeMap<String, AppInfo>, more: Vec<AppInfo>) {
    for app in more.into_iter().take(MAX_APPS) {
        apps.entry(app.id.clone()).or_insert(app);
    }
}

/// Whether the account belongs to an organisation, which may have apps of its own.
fn is_workspace(backend: &Backend) -> bool {
    backend.login().is_ok_and(|login| {
        matches!(
            login.plan,
            PlanType::Team
                | PlanType::SelfServeBusinessUsageBased
                | PlanType::Business
                | PlanType::EnterpriseCbpUsageBased
                | PlanType::Enterprise
                | PlanType::Edu
        )
    })
}

/// Asks the server with the tools of apps which ones there are.
async fn connected_apps(server: &Arc<Server>, settings: &Snapshot) -> Result<List, LoadError> {
    let spec = mcp::apps_spec(server, settings);
    // Its questions are dropped, which cancels them.
    let (questions, _) = mpsc::channel(1);
    let client = Client::start(SERVER, &spec, &mcp::client_info(), questions).await;
    let client = client.map_err(|error| LoadError::Connected(error.to_string()))?;
    let mut apps: BTreeMap<String, AppInfo> = BTreeMap::new();
    for app in client.tools().iter().filter_map(rules::connector) {
        let (name, description) = (app.name.as_deref(), app.description.as_deref());
        let info = connected(&app.id, name, description);
        apps.entry(app.id).or_insert(info);
    }
    Ok(apps.into_values().collect())
}

/// A value of a query.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
