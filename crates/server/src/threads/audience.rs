//! The clients that follow a thread, and what they see of it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use quipu_engine::TurnId;
use quipu_rpc::{CloseCode, Id, write};
use quipu_wire::method::{Notification as _, event};
use quipu_wire::{
    ConfigWarningNotification, GitInfo, ServerNotification, ServerRequest, SessionSource,
    SubAgentSource, Thread, ThreadStatus, Turn, TurnStatus, WarningNotification,
};

use super::events::{CatchUp, Events, LostThread};
use super::live::LiveItems;
use super::message::ThreadHandle;
use super::stamps::Stamps;
use super::unfollowed::{Counted, Unfollowed};
use crate::Server;
use crate::emit;
use crate::hub::{self, Client, ClientId};
use crate::questions::{Asker, Question, QuestionId};

/// The room that stays reserved for writing messages.
const SCRATCH: usize = 64 << 10;

/// The clients that follow a thread, and the thread as they see it.
pub(super) struct Audience {
    subscribers: Vec<Subscriber>,
    /// What the client whose thread it is calls itself; agents have none.
    client_name: Option<String>,
    /// Without turns and status.
    thread: Thread,
    /// The items of the running turn.
    live: LiveItems,
    stamps: Stamps,
    events: Events,
    /// Where messages are written, to be copied at their length.
    scratch: Vec<u8>,
    /// Whether a status of the thread is among what is held.
    holds_status: bool,
    /// Sent before the end of the turn, and before the status that comes with it.
    before_end: Option<ServerNotification>,
    unfollowed: Unfollowed,
    /// Set while there are no subscribers.
    alone: Option<Counted>,
}

struct Subscriber {
    client: Arc<Client>,
    /// It gets notifications with their numbers.
    is_numbered: bool,
    /// What it is sent next.
    held: VecDeque<Bytes>,
}

impl Audience {
    /// The audience of a thread, of which its turns are not kept.
    pub fn new(
        clients: &[Arc<Client>],
        thread: Thread,
        events: Events,
        unfollowed: &Unfollowed,
    ) -> Audience {
        let mut audience = Audience {
            subscribers: Vec::new(),
            client_name: None,
            live: LiveItems::of(&thread.turns),
            thread: Thread {
                turns: Vec::new(),
                ..thread
            },
            stamps: Stamps::default(),
            events,
            scratch: Vec::new(),
            holds_status: false,
            before_end: None,
            unfollowed: unfollowed.clone(),
            alone: Some(unfollowed.count()),
        };
        for client in clients {
            audience.add(Arc::clone(client));
        }
        audience
    }

    /// Adds a client; adding it again changes nothing.
    pub fn add(&mut self, client: Arc<Client>) {
        if !self.has(client.id) {
            let is_numbered = client.wants_numbers();
            if is_numbered {
                self.events.begin(&self.thread);
            }
            self.subscribers.push(Subscriber {
                client,
                is_numbered,
                held: VecDeque::new(),
            });
            self.alone = None;
        }
    }

    pub fn client_name(&self) -> Option<&str> {
        self.client_name.as_deref()
    }

    /// The thread is used by a client of this name, if it has one.
    pub fn set_client_name(&mut self, name: Option<String>) {
        self.client_name = name.or(self.client_name.take());
    }

    /// Removes a client; `false` if it was none.
    pub fn remove(&mut self, id: ClientId) -> bool {
        let before = self.subscribers.len();
        self.subscribers.retain(|it| it.client.id != id);
        let was = self.subscribers.len() < before;
        if was && self.subscribers.is_empty() {
            self.alone = Some(self.unfollowed.count());
        }
        was
    }

    pub fn has(&self, id: ClientId) -> bool {
        self.subscribers.iter().any(|it| it.client.id == id)
    }

    pub fn all(&self) -> Vec<Arc<Client>> {
        self.subscribers
            .iter()
            .map(|it| Arc::clone(&it.client))
            .collect()
    }

    /// How long the thread may be idle before it gives up what it has in memory, if that is usually so long.
    pub fn patience(&self, usual: Duration) -> Duration {
        let alone = self.alone.as_ref();
        alone.map_or(usual, |it| it.patience(usual))
    }

