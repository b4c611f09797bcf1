//! Does what the orchestrator decided. Nothing here waits: what takes time becomes a task that reports back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::Service;
use crate::config::Config;
use crate::env::Env;
use crate::orchestrator::{Effect, Entry, Failure, Input, Job, Level, Outcome};
use crate::ssh::HOST_UNAVAILABLE;
use crate::time::Millis;
use crate::tracker::{Issue, TrackerError, TrackerErrorKind};
use crate::worker::{Ground, Worker, variables};
use crate::workspace;

/// What a tracker answers.
type Answer = Result<Vec<Issue>, TrackerError>;

impl Service {
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Refresh { ids } => {
                let asked = self.by_id(ids.clone());
                self.report(async {
                    Input::Refreshed {
                        ids,
                        result: asked.await,
                    }
                });
            }
            Effect::Poll { states } => {
                let asked = self.in_states(states);
                self.report(async { Input::Polled(asked.await) });
            }
            Effect::AskForRetry { issue_id } => {
                let asked = self.by_id(vec![issue_id.clone()]);
                self.report(async {
                    Input::RetryAsked {
                        issue_id,
                        result: asked.await,
                    }
                });
            }
            Effect::Tick { after_ms } => {
                let at = Instant::now() + ms(after_ms);
                self.next_tick = Some(self.next_tick.map_or(at, |planned| planned.min(at)));
            }
            Effect::RetryTimer {
                issue_id,
                generation,
                after_ms,
            } => self.report(async move {
                sleep(ms(after_ms)).await;
                Input::RetryDue {
                    issue_id,
                    generation,
                }
            }),
            Effect::Dispatch(job) => self.dispatch(*job),
            Effect::Stop { issue_id } => {
                if let Some(stop) = self.stops.get(&issue_id) {
                    stop.send_replace(true);
                }
            }
            Effect::Clean {
                issue_id,
                identifier,
            } => {
                let cleaning = self.clean(Issue::new(&issue_id, &identifier, "", ""));
                self.report(async move {
                    let removed = cleaning.await.is_ok();
                    Input::Cleaned { issue_id, removed }
                });
            }
            Effect::Save(record) => self.store.save(&record),
            Effect::SaveDay(day) => self.store.save_day(&day),
            Effect::Log(entry) => log(&entry),
            Effect::Finished => {}
        }
    }

    /// Lets something happen apart from the service, and hears how it ended.
    fn report(&self, task: impl Future<Output = Input> + Send + 'static) {
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            // A service that has ended needs no report.
            inputs.send(task.await).ok();
        });
    }

    fn by_id(&self, ids: Vec<String>) -> impl Future<Output = Answer> + Send + 'static {
        let tracker = Arc::clone(&self.tracker);
        let ask = async move { tracker.issues_by_id(&ids).await };
        patiently(self.options.tracker_patience, ask)
    }

    fn in_states(&self, states: Vec<String>) -> impl Future<Output = Answer> + Send + 'static {
        let tracker = Arc::clone(&self.tracker);
        let ask = async move { tracker.issues_in_states(&states).await };
        patiently(self.options.tracker_patience, ask)
    }

    fn dispatch(&mut self, job: Job) {
        let (stop, stopped) = watch::channel(false);
        let issue_id = job.issue.id.clone();
        self.stops.insert(issue_id.clone(), stop);
        let inputs = self.inputs.clone();
        let of = issue_id.clone();
        let worker = Worker {
            job,
            tracker: Arc::clone(&self.tracker),
            store: self.store.clone(),
            patience: self.options.tracker_patience,
            env: self.options.env.clone(),
            hearing: Arc::new(move |event| {
                let input = Input::Agent {
                    issue_id: of.clone(),
                    event: Box::new(event),
                };
                // The service may have ended meanwhile.
                inputs.send(input).ok();
            }),
            stop: stopped,
        };
        let working = tokio::spawn(worker.run());
        self.report(async move {
            let outcome = working.await.unwrap_or_else(|error| Outcome {
                failure: Some(Failure::new("worker_panicked", error)),
                ..Outcome::default()
            });
            Input::Exited { issue_id, outcome }
        });
    }

    fn clean(&self, issue: Issue) -> impl Future<Output = Result<(), Failure>> + Send + 'static {
        let config = Arc::clone(self.machine.config());
        let host = self.host_of(&issue.id);
        remove(config, issue, host, self.options.env.clone())
    }

    /// The machine that has the workspace of an issue; nothing for this one.
    fn host_of(&self, issue_id: &str) -> Option<String> {
        let record = self.machine.records().get(issue_id)?;
        record.attempts.last()?.host.clone()
    }

    /// Removes the workspaces of issues that were done while no service ran. A host that cannot be reached is not asked
    /// again, and none for what is known to be gone.
    pub(super) async fn sweep(&mut self) {
        let config = Arc::clone(self.machine.config());
        let done = self.in_states(config.tracker.terminal_states.clone()).await;
        let issues = match done {
            Ok(issues) => issues,
            Err(error) => return tracing::warn!(%error, "startup cleanup skipped"),
        };
        let mut unreachable = BTreeSet::new();
        for issue in issues {
            let (issue_id, host) = (issue.id.clone(), self.host_of(&issue.id));
            let record = self.machine.records().get(&issue_id);
            let is_gone = host.is_some() && record.is_some_and(|it| it.removed);
            if is_gone || unreachable.contains(&host) {
                continue;
            }
            match self.clean(issue).await {
                Ok(()) => {
                    let removed = true;
                    self.step(Input::Cleaned { issue_id, removed });
                }
                Err(failure) if failure.code == HOST_UNAVAILABLE => {
                    unreachable.insert(host);
                }
                Err(_) => {}
            }
        }
    }
}

