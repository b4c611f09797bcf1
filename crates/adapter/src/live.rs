//! An evaluation on a server: a thread, a turn, and what is done while it runs.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_client::wire::{
    DynamicToolSpec, Json, SandboxPolicy, ServerNotification, ThreadItem, ThreadResumeParams,
    ThreadStartParams, ThreadTokenUsage, TurnStartParams, TurnStatus,
};
use quipu_client::{CompletedTurn, Event, TurnStream};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::adapter::Lease;
use crate::evaluation::{Answered, Place};
use crate::events::ToolInvoked;
use crate::limits::{Ended, Limits};
use crate::prompt::{self, Rendered};
use crate::thread_state::ThreadState;
use crate::toolbox::Toolbox;
use crate::visit::Visit;
use crate::workspace::Workspace;
use crate::{Adapter, Error, Phase, Result, Session, Usage, digest};

/// How long a turn may take to end after it was interrupted.
const INTERRUPTED: Duration = Duration::from_secs(10);

/// What is to be evaluated, and with what.
pub(crate) struct Task<'a> {
    pub adapter: &'a Adapter,
    pub rendered: &'a Rendered,
    pub schema: Option<&'a Value>,
    pub workspace: Option<&'a Workspace>,
    pub session: &'a Session,
    pub toolbox: &'a Arc<Toolbox>,
    pub limits: &'a Limits,
}

/// Evaluates. A server of its own is gone when this returns.
pub(crate) async fn run(task: &Task<'_>) -> Result<Answered> {
    let cwd = task.cwd()?;
    let lease = task.adapter.connect(&cwd, task.limits).await?;
    let mut obeys = true;
    let done = task.converse(&lease, &cwd, &mut obeys).await;
    let stderr = lease.connected.client.stderr_tail();
    lease.release(obeys).await;
    done.map_err(|error| error.with_stderr(stderr))
}

/// A thread to work in.
struct Opened {
    state: ThreadState,
    model: String,
    sandbox: SandboxPolicy,
    is_new: bool,
}