    pub fn is_empty(&self) -> bool {
        self.subscribers.is_empty()
    }

    /// Notifies all of them.
    pub async fn notify(&mut self, notification: &ServerNotification) {
        self.hold(notification);
        self.release().await;
    }

    /// Warns those of a problem who do not know it.
    pub async fn warn(&self, warning: &ConfigWarningNotification) {
        for subscriber in &self.subscribers {
            subscriber.client.warn(warning).await;
        }
    }

    /// Warns them of something that happened in the thread.
    pub async fn warn_of(&mut self, thread_id: &str, message: String) {
        tracing::warn!(thread = thread_id, "{message}");
        let warning = WarningNotification {
            thread_id: Some(thread_id.to_owned()),
            message,
        };
        if let Some(message) = hub::encode::<event::Warning>(&warning) {
            self.hold_message(event::Warning::NAME, &message);
            self.release().await;
        }
    }

    /// Notifies all of them when the next [`release`](Self::release) comes; the message is serialised once.
    /// What leaves together wakes a connection once, which counts at thousands of deltas.
    pub fn hold(&mut self, notification: &ServerNotification) {
        if matches!(notification, ServerNotification::TurnCompleted(_)) {
            self.hold_first();
        }
        let method = notification.method();
        let is_wanted = self.subscribers.iter().any(|it| it.client.wants(method));
        if !is_wanted && !self.events.are_numbered() {
            return;
        }
        self.scratch.clear();
        if let Err(error) = emit::write(notification, &mut self.scratch) {
            tracing::error!(%error, "failed to write a notification as JSON");
            return;
        }
        self.hold_written(method);
    }

    /// Notifies all of them right before the end of the running turn.
    pub fn hold_before_end(&mut self, notification: ServerNotification) {
        self.before_end = Some(notification);
    }

    fn hold_first(&mut self) {
        if let Some(first) = self.before_end.take() {
            self.hold(&first);
        }
    }

    /// Holds a message that is written already.
    fn hold_message(&mut self, method: &str, message: &[u8]) {
        self.scratch.clear();
        self.scratch.extend_from_slice(message);
        self.hold_written(method);
    }

    /// Gives what was written to those that want it: as it is, or with its number.
    fn hold_written(&mut self, method: &str) {
        let are_numbered = self.events.are_numbered();
        let wants_plain =
            |it: &Subscriber| !(it.is_numbered && are_numbered) && it.client.wants(method);
        let is_plain = self.subscribers.iter().any(wants_plain);
        let mut plain = is_plain.then(|| Bytes::copy_from_slice(&self.scratch));
        let numbered = self.events.number(method, &mut self.scratch);
        for subscriber in &mut self.subscribers {
            if !subscriber.client.wants(method) {
                continue;
            }
            let message = match &numbered {
                Some(numbered) if subscriber.is_numbered => numbered,
                _ => plain.get_or_insert_with(|| Bytes::copy_from_slice(&self.scratch)),
            };
            subscriber.held.push_back(message.clone());
        }
        self.scratch.shrink_to(SCRATCH);
    }

    /// Holds a status of the thread like a notification, for the subscribers. A client may take `idle` for the end of
    /// the turn, so it leaves together with the `turn/completed` that follows.
    fn hold_status(&mut self, method: &str, message: &Bytes) {
        self.hold_message(method, message);
        self.holds_status |= self.subscribers.iter().any(|it| it.client.wants(method));
    }

    /// Notifies every client of a status. Subscribers get it with what follows in the same step.
    pub async fn broadcast(
        &mut self,
        server: &Server,
        thread: &ThreadHandle,
        notification: &ServerNotification,
    ) {
        if let ServerNotification::ThreadStatusChanged(params) = notification {
            thread.set_status(params.status.clone());
            let unloaded = params.status == ThreadStatus::NotLoaded;
            if unloaded && server.stopping.load(Ordering::Relaxed) {
                return;
            }
        }
        let Some(message) = encode(notification) else {
            return;
        };
        let method = notification.method();
        self.hold_first();
        self.hold_status(method, &message);
        for client in server.hub.introduced() {
            if !self.has(client.id) {
                client.deliver(method, message.clone()).await;
            }
        }
    }

