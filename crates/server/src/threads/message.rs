//! What reaches a thread, and the handle that others hold of it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use quipu_config::Snapshot;
use quipu_engine::{
    CallId, HookRunId, HooksDone, ModelEvent, SampleId, ThreadId, ToolDelta, ToolEvent, TurnId,
    Waiting,
};
use quipu_spending::Spent;
use quipu_tools::{Access, Action};
use quipu_wire::{
    GitInfo, HookRunSummary, ServerRequest, Thread, ThreadBackgroundTerminal, ThreadStatus,
    ThreadUnsubscribeStatus, Turn,
};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use super::agent::AgentMessage;
use super::continuation::LeftTurn;
use super::goal::GoalMessage;
use super::guardian::Case;
use super::mcp::McpMessage;
use super::questions::AnswerSender;
use super::queue::QueueMessage;
use super::realtime::RealtimeMessage;
use super::skill_servers;
use super::verb::Verb;
use crate::hub::ClientId;
use crate::questions::{Outcome, QuestionId};
use crate::skills::Followed;

/// What a thread is asked to do, or is notified of.
pub(crate) enum Message {
    /// A client asks for something that the thread answers.
    Verb(Verb),
    Unsubscribe {
        client: ClientId,
        done: oneshot::Sender<(ThreadUnsubscribeStatus, bool)>,
    },
    /// A connection ended.
    Gone(ClientId),
    Goal(GoalMessage),
    Queue(QueueMessage),
    Rename {
        name: String,
    },
    /// A client set what is known of the repository, before there is a rollout.
    SetGit(Option<GitInfo>),
    CountElicitation {
        delta: i64,
        done: oneshot::Sender<Option<u64>>,
    },
    CleanTerminals,
    ListTerminals {
        done: oneshot::Sender<Vec<ThreadBackgroundTerminal>>,
    },
    TerminateTerminal {
        process_id: String,
        done: oneshot::Sender<bool>,
    },
    /// The thread as it is now, with its log flushed.
    Snapshot {
        done: oneshot::Sender<ThreadSnapshot>,
    },
    /// The time budget of the running turn is used up.
    OutOfTime(Spent),
    Model {
        sample: SampleId,
        events: Vec<ModelEvent>,
    },
    Tool {
        call_id: CallId,
        event: ToolReport,
    },
    /// A tool does something with what the thread's tools remember.
    Toolbox(Access),
    /// The hooks of a point of a turn have ended.
    Hooks {
        run: HookRunId,
        runs: Vec<HookRunSummary>,
        done: HooksDone,
    },
    /// It is decided which MCP servers are installed for an input.
    SkillServers(skill_servers::Waiting),
    Answered {
        question: QuestionId,
        outcome: Outcome,
    },
    /// About the voice conversation of the thread.
    Realtime(RealtimeMessage),
    /// About the MCP servers of the thread.
    Mcp(McpMessage),
    GraceOver {
        turn_id: TurnId,
    },
    /// The user's settings are to be read again.
    ReloadSettings,
    /// Something in these directories changed.
    SkillsChanged(Arc<HashSet<PathBuf>>),
    /// The directories of the thread's skills are watched for as long as this is kept.
    SkillsFollowed(Followed),
    /// From a thread that this one started, or that started this one.
    Agent(AgentMessage),
    /// `done` fires when no turn runs.
    WhenIdle {
        stop: Stop,
        done: oneshot::Sender<()>,
    },
    /// A turn that another server left goes on.
    GoOn(Box<LeftTurn>),
    /// Unloads the thread.
    Close {
        done: oneshot::Sender<()>,
    },
}

/// What is done for no turn to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nothing: the one that runs goes on to its end.
    Wait,
    Interrupt,
    /// Another server goes on with it: at once, or where the model would be asked next.
    HandOver {
        now: bool,
    },
}

impl From<Verb> for Message {
    fn from(verb: Verb) -> Message {
        Message::Verb(verb)
    }
}

impl Message {
    /// What it is, as fail points name it.
    pub fn name(&self) -> &'static str {
        match self {
            Message::Verb(verb) => verb.name(),
            Message::Unsubscribe { .. } => "thread/unsubscribe",
            Message::Snapshot { .. } => "thread/read",
            Message::CountElicitation { .. } => "elicitation",
            Message::CleanTerminals => "terminals",
            Message::OutOfTime(_) => "out of time",
            Message::Model { .. } => "model",
            Message::Tool { .. } => "tool",
            Message::Answered { .. } => "answer",
            Message::Realtime(_) => "realtime",
            _ => "other",
        }
    }
}