impl Task<'_> {
    fn cwd(&self) -> Result<PathBuf> {
        if let Some(workspace) = self.workspace {
            return Ok(workspace.path().to_owned());
        }
        match &self.adapter.settings.cwd {
            Some(cwd) if cwd.is_absolute() => Ok(cwd.clone()),
            Some(cwd) => Err(Error::request(format!(
                "the working directory `{}` is not an absolute path",
                cwd.display()
            ))),
            None => std::env::current_dir().map_err(|error| {
                Error::request(format!("this process has no working directory: {error}"))
            }),
        }
    }

    async fn converse(&self, lease: &Lease, cwd: &Path, obeys: &mut bool) -> Result<Answered> {
        let (visit, opened) = self.limits.within(self.open(lease, cwd)).await??;
        let answered = self.work(lease, opened, obeys).await;
        match *obeys {
            true => visit.leave().await,
            false => visit.abandon(),
        }
        answered
    }

    async fn work(&self, lease: &Lease, opened: Opened, obeys: &mut bool) -> Result<Answered> {
        let client = &lease.connected.client;
        let price = self.adapter.settings.prices.get(&opened.model);
        if price.is_none()
            && self
                .limits
                .budget
                .as_ref()
                .is_some_and(|it| it.needs_price())
        {
            return Err(Error::request(format!(
                "the budget limits money, but the price of the model `{}` is not known; give it with `Adapter::prices`",
                opened.model
            )));
        }
        self.limits.set_price(price);
        let _route = lease
            .connected
            .bridge
            .route(&opened.state.thread_id, self.toolbox);
        let started = self
            .limits
            .within(client.stream_turn(self.turn(&opened.state)))
            .await?;
        let turn = started.map_err(|error| Error::of_client(Phase::Request, &error))?;
        let turn_id = turn.turn().id.clone();
        let mut running = Running::new(self, &opened);
        let done = running.drive(turn, obeys).await;
        if let Some(used) = running.total {
            self.session.dispatch::<ThreadState>(ThreadState {
                used,
                ..opened.state.clone()
            });
        }
        let text = done?;
        let place = Place {
            thread_id: opened.state.thread_id,
            turn_id,
            sandbox: opened.sandbox,
        };
        Ok(Answered {
            text,
            model: opened.model,
            place: Some(place),
        })
    }

    /// The session's thread if it fits, else a new one.
    async fn open(&self, lease: &Lease, cwd: &Path) -> Result<(Visit, Opened)> {
        let settings = &self.adapter.settings;
        let specs = prompt::specs(&self.rendered.tools);
        let wanted = ThreadState {
            thread_id: String::new(),
            cwd: cwd.to_string_lossy().into_owned(),
            workspace_fingerprint: self.workspace.map(|it| it.fingerprint().to_owned()),
            tools: digest::of(specs.to_string()),
            settings: self.settings_digest(),
            model: settings.model.model.clone(),
            used: Usage::default(),
        };
        let known = self.session.get::<ThreadState>();
        if settings.reuses_threads && known.fits(&wanted) {
            match self.resume(lease, known).await {
                Ok(opened) => return Ok(opened),
                Err(error) => {
                    tracing::info!(%error, "the thread cannot be resumed; a new one is started")
                }
            }
        }
        let (visit, opened) = self.start(lease, wanted).await?;
        self.session.dispatch::<ThreadState>(opened.state.clone());
        Ok((visit, opened))
    }

    async fn resume(
        &self,
        lease: &Lease,
        state: ThreadState,
    ) -> Result<(Visit, Opened), quipu_client::Error> {
        let settings = &self.adapter.settings;
        let params = ThreadResumeParams {
            thread_id: state.thread_id.clone(),
            approval_policy: Some(settings.approvals.policy()),
            sandbox: settings.sandbox,
            config: self.config(),
            ..ThreadResumeParams::default()
        };
        let call = lease.connected.client.thread_resume(params);
        let (visit, resumed) = Visit::open(lease, call, |it| &it.thread.id).await?;
        let opened = Opened {
            state,
            model: resumed.model,
            sandbox: resumed.sandbox,
            is_new: false,
        };
        Ok((visit, opened))
    }

    async fn start(&self, lease: &Lease, wanted: ThreadState) -> Result<(Visit, Opened)> {
        let settings = &self.adapter.settings;
        let spec = |tool: &crate::Tool| DynamicToolSpec {
            namespace: None,
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            input_schema: tool.schema().clone().into(),
            defer_loading: false,
        };
        let params = ThreadStartParams {
            model: settings.model.model.clone(),
            cwd: Some(wanted.cwd.clone()),
            approval_policy: Some(settings.approvals.policy()),
            sandbox: settings.sandbox,
            ephemeral: Some(settings.is_ephemeral),
            dynamic_tools: Some(
                self.rendered
                    .tools
                    .iter()
                    .map(|it| spec(it).into())
                    .collect(),
            ),
            config: self.config(),
            ..ThreadStartParams::default()
        };
        let call = lease.connected.client.thread_start(params);
        let started = Visit::open(lease, call, |it| &it.thread.id).await;
        let (visit, started) = started.map_err(|error| Error::of_client(Phase::Request, &error))?;
        let thread_id = started.thread.id;
        if thread_id.is_empty() {
            return Err(Error::request(
                "the server's answer to `thread/start` has no thread id",
            ));
        }
        let opened = Opened {
            state: ThreadState {
                thread_id,
                ..wanted
            },
            model: started.model,
            sandbox: started.sandbox,
            is_new: true,
        };
        Ok((visit, opened))
    }

    /// What a running thread does not change, and a resumed one only if it was not running.
    fn settings_digest(&self) -> String {
        let settings = &self.adapter.settings;
        let (approvals, sandbox) = (settings.approvals.policy(), settings.sandbox);
        digest::of(json!([approvals, sandbox, settings.mcp_servers]).to_string())
    }

    fn config(&self) -> Option<BTreeMap<String, Json>> {
        let servers = &self.adapter.settings.mcp_servers;
        (!servers.is_empty())
            .then(|| BTreeMap::from([("mcp_servers".to_owned(), json!(servers).into())]))
    }

    fn turn(&self, state: &ThreadState) -> TurnStartParams {
        let model = &self.adapter.settings.model;
        TurnStartParams {
            effort: model.effort,
            summary: model.summary,
            personality: model.personality,
            output_schema: self.schema.map(|schema| schema.clone().into()),
            ..quipu_client::prompt(&state.thread_id, &self.rendered.text)
        }
    }
}

/// The id of a call, if the item is one.
fn call_id(item: &ThreadItem) -> Option<&str> {
    match item {
        ThreadItem::DynamicToolCall { id, .. }
        | ThreadItem::CommandExecution { id, .. }
        | ThreadItem::FileChange { id, .. }
        | ThreadItem::McpToolCall { id, .. }
        | ThreadItem::WebSearch { id, .. } => Some(id),
        _ => None,
    }
}

