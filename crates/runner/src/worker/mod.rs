//! One attempt at one issue: its workspace, its prompt, its session, turn after turn, and what is kept of it.

mod changes;
mod ground;
mod log;
mod watch;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch as signal;

use crate::config::Config;
use crate::env::Env;
use crate::hook::{HookError, Variables};
use crate::leftovers;
use crate::orchestrator::{AgentEvent, Failure, Job, Outcome, Resume};
use crate::service::patiently;
use crate::session::{Limits, Session, SessionError, SessionOptions};
use crate::store::Store;
use crate::template::{Template, TemplateError};
use crate::tracker::{Issue, Tracker};
use crate::workspace::Workspace;
pub(crate) use ground::Ground;
use watch::Watch;

/// What a session is asked to do where the workflow has no prompt.
const DEFAULT_PROMPT: &str = "You are working on an issue from the configured tracker.";

/// Who hears of what the agent does.
pub type Hearing = Arc<dyn Fn(AgentEvent) + Send + Sync>;

/// Everything that an attempt needs.
pub struct Worker {
    pub job: Job,
    pub tracker: Arc<dyn Tracker>,
    pub store: Store,
    /// How long one question to the tracker may take.
    pub patience: Duration,
    pub env: Env,
    pub hearing: Hearing,
    /// Turns true when the attempt shall end.
    pub stop: signal::Receiver<bool>,
}

impl Worker {
    /// Works until the issue is done with, the turns are used up, something fails, or the attempt shall end. When it
    /// returns, no process of it is left.
    pub async fn run(self) -> Outcome {
        if let Err(error) = self.store.save_now(&self.job.record).await {
            return failed(Failure::new("state_not_stored", error));
        }
        let ground = match Ground::new(self.job.host.as_deref(), self.config(), &self.env) {
            Ok(ground) => ground,
            Err(failure) => return failed(failure),
        };
        let mut stop = self.stop.clone();
        let prepared = tokio::select! {
            prepared = self.prepare(&ground) => prepared,
            () = stopped(&mut stop) => Err(ended()),
        };
        let workspace = match prepared {
            Ok(workspace) => workspace,
            Err(failure) => return failed(failure),
        };
        let before = match ground {
            Ground::Here(_) => changes::Before::look(&workspace.path).await,
            Ground::There(_) => changes::Before::default(),
        };
        let watch = Watch::new(&self.job, &self.store, Arc::clone(&self.hearing));
        let worked = self.work(&ground, &workspace, &watch).await;
        watch.finish().await;
        let mut outcome = self.keep(&workspace, before, &watch).await;
        outcome.failure = worked.err();
        let script = self.config().hooks.after_run.as_deref();
        let after = self.hook(&ground, "after_run", script, &workspace.path);
        if let Err(error) = after.await {
            self.warn("hook_failed", &error.to_string());
        }
        outcome
    }

    fn config(&self) -> &Config {
        &self.job.config
    }

    fn warn(&self, event: &'static str, error: &str) {
        let issue = &self.job.issue;
        tracing::warn!(
            issue_id = issue.id,
            issue_identifier = issue.identifier,
            error,
            "{event}"
        );
    }

    /// The workspace, with the hooks that come before the agent.
    async fn prepare(&self, ground: &Ground) -> Result<Workspace, Failure> {
        let identifier = &self.job.record.identifier;
        let root = &self.config().workspace_root;
        // Another machine may not have noticed yet that the connection of an earlier attempt ended.
        if let Some(mark) = self.mark_of_earlier_there() {
            ground.end(mark).await?;
        }
        let workspace = ground.create(root, identifier).await?;
        let hooks = &self.config().hooks;
        if workspace.created_now {
            let script = hooks.after_create.as_deref();
            let created = self.hook(ground, "after_create", script, &workspace.path);
            if let Err(error) = created.await {
                // The next attempt makes it again.
                if let Err(error) = ground.remove(root, identifier).await {
                    self.warn("workspace_not_removed", &error.to_string());
                }
                return Err(error.failure());
            }
            ground.finish(root, identifier).await?;
        }
        let script = hooks.before_run.as_deref();
        let before = self.hook(ground, "before_run", script, &workspace.path);
        match before.await {
            Ok(()) => Ok(workspace),
            Err(error) => Err(error.failure()),
        }
    }