    /// Whether a status is held that the end of its turn should leave with.
    pub fn holds_status(&self) -> bool {
        self.holds_status
    }

    /// Lets go of what was held.
    pub async fn release(&mut self) {
        self.holds_status = false;
        if let Err(LostThread) = self.events.store() {
            self.cut();
        }
        for Subscriber { client, held, .. } in &mut self.subscribers {
            if !held.is_empty() {
                client.send_all(held).await;
            }
        }
    }

    /// Closes the connections of those that can go on where they left off, because another server has the thread. Nothing
    /// more of it reaches them here.
    pub fn cut(&mut self) {
        let numbered = self.subscribers.extract_if(.., |it| it.is_numbered);
        for Subscriber { client, .. } in numbered {
            client.outbox.close(CloseCode::TRY_AGAIN);
        }
    }

    /// Asks all of them.
    pub async fn ask(&self, question: QuestionId, request: &ServerRequest, asker: &Asker) {
        for subscriber in &self.subscribers {
            ask(&subscriber.client, question, request, asker).await;
        }
    }

    /// Fills in the times of a notification that is about to be sent.
    pub fn stamp(&mut self, notification: &mut ServerNotification) {
        self.stamps.fill(notification);
    }

    /// Keeps up with the items that clients are notified of.
    pub fn track(&mut self, notification: &ServerNotification) {
        self.live.track(notification);
        self.events.track(notification);
    }

    /// Where the numbered events are for a client that joins, with those that it missed.
    pub fn catch_up(&mut self, client: &Client, after: Option<i64>) -> Option<CatchUp> {
        if client.wants_numbers() {
            self.events.begin(&self.thread);
        }
        self.events.catch_up(client, after)
    }

    /// A turn is about to be recorded.
    pub fn prepare(&mut self) {
        self.events.prepare();
    }

    /// Gives back what an idle thread need not have in memory.
    pub fn rest(&mut self) {
        self.events.rest();
    }

    /// The thread without its turns.
    pub fn thread(&self, status: &ThreadStatus) -> Thread {
        Thread {
            status: status.clone(),
            ..self.thread.clone()
        }
    }

    pub fn rename(&mut self, name: String) {
        self.thread.name = Some(name);
    }

    pub fn set_git(&mut self, git: Option<GitInfo>) {
        self.thread.git_info = git;
    }

    /// The running turn, with its items so far.
    pub fn live_turn(&self, id: &TurnId) -> Turn {
        Turn {
            id: id.to_string(),
            items: self.live.items(),
            items_view: None,
            status: TurnStatus::InProgress,
            error: None,
        }
    }

    /// How many agents are above those of this thread; none for a thread of the user's own.
    pub fn agent_depth(&self) -> i32 {
        match &self.thread.source {
            SessionSource::SubAgent(SubAgentSource::ThreadSpawn { depth, .. }) => (*depth).max(1),
            _ => 0,
        }
    }
}

/// Sends a question to one client, without what it must not see.
pub(super) async fn ask(client: &Client, id: QuestionId, request: &ServerRequest, asker: &Asker) {
    let stripped;
    let request = if client.is_experimental() {
        request
    } else {
        let mut stable = request.clone();
        stable.strip_experimental();
        stripped = stable;
        &stripped
    };
    let question = Question {
        id,
        method: request.method().to_owned(),
        asker: Asker::clone(asker),
    };
    let wire_id = Id::Integer(id.get());
    let message = request
        .params()
        .and_then(|params| write::request(&wire_id, request.method(), &params));
    match message {
        Ok(message) => client.ask(question, message).await,
        Err(error) => tracing::error!(%error, "failed to serialize server request"),
    }
}

/// A notification as it leaves.
pub(super) fn encode(notification: &ServerNotification) -> Option<Bytes> {
    let mut message = Vec::with_capacity(256);
    match emit::write(notification, &mut message) {
        Ok(()) => Some(message.into()),
        Err(error) => {
            tracing::error!(%error, "failed to write a notification as JSON");
            None
        }
    }
}