/// A turn while it runs.
struct Running<'a> {
    task: &'a Task<'a>,
    /// What the thread had used before the turn, once that is known.
    before: Option<Usage>,
    /// What it had used when the session saw it last.
    remembered: Usage,
    /// What it has used now.
    total: Option<Usage>,
    /// The items whose use was reported.
    reported: HashSet<String>,
    /// The message that is being written.
    unfinished: String,
}

impl<'a> Running<'a> {
    fn new(task: &'a Task<'a>, opened: &Opened) -> Running<'a> {
        Running {
            task,
            before: opened.is_new.then(Usage::default),
            remembered: opened.state.used,
            total: None,
            reported: HashSet::new(),
            unfinished: String::new(),
        }
    }

    /// Watches the turn to its end, or interrupts it; the final message.
    async fn drive(&mut self, mut turn: TurnStream, obeys: &mut bool) -> Result<String> {
        loop {
            tokio::select! {
                biased;
                ended = self.task.limits.ending() => {
                    *obeys = self.interrupt(turn).await;
                    return Err(ended.into());
                }
                event = turn.next() => match event {
                    Some(event) => self.note(&event),
                    None => break,
                },
            }
        }
        let done = turn.finish().await;
        let done = self.settled(done)?;
        if let Some(ended @ (Ended::Tool(_) | Ended::Budget(_))) = self.task.limits.ended() {
            return Err(ended.into());
        }
        match done.turn.status {
            TurnStatus::Completed if done.agent_message.is_empty() => {
                Ok(std::mem::take(&mut self.unfinished))
            }
            TurnStatus::Completed => Ok(done.agent_message),
            status => Err(Error::response(format!(
                "the turn ended as {status}, but not by this program"
            ))),
        }
    }

    /// Ends the turn early; whether it did end.
    async fn interrupt(&mut self, turn: TurnStream) -> bool {
        let ending = async {
            if let Err(error) = turn.interrupt().await {
                tracing::debug!(%error, "the turn could not be interrupted");
            }
            turn.finish().await
        };
        match timeout(INTERRUPTED, ending).await {
            Ok(done) => self
                .settled(done)
                .is_ok_and(|it| it.turn.status != TurnStatus::InProgress),
            Err(_) => false,
        }
    }

    /// Takes the turn's result, with whatever its events did not tell.
    fn settled(&mut self, done: quipu_client::Result<CompletedTurn>) -> Result<CompletedTurn> {
        use quipu_client::Error as Failed;
        let (outcome, error) = match done {
            Ok(done) => (done, None),
            Err(Failed::TurnFailed { error, outcome }) => (*outcome, Some(Error::of_turn(&error))),
            Err(failed @ Failed::TurnTimedOut { .. }) => {
                let error = Error::of_client(Phase::Deadline, &failed);
                let Failed::TurnTimedOut { outcome, .. } = failed else {
                    return Err(error);
                };
                (*outcome, Some(error))
            }
            Err(other) => return Err(Error::of_client(Phase::Response, &other)),
        };
        outcome.items.iter().for_each(|item| self.completed(item));
        let call_ids = outcome.items.iter().filter_map(call_id);
        self.task.toolbox.sort_steps(call_ids);
        if let Some(usage) = &outcome.usage {
            self.used(usage);
        }
        error.map_or(Ok(outcome), Err)
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::Notification(ServerNotification::ItemAgentMessageDelta(it)) => {
                self.unfinished.push_str(&it.delta)
            }
            Event::Notification(ServerNotification::ItemCompleted(it)) => self.completed(&it.item),
            Event::Notification(ServerNotification::ThreadTokenUsageUpdated(it)) => {
                self.used(&it.token_usage)
            }
            Event::Lagged(lagged) => {
                tracing::warn!(missed = lagged.missed, "events of the turn were lost")
            }
            _ => {}
        }
    }

    fn completed(&mut self, item: &ThreadItem) {
        if let ThreadItem::AgentMessage { .. } = item {
            self.unfinished.clear();
        }
        if let Some(invoked) = ToolInvoked::of_item(item)
            && self.reported.insert(invoked.call_id.clone())
        {
            self.task.toolbox.report(invoked);
        }
    }

    /// Servers repeat the thread's total before they have news of a turn. So in a thread that goes on
    /// the first total is the old one, unless it follows from what the session remembers.
    fn used(&mut self, reported: &ThreadTokenUsage) {
        let (total, last) = (Usage::from(&reported.total), Usage::from(&reported.last));
        let before =
            *self
                .before
                .get_or_insert_with(|| match total.since(last) == self.remembered {
                    true => self.remembered,
                    false => total,
                });
        self.total = Some(total);
        self.task.limits.used(total.since(before));
    }
}