    /// Runs a hook, if there is one, unless the attempt shall end.
    async fn hook(
        &self,
        ground: &Ground,
        name: &'static str,
        script: Option<&str>,
        workspace: &Path,
    ) -> Result<(), HookError> {
        let Some(script) = script else {
            return Ok(());
        };
        let mut variables = variables(&self.job.issue, workspace, &self.env.directory);
        // What another machine goes on with after the connection ended is found by it.
        variables.push((leftovers::VARIABLE.to_owned(), self.mark()));
        tracing::info!(
            issue_id = self.job.issue.id,
            issue_identifier = self.job.issue.identifier,
            hook = name,
            "hook_started"
        );
        let limit = self.config().hooks.timeout;
        ground
            .hook(name, script, workspace, &variables, limit)
            .await
    }

    /// The session, from its start to its end.
    async fn work(
        &self,
        ground: &Ground,
        workspace: &Workspace,
        watch: &Watch,
    ) -> Result<(), Failure> {
        let root = &self.config().workspace_root;
        let usable = ground.check(root, &workspace.path);
        usable.map_err(|error| Failure::new("invalid_workspace_cwd", error))?;
        let mut stop = self.stop.clone();
        let (mut session, first) = tokio::select! {
            started = self.start(ground, workspace, watch) => started?,
            () = stopped(&mut stop) => {
                self.end(ground).await;
                return Err(ended());
            }
        };
        let worked = tokio::select! {
            worked = self.turns(&mut session, first) => worked,
            () = stopped(&mut stop) => Err(ended()),
        };
        session.stop().await;
        if let Ground::There(_) = ground {
            self.end(ground).await;
        }
        worked
    }

    /// Ends what is left of this attempt.
    async fn end(&self, ground: &Ground) {
        if let Err(error) = ground.end(self.mark()).await {
            self.warn("leftovers_not_ended", &error.to_string());
        }
    }

    /// The session, and the prompt of its first turn.
    async fn start(
        &self,
        ground: &Ground,
        workspace: &Workspace,
        watch: &Watch,
    ) -> Result<(Session, String), Failure> {
        let issue = &self.job.issue;
        if let Some(Resume { thread_id }) = &self.job.resume {
            let options = self.options(ground, workspace, watch, Some(thread_id));
            match Session::start(options).await {
                Ok(session) => return Ok((session, first_prompt(&self.job)?)),
                // The thread may be gone: the work then begins again, in a new one, which knows nothing of the issue.
                Err(SessionError::ResponseError { method, error }) => {
                    self.warn("thread_not_resumed", &format!("{method}: {error}"));
                }
                Err(error) => return Err(session_failure(&error)),
            }
        }
        let first = prompt(self.config().prompt.as_ref(), issue, self.job.attempt)?;
        let session = Session::start(self.options(ground, workspace, watch, None)).await;
        let session = session.map_err(|error| session_failure(&error))?;
        Ok((session, first))
    }

    fn options(
        &self,
        ground: &Ground,
        workspace: &Workspace,
        watch: &Watch,
        resume: Option<&String>,
    ) -> SessionOptions {
        let codex = &self.config().codex;
        let issue = &self.job.issue;
        let own = ground.variables().iter();
        let own = own.map(|(name, value)| (name.into(), Some(value.into())));
        let mut environment: Vec<(OsString, Option<OsString>)> = own.collect();
        environment.push((leftovers::VARIABLE.into(), Some(self.mark().into())));
        let secrets = self.tracker.secret_variables();
        environment.extend(secrets.into_iter().map(|name| (name.into(), None)));
        let launch = ground.launch(&codex.command);
        SessionOptions {
            title: Some(format!("{}: {}", issue.identifier, issue.title)),
            approval_policy: codex.approval_policy.clone(),
            thread_sandbox: Some(codex.thread_sandbox.clone()),
            turn_sandbox_policy: codex.turn_sandbox_policy.clone(),
            model: codex.model.clone(),
            tools: self.tracker.tools(issue),
            resume: resume.cloned(),
            environment,
            limits: Limits {
                startup: codex.read_timeout.max(Limits::default().startup),
                response: codex.read_timeout,
                turn_silence: Some(codex.turn_timeout),
                ..Limits::default()
            },
            observer: watch.observer(),
            ..SessionOptions::new(launch, &workspace.path)
        }
    }

    /// Turn after turn, as long as the issue is to be worked on.
    async fn turns(&self, session: &mut Session, first: String) -> Result<(), Failure> {
        let most = self.config().agent.max_turns;
        let mut prompt = first;
        for turn in 1..=most {
            let done = session.run_turn(&prompt).await;
            done.map_err(|error| session_failure(&error))?;
            let (tracker, ids) = (Arc::clone(&self.tracker), [self.job.issue.id.clone()]);
            let ask = async move { tracker.issues_by_id(&ids).await };
            let found = patiently(self.patience, ask).await;
            let found = found.map_err(|error| Failure::new("issue_refresh_failed", error))?;
            let Some(issue) = found.into_iter().find(|it| it.id == self.job.issue.id) else {
                break;
            };
            if !self.goes_on(&issue) {
                break;
            }
            prompt = continuation_prompt(&issue, turn + 1, most);
        }
        Ok(())
    }