/// Asks a tracker, for so long and no longer.
pub(crate) async fn patiently(
    patience: Duration,
    ask: impl Future<Output = Answer> + Send + 'static,
) -> Answer {
    let failed = |why: String| Err(TrackerError::new(TrackerErrorKind::Request, why));
    // In a task of its own, so that a tracker that panics is one that failed.
    match timeout(patience, tokio::spawn(ask)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => failed(error.to_string()),
        Err(_) => failed(format!("no answer within {} ms", patience.as_millis())),
    }
}

/// Removes the workspace of an issue, after its hook, on the machine that has it.
async fn remove(
    config: Arc<Config>,
    issue: Issue,
    host: Option<String>,
    env: Env,
) -> Result<(), Failure> {
    let (root, identifier) = (&config.workspace_root, &issue.identifier);
    let ground = Ground::new(host.as_deref(), &config, &env).inspect_err(|error| {
        warn(&issue, "workspace_not_removed", &error.to_string());
    })?;
    if matches!(ground, Ground::Here(_)) && !workspace::exists(root, identifier) {
        return Ok(());
    }
    let path = workspace::path(root, identifier);
    if let Some(script) = &config.hooks.before_remove
        && ground.check(root, &path).is_ok()
    {
        let variables = variables(&issue, &path, &env.directory);
        let limit = config.hooks.timeout;
        let done = ground.hook("before_remove", script, &path, &variables, limit);
        if let Err(error) = done.await {
            warn(&issue, "hook_failed", &error.to_string());
        }
    }
    let removed = ground.remove(root, identifier).await;
    match &removed {
        Ok(()) => tracing::info!(
            issue_id = issue.id,
            issue_identifier = issue.identifier,
            "workspace_removed"
        ),
        Err(error) => warn(&issue, "workspace_not_removed", &error.to_string()),
    }
    removed
}

fn warn(issue: &Issue, event: &'static str, error: &str) {
    tracing::warn!(
        issue_id = issue.id,
        issue_identifier = issue.identifier,
        error,
        "{event}"
    );
}

fn ms(after: Millis) -> Duration {
    Duration::from_millis(u64::try_from(after).unwrap_or(0))
}

/// Writes an entry as one event, with those fields that it has.
fn log(entry: &Entry) {
    macro_rules! write {
        ($level:ident, $($name:ident)*) => {
            tracing::$level!(
                issue_id = entry.issue_id.as_deref(),
                issue_identifier = entry.issue_identifier.as_deref(),
                session_id = entry.session_id.as_deref(),
                $($name = entry.get(stringify!($name)),)*
                "{}", entry.event
            )
        };
        ($level:ident) => {
            write!($level, attempt run resumed turn turns outcome reason state operation budget total_tokens
                   silent_ms after_ms error)
        };
    }
    match entry.level {
        Level::Info => write!(info),
        Level::Warn => write!(warn),
        Level::Error => write!(error),
    }
}
