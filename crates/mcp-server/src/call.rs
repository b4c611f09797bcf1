//! One call of a tool: a turn from its prompt to its result.

use std::collections::HashMap;
use std::sync::Arc;

use quipu_client::wire::{
    ServerNotification, ThreadItem, ThreadResumeParams, TurnStartParams, TurnStatus, UserInput,
};
use quipu_client::{Client, Error, Event, TurnStream, prompt};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::ask::Ask;
use crate::event::{self, Events};
use crate::message::{self, Outlet};
use crate::session::Shared;
use crate::{arguments, tools};

/// Questions of one thread that may wait.
const QUESTIONS: usize = 16;

pub struct Call {
    pub shared: Arc<Shared>,
    /// The id of the request.
    pub id: Value,
    /// Under what name the client wants to hear of progress, if it does.
    pub progress: Option<Value>,
    pub outlet: Outlet,
    pub cancelled: oneshot::Receiver<()>,
}

impl Call {
    /// Runs the call. A call that was cancelled has no result.
    pub async fn run(self, params: Value) -> Option<Value> {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let given = params.get("arguments").cloned();
        let client = match self.shared.client().await {
            Ok(client) => client,
            Err(error) => return Some(tools::failure(&error)),
        };
        match name.as_str() {
            tools::CODEX => self.start(client, given).await,
            tools::CODEX_REPLY => self.reply(client, given).await,
            other => Some(tools::failure(&format!("Unknown tool '{other}'"))),
        }
    }

    async fn start(self, mut client: Client, given: Option<Value>) -> Option<Value> {
        let arguments = match arguments::codex(given) {
            Ok(arguments) => arguments,
            Err(error) => return Some(tools::failure(&error)),
        };
        let (params, text) = arguments.into_thread(self.shared.base.as_ref());
        let start = |client: Client| {
            let params = client.with_defaults(params.clone());
            async move { client.thread_start(params).await }
        };
        let started = match self.open(&mut client, start).await {
            Ok(started) => started,
            Err(error) => {
                let text = format!("Failed to start Codex session: {}", reason(&error));
                return Some(tools::failure(&text));
            }
        };
        let thread_id = started.thread.id.clone();
        self.emit(&thread_id, "", event::session_configured(&started))
            .await;
        self.turn(&client, thread_id, text).await
    }

    /// Opens a thread. That the connection has ended may show only now; then it is opened on a new one.
    async fn open<T, F>(&self, client: &mut Client, open: impl Fn(Client) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let opened = open(client.clone()).await;
        if !matches!(opened, Err(Error::Closed(_))) {
            return opened;
        }
        match self.shared.client().await {
            Ok(again) => *client = again,
            Err(_) => return opened,
        }
        open(client.clone()).await
    }

    async fn reply(self, mut client: Client, given: Option<Value>) -> Option<Value> {
        let (thread_id, text) = match arguments::reply(given) {
            Ok(read) => read,
            Err(error) => return Some(tools::failure(&error)),
        };
        let resume = |client: Client| {
            let thread_id = thread_id.clone();
            let params = ThreadResumeParams::default();
            async move { client.resume_thread(thread_id, params).await }
        };
        let error = match self.open(&mut client, resume).await {
            Ok(thread) => return self.turn(&client, thread.id, text).await,
            Err(error) => error,
        };
        tracing::debug!(%error, thread_id, "a thread could not be resumed");
        let Error::Refused { error, .. } = error else {
            return Some(tools::outcome(&thread_id, &error.to_string(), true));
        };
        Some(match error.message.strip_prefix("invalid thread id: ") {
            Some(problem) => tools::failure(&format!("Failed to parse thread_id: {problem}")),
            None => {
                let text = format!("Session not found for thread_id: {thread_id}");
                tools::outcome(&thread_id, &text, true)
            }
        })
    }

