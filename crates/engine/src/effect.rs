//! What must happen, in order, after an input.

use quipu_wire::{
    Json, MessagePhase, NonSteerableTurnKind, RateLimitSnapshot, ServerNotification, ServerRequest,
    ThreadItem, ThreadTokenUsage, Turn, TurnError, UserInput,
};

use crate::ids::{CallId, HookRunId, ItemId, QuestionId, ReplyToken, SampleId, TurnId};
use crate::input::ToolCall;
use crate::turn::TurnKind;

/// One thing to do. A driver performs effects in the order they are given.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Append to the thread's log. Records before the next `Notify` or `Answer` may be written together.
    Record(Record),
    /// Make everything recorded so far survive a power cut.
    Sync,
    /// Notify the thread's subscribers.
    Notify(ServerNotification),
    /// Warn the thread's subscribers of something that the turn goes on in spite of.
    Warn(String),
    /// Notify every client.
    Broadcast(ServerNotification),
    /// Answer a client's request.
    Answer { reply: ReplyToken, answer: Answer },
    /// Ask the thread's subscribers; the answer comes back as `Input::Answered`.
    Ask {
        question: QuestionId,
        request: Box<ServerRequest>,
    },
    /// Cancel a question; an answer to it is ignored.
    Withdraw { question: QuestionId },
    /// Give a client's answer to the tool that asked.
    Deliver {
        question: QuestionId,
        call_id: CallId,
    },
    /// Build what the model reads before the input; comes back as `Input::Context`.
    BuildContext { turn_id: TurnId },
    /// Ask the model, with the history as it is now. Events come back as `Input::Model`.
    Sample {
        sample: SampleId,
        turn_id: TurnId,
        purpose: Purpose,
    },
    /// Stop the model; further events of the request are ignored.
    CancelSample { sample: SampleId },
    /// Run a tool; events come back as `Input::Tool`.
    RunTool { turn_id: TurnId, call: ToolCall },
    /// Run the user's own command; events come back as `Input::Tool` under its item id.
    RunShell {
        turn_id: TurnId,
        item_id: ItemId,
        command: String,
    },
    /// Stop the tools and commands of the turn that do not outlive it. They report `ToolEvent::Finished`.
    CancelTools { turn_id: TurnId },
    /// Call back with `Input::GraceOver` after the time that cancelled tools are given.
    StartGrace { turn_id: TurnId },
    /// Run the hooks of the user; what they do comes back as `Input::Hooks`. `CancelTools` stops them, too.
    RunHooks {
        run: HookRunId,
        turn_id: TurnId,
        point: HookPoint,
    },
    /// Start the user's program for turns that completed as they should.
    Announce {
        turn_id: TurnId,
        last_agent_message: Option<String>,
    },
    /// Make the new history out of a summary; comes back as `Input::Compacted`.
    Summarise {
        turn_id: TurnId,
        summary: Summary,
        mid_turn: bool,
    },
    /// Make the review out of the reviewer's last message; comes back as `Input::ReviewRendered`.
    RenderReview {
        turn_id: TurnId,
        last_message: Option<String>,
        /// The review was interrupted, or it failed.
        interrupted: bool,
    },
}

/// What takes the place of a history.
#[derive(Debug, Clone, PartialEq)]
pub enum Summary {
    /// The model's summary.
    Text(String),
    /// The items that the provider made of the history.
    Items(Vec<Json>),
}

/// Where in a turn hooks run, and what they are given.
#[derive(Debug, Clone, PartialEq)]
pub enum HookPoint {
    /// Before the first input of a session.
    SessionStart,
    /// Before this input.
    UserPromptSubmit(Vec<UserInput>),
    /// When the model is done.
    Stop {
        /// A hook has already made the model continue in this turn.
        active: bool,
        last_agent_message: Option<String>,
    },
}

/// Why the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To answer the user.
    Turn,
    /// To review code.
    Review,
    /// To summarise the history, without the oldest items if it is too long even for that.
    Compaction { dropped: usize },
}

/// The answer to a client's request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// `turn/start`: the turn that takes the input.
    Turn(Turn),
    /// `turn/steer`: the turn that takes the input.
    Steered(TurnId),
    /// `turn/interrupt`, and requests that answer with nothing.
    Done,
    /// The request does not fit the state of the thread.
    Refused(Refusal),
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    NoActiveTurn,
    WrongTurn {
        expected: TurnId,
        actual: TurnId,
    },
    NotSteerable(NonSteerableTurnKind),
    EmptyInput,
    /// The input that waits for the model is at its limit.
    TooMuchPending,
    Closed,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEnd {
    Completed,
    Interrupted,
    /// Another task took its place.
    Replaced,
    Failed(TurnError),
}

impl TurnEnd {
    /// How a turn ends that was to end so already. A failure stays one.
    pub(crate) fn or(self, later: Self) -> Self {
        match (&self, &later) {
            (Self::Failed(_), Self::Interrupted) => self,
            _ => later,
        }
    }
}

/// What is appended to the log.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    TurnStarted {
        turn_id: TurnId,
        kind: TurnKind,
    },
    /// An item of the model's history.
    History(Json),
    /// The settings of a turn.
    TurnContext(Json),
    UserMessage {
        item_id: ItemId,
        content: Vec<UserInput>,
    },
    AgentMessage {
        item_id: ItemId,
        text: String,
        phase: Option<MessagePhase>,
    },
    Reasoning {
        item_id: ItemId,
        summary: Vec<String>,
        content: Vec<String>,
    },
    /// A finished item of any other kind.
    Item {
        turn_id: TurnId,
        item: ThreadItem,
    },
    /// A tool of the client was asked to run.
    DynamicCall {
        turn_id: TurnId,
        item: ThreadItem,
    },
    TokenUsage {
        usage: Option<ThreadTokenUsage>,
        rate_limits: RateLimitSnapshot,
    },
    Compacted {
        summary: String,
        history: Vec<Json>,
    },
    EnteredReview {
        label: String,
    },
    ExitedReview {
        last_message: Option<String>,
        text: String,
    },
    Error {
        turn_id: TurnId,
        error: TurnError,
    },
    TurnEnded {
        turn_id: TurnId,
        end: TurnEnd,
        last_agent_message: Option<String>,
    },
}