    fn goes_on(&self, issue: &Issue) -> bool {
        let config = self.config();
        let labels = &config.tracker.required_labels;
        let labelled = labels.iter().all(|it| issue.labels.contains(it));
        config.is_active(&issue.state) && issue.dispatchable && labelled
    }

    /// Stores what the agent changed.
    async fn keep(&self, workspace: &Workspace, before: changes::Before, watch: &Watch) -> Outcome {
        let reported = watch.diff();
        let places = self.store.places();
        match before
            .keep(&self.job, &workspace.path, &reported, places)
            .await
        {
            Ok(kept) => Outcome {
                failure: None,
                patch: kept.patch,
                branch: kept.branch,
            },
            Err(error) => {
                self.warn("changes_not_kept", &error);
                Outcome::default()
            }
        }
    }

    fn mark(&self) -> String {
        self.mark_of(self.job.number())
    }

    fn mark_of(&self, number: u32) -> String {
        let root = &self.store.places().root;
        leftovers::mark(root, &self.job.record.identifier, number)
    }

    /// The mark of the last attempt before this one in the same workspace, where that is on another machine.
    fn mark_of_earlier_there(&self) -> Option<String> {
        let host = self.job.host.as_ref()?;
        let mut earlier = self.job.record.attempts.iter().rev().skip(1);
        let last = earlier.find(|it| it.host.as_ref() == Some(host))?;
        Some(self.mark_of(last.number))
    }
}

/// Returns when the attempt shall end.
async fn stopped(stop: &mut signal::Receiver<bool>) {
    if stop.wait_for(|it| *it).await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn failed(failure: Failure) -> Outcome {
    Outcome {
        failure: Some(failure),
        ..Outcome::default()
    }
}

fn ended() -> Failure {
    Failure::new("stopped", "the attempt was ended")
}

fn session_failure(error: &SessionError) -> Failure {
    Failure::new(error.code(), error)
}

/// What hooks know of their issue.
pub(crate) fn variables(issue: &Issue, workspace: &Path, directory: &Path) -> Variables {
    vec![
        ("RUNNER_ISSUE_ID".to_owned(), issue.id.clone()),
        (
            "RUNNER_ISSUE_IDENTIFIER".to_owned(),
            issue.identifier.clone(),
        ),
        (
            "RUNNER_WORKSPACE".to_owned(),
            workspace.display().to_string(),
        ),
        (
            "RUNNER_WORKFLOW_DIR".to_owned(),
            directory.display().to_string(),
        ),
    ]
}

/// The prompt with which a job begins, if its thread can be resumed where it has one.
pub fn first_prompt(job: &Job) -> Result<String, Failure> {
    match &job.resume {
        Some(_) => Ok(resumed_prompt(&job.issue)),
        None => prompt(job.config.prompt.as_ref(), &job.issue, job.attempt),
    }
}

/// The prompt of a first turn.
fn prompt(
    template: Result<&Template, &TemplateError>,
    issue: &Issue,
    attempt: Option<u32>,
) -> Result<String, Failure> {
    let failure = |error: &TemplateError| {
        let code = match error {
            TemplateError::Parse { .. } => "template_parse_error",
            TemplateError::Render { .. } => "template_render_error",
        };
        Failure::new(code, error)
    };
    let template = template.map_err(failure)?;
    let text = template.render(&json!({ "issue": issue, "attempt": attempt }));
    let text = text.map_err(|error| failure(&error))?;
    match text.trim().is_empty() {
        true => Ok(DEFAULT_PROMPT.to_owned()),
        false => Ok(text),
    }
}

fn continuation_prompt(issue: &Issue, turn: u32, most: u32) -> String {
    format!(
        "The issue {} is still in the state \"{}\", so go on with it where you left off. This is turn {turn} of {most}. \
         If nothing is left to do, move the issue to the state that your instructions name for that.",
        issue.identifier, issue.state
    )
}

fn resumed_prompt(issue: &Issue) -> String {
    format!(
        "The service that runs you was restarted while you worked on the issue {}. Look at what is there already, then \
         go on where you left off.",
        issue.identifier
    )
}