    /// One turn; a second one in the same thread waits for it.
    async fn turn(mut self, client: &Client, thread_id: String, text: String) -> Option<Value> {
        let thread = Arc::clone(
            self.shared
                .threads
                .lock()
                .entry(thread_id.clone())
                .or_default(),
        );
        let _turn = tokio::select! {
            turn = thread.lock() => turn,
            _ = &mut self.cancelled => return None,
        };
        let (asks, questions) = mpsc::channel(QUESTIONS);
        self.shared.asks.lock().insert(thread_id.clone(), asks);
        let params: TurnStartParams = prompt(&thread_id, text);
        let done = match client.stream_turn(params).await {
            Ok(stream) => self.watch(stream, &thread_id, questions).await,
            Err(error) => Some(tools::outcome(&thread_id, &reason(&error), true)),
        };
        self.shared.asks.lock().remove(&thread_id);
        done
    }

    /// Reports what the turn does until it has ended.
    async fn watch(
        &mut self,
        mut stream: TurnStream,
        thread_id: &str,
        mut questions: mpsc::Receiver<Ask>,
    ) -> Option<Value> {
        let turn_id = stream.turn().id.clone();
        let mut report = Report::new(thread_id, &turn_id);
        let mut asking = JoinSet::new();
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                biased;
                event = stream.next() => match event {
                    Some(Event::Notification(notification)) => {
                        report.notified(self, &notification).await;
                    }
                    Some(_) => {}
                    None => break,
                },
                Some(ask) = questions.recv() => report.asked.push(ask),
                _ = &mut self.cancelled, if !is_cancelled => {
                    is_cancelled = true;
                    if let Err(error) = stream.interrupt().await {
                        tracing::debug!(%error, "a cancelled turn could not be interrupted");
                    }
                }
            }
            for ready in report.questions(self).await {
                match ready.params {
                    Ok(params) => drop(asking.spawn(ready.ask.pass_on(self, ready.id, params))),
                    Err(why) => decline(&stream, ready.ask, &why).await,
                }
            }
        }
        let done = stream.finish().await;
        (!is_cancelled).then(|| match done {
            Ok(done) if done.turn.status == TurnStatus::Interrupted => {
                tools::outcome(thread_id, "The turn was interrupted.", true)
            }
            Ok(done) => tools::outcome(thread_id, &done.agent_message, false),
            Err(error) => tools::outcome(thread_id, &reason(&error), true),
        })
    }

    /// The item that an agent which this call started asks about.
    async fn item_elsewhere(&self, ask: &Ask) -> Option<ThreadItem> {
        let id = ask.item_id()?;
        let client = self.shared.client().await.ok()?;
        // Of a running turn, reading shows only what has ended.
        let resumed = client
            .resume_thread(ask.thread_id(), ThreadResumeParams::default())
            .await
            .ok()?;
        let mut items = resumed.turns.into_iter().flat_map(|it| it.items);
        items.find(|it| approvable(it) == Some(id))
    }

    /// Sends one event.
    async fn emit(&self, thread_id: &str, event_id: &str, event: Value) {
        let params = json!({
            "_meta": { "requestId": self.id, "threadId": thread_id },
            "id": event_id,
            "msg": event,
        });
        message::send(&self.outlet, message::notification("codex/event", params)).await;
    }
}

/// What is reported of one turn, and what is known of its items.
struct Report<'a> {
    thread_id: &'a str,
    turn_id: &'a str,
    events: Events,
    /// Commands and patches that have begun and not ended.
    items: HashMap<String, ThreadItem>,
    /// A patch that has begun; the next thing that happens tells whether somebody is asked about it.
    patch: Option<ThreadItem>,
    /// Questions that are not asked yet, because their item has not begun.
    asked: Vec<Ask>,
    steps: u64,
}

