//! The provider's marketplace: a repository that is fetched once in the life of a process, when a client first asks for
//! plugins, to the place where all programs of the home keep it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quipu_config::settings::ShellEnvironment;
use quipu_extend::plugins::{Fetched, has_curated, is_curated_version};
use quipu_sandbox::{Command, Exit, Policy, Stream};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::Server;
use crate::blocking::blocking;

/// How long `git` may take for each of its tasks.
const LIMIT: Duration = Duration::from_secs(30);
/// How long a list waits for the first copy.
const WAIT: Duration = Duration::from_secs(5);
/// How much of what `git` writes is read.
const OUTPUT: usize = 64 * 1024;

/// Whether the marketplace was fetched.
#[derive(Default)]
pub(crate) struct Curated {
    started: AtomicBool,
    done: watch::Sender<bool>,
}

/// Begins to fetch the marketplace, once in the life of a process. Where there is no copy yet it is waited for, but not
/// for long.
pub(crate) async fn fetch_curated(server: &Arc<Server>) {
    let Some(repository) = server.settings.curated.clone() else {
        return;
    };
    let curated = &server.remote_plugins.curated;
    if !curated.started.swap(true, Ordering::Relaxed) {
        let server = Arc::clone(server);
        tokio::spawn(async move {
            if let Err(error) = fetch(&server, &repository).await {
                tracing::warn!(repository, error, "plugin marketplace not fetched");
            }
            server.remote_plugins.curated.done.send_replace(true);
        });
    }
    let has_copy = blocking(server, |server| has_curated(server.home())).await;
    if has_copy.unwrap_or(true) {
        return;
    }
    let mut done = curated.done.subscribe();
    if timeout(WAIT, done.wait_for(|it| *it)).await.is_err() {
        tracing::info!("the plugin marketplace is still being fetched");
    }
}

/// Brings the copy up to date, if the repository has another version.
async fn fetch(server: &Arc<Server>, repository: &str) -> Result<(), String> {
    let found = git(server, &["ls-remote", repository, "HEAD"]).await?;
    let version = found.split_whitespace().next().unwrap_or_default();
    if !is_curated_version(version) {
        return Err("the repository has no HEAD".to_owned());
    }
    let version = version.to_owned();
    let started = blocking(server, move |server| {
        Fetched::begin(server.home(), &version).map_err(|error| error.to_string())
    });
    let started = started.await.map_err(|error| error.to_string())??;
    let Some(fetched) = started else {
        return Ok(());
    };
    let target = fetched.path().display().to_string();
    git(server, &["clone", "--depth", "1", repository, &target]).await?;
    let version = git(server, &["-C", &target, "rev-parse", "HEAD"]).await?;
    let taken = blocking(server, move |server| {
        let taken = fetched.take(server.home(), version.trim());
        taken.map_err(|error| error.to_string())
    });
    taken.await.map_err(|error| error.to_string())?
}

/// What `git` prints. It asks nobody anything, and knows no secret.
pub(super) async fn git(server: &Arc<Server>, arguments: &[&str]) -> Result<String, String> {
    let task = match arguments {
        ["-C", _, task, ..] | [task, ..] => task,
        [] => "",
    };
    let failed = |why: String| format!("git {task} {why}");
    let running = run(server, server.home(), arguments);
    let ran = timeout(LIMIT, running).await;
    let ran = ran.map_err(|_| failed(format!("took longer than {} s", LIMIT.as_secs())))?;
    ran.map_err(failed)
}

async fn run(server: &Arc<Server>, home: &Path, arguments: &[&str]) -> Result<String, String> {
    let argv = std::iter::once("git").chain(arguments.iter().copied());
    let mut command = Command::new(argv, home, Policy::FullAccess);
    let quiet = [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")];
    let secrets = ShellEnvironment::default();
    let vars = server.settings.config.env().vars().chain(quiet);
    command.env = vars
        .filter(|(name, _)| !secrets.withholds(name))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let spawned = quipu_sandbox::spawn(command).await;
    let mut spawned = spawned.map_err(|error| format!("cannot be started: {error}"))?;
    let (mut printed, mut complaint) = (Vec::new(), Vec::new());
    while let Some(chunk) = spawned.output.next().await {
        let text = match chunk.stream {
            Stream::Stdout => &mut printed,
            Stream::Stderr => &mut complaint,
        };
        text.extend_from_slice(&chunk.bytes);
        text.truncate(OUTPUT);
    }
    match spawned.process.wait().await {
        Exit::Code(0) => Ok(String::from_utf8_lossy(&printed).into_owned()),
        _ => {
            let complaint = String::from_utf8_lossy(&complaint);
            Err(format!("failed: {}", complaint.trim()))
        }
    }
}