/// What a tool reports to its thread.
pub(crate) enum ToolReport {
    Event(ToolEvent),
    /// A question for the user.
    Ask {
        request: Box<ServerRequest>,
        waiting: Option<Waiting>,
        answer: AnswerSender,
    },
    /// The user decided about the call.
    Decided {
        decision: String,
    },
    /// An action for a model to decide about; the tool gets the case to put to it.
    Review {
        action: Action,
        case: oneshot::Sender<Case>,
    },
}

impl From<ToolDelta> for ToolReport {
    fn from(delta: ToolDelta) -> ToolReport {
        ToolReport::Event(ToolEvent::Delta(delta))
    }
}

/// A thread as another request sees it.
pub(crate) struct ThreadSnapshot {
    pub thread: Thread,
    /// Where its commands run now.
    pub cwd: PathBuf,
    pub ephemeral: bool,
    /// What its configuration says.
    pub settings: Arc<Snapshot>,
    /// The rollout, if it is on disk.
    pub rollout: Option<PathBuf>,
    /// The running turn, with its items so far.
    pub live: Option<Turn>,
}

/// What others hold of a loaded thread.
#[derive(Clone)]
pub(crate) struct ThreadHandle {
    pub id: ThreadId,
    /// Messages are boxed: a channel holds room for many, and most threads have none.
    mailbox: mpsc::Sender<Box<Message>>,
    /// The client that opened the thread.
    pub opener: Option<ClientId>,
    status: Arc<Mutex<ThreadStatus>>,
    is_closing: Arc<AtomicBool>,
}

impl ThreadHandle {
    pub fn new(
        id: ThreadId,
        mailbox: mpsc::Sender<Box<Message>>,
        opener: Option<ClientId>,
    ) -> ThreadHandle {
        ThreadHandle {
            id,
            mailbox,
            opener,
            status: Arc::new(Mutex::new(ThreadStatus::Idle)),
            is_closing: Arc::default(),
        }
    }

    /// Whether both are handles of the same thread in memory.
    pub fn is(&self, other: &ThreadHandle) -> bool {
        self.mailbox.same_channel(&other.mailbox)
    }

    /// Gives the thread a message; `false` if it is gone.
    pub async fn send(&self, message: impl Into<Message>) -> bool {
        self.mailbox.send(Box::new(message.into())).await.is_ok()
    }

    /// Gives the thread a message from where waiting is not possible.
    pub fn send_soon(&self, message: Message) {
        self.send_later(Box::new(message));
    }

    fn send_later(&self, message: Box<Message>) {
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            if mailbox.send(message).await.is_err() {
                tracing::debug!("message for a thread that is gone");
            }
        });
    }

    /// Gives the thread a message at once if there is room, and as soon as there is otherwise.
    pub fn send_now(&self, message: Message) {
        if let Err(TrySendError::Full(message)) = self.mailbox.try_send(Box::new(message)) {
            self.send_later(message);
        }
    }

    /// Whether the thread has begun to end.
    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::SeqCst)
    }

    pub fn set_closing(&self) {
        self.is_closing.store(true, Ordering::SeqCst);
    }

    /// The status that clients were last notified of.
    pub fn status(&self) -> ThreadStatus {
        self.status.lock().clone()
    }

    pub fn set_status(&self, status: ThreadStatus) {
        *self.status.lock() = status;
    }

    /// The thread as it is now; `None` if it is gone.
    pub async fn snapshot(&self) -> Option<ThreadSnapshot> {
        let (done, snapshot) = oneshot::channel();
        self.send(Message::Snapshot { done }).await;
        snapshot.await.ok()
    }

    /// Waits until no turn runs.
    pub async fn idle(&self, stop: Stop) {
        let (done, idle) = oneshot::channel();
        if self.send(Message::WhenIdle { stop, done }).await {
            // A dropped sender means the thread is gone, and its turn with it.
            idle.await.ok();
        }
    }

    /// Unloads the thread and waits until it is.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.send(Message::Close { done }).await {
            // A dropped sender means the thread is gone, which is what was asked for.
            closed.await.ok();
        }
    }
}