impl<'a> Report<'a> {
    fn new(thread_id: &'a str, turn_id: &'a str) -> Report<'a> {
        Report {
            thread_id,
            turn_id,
            events: Events::default(),
            items: HashMap::new(),
            patch: None,
            asked: Vec::new(),
            steps: 0,
        }
    }

    async fn notified(&mut self, call: &Call, notification: &ServerNotification) {
        self.begin_patch(call, true).await;
        match notification {
            ServerNotification::ItemStarted(it) => {
                if let Some(id) = approvable(&it.item) {
                    self.items.insert(id.to_owned(), it.item.clone());
                }
                if matches!(it.item, ThreadItem::FileChange { .. }) {
                    self.patch = Some(it.item.clone());
                }
                self.step(call, &it.item).await;
            }
            ServerNotification::ItemCompleted(it) => {
                if let Some(id) = approvable(&it.item) {
                    self.items.remove(id);
                }
            }
            _ => {}
        }
        for event in self.events.of(notification) {
            call.emit(self.thread_id, self.turn_id, event).await;
        }
    }

    /// Reports progress to a client that asked for it.
    async fn step(&mut self, call: &Call, item: &ThreadItem) {
        let Some(token) = &call.progress else { return };
        let message = match item {
            ThreadItem::CommandExecution { command, .. } => format!("running {command}"),
            ThreadItem::FileChange { changes, .. } => format!("changing {} files", changes.len()),
            ThreadItem::McpToolCall { server, tool, .. } => format!("calling {tool} of {server}"),
            ThreadItem::WebSearch { query, .. } => format!("searching the web: {query}"),
            ThreadItem::Reasoning { .. } => "thinking".to_owned(),
            ThreadItem::AgentMessage { .. } => "answering".to_owned(),
            _ => return,
        };
        self.steps += 1;
        let params = json!({ "progressToken": token, "progress": self.steps, "message": message });
        let progress = message::notification("notifications/progress", params);
        message::send(&call.outlet, progress).await;
    }

    async fn begin_patch(&mut self, call: &Call, auto_approved: bool) {
        if let Some(patch) = self.patch.take() {
            let event = event::patch_begin(self.turn_id, &patch, auto_approved);
            call.emit(self.thread_id, self.turn_id, event).await;
        }
    }

    /// The questions whose items have begun, with what to ask the peer. Items of other agents are not followed here;
    /// they have begun.
    async fn questions(&mut self, call: &Call) -> Vec<Ready> {
        let mut ready = Vec::new();
        let (begun, waiting): (Vec<Ask>, Vec<Ask>) = self.asked.drain(..).partition(|it| {
            it.thread_id() != self.thread_id
                || it.item_id().is_none_or(|id| self.items.contains_key(id))
        });
        self.asked = waiting;
        for ask in begun {
            let elsewhere;
            let item = if ask.thread_id() == self.thread_id {
                self.begin_patch(call, false).await;
                ask.item_id().and_then(|id| self.items.get(id))
            } else {
                elsewhere = call.item_elsewhere(&ask).await;
                elsewhere.as_ref()
            };
            let id = call.shared.next_id();
            call.emit(ask.thread_id(), ask.turn_id(), ask.event(id, item))
                .await;
            let params = ask.elicitation(call.shared.shows(), &call.id, item);
            ready.push(Ready { ask, id, params });
        }
        ready
    }
}

/// A question that can be asked.
struct Ready {
    ask: Ask,
    /// The id of the elicitation.
    id: i64,
    /// Its params, or why nobody can be asked.
    params: Result<Value, String>,
}

/// Declines what nobody can be asked. The reason is added to the turn if the answer has no place for it.
async fn decline(stream: &TurnStream, ask: Ask, why: &str) {
    if !ask.carries_reason() {
        let note = UserInput::Text {
            text: why.to_owned(),
            text_elements: Vec::new(),
        };
        if let Err(error) = stream.steer(vec![note]).await {
            tracing::debug!(%error, "reason not added to the turn");
        }
    }
    ask.refuse(why);
}

/// The id of an item that may need an approval.
fn approvable(item: &ThreadItem) -> Option<&str> {
    match item {
        ThreadItem::CommandExecution { id, .. } | ThreadItem::FileChange { id, .. } => Some(id),
        _ => None,
    }
}

/// Why something failed, in the words of who refused it.
fn reason(error: &Error) -> String {
    match error {
        Error::Refused { error, .. } => error.message.clone(),
        Error::TurnFailed { error, .. } => error.message.clone(),
        Error::Closed(cause) => {
            format!("The connection to the server was lost: {cause}. The next call connects again.")
        }
        other => other.to_string(),
    }
}
