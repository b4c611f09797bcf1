//! What can happen to a thread.

use quipu_wire::{
    GuardianApprovalReview, HookPromptFragment, HookRunSummary, Json, MessagePhase,
    RateLimitSnapshot, ServerRequest, ThreadItem, TokenUsageBreakdown, TurnError, TurnPlanStep,
    UserInput, WebSearchAction,
};

use crate::effect::Effect;
use crate::ids::{CallId, HookRunId, ItemId, ProcessId, QuestionId, ReplyToken, SampleId, TurnId};

/// Something that happened outside of the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A client gives input: a new turn, or more for the running one.
    Start(Start),
    /// A client adds input to a turn it names.
    Steer {
        reply: ReplyToken,
        expected: TurnId,
        message: UserMessage,
    },
    /// A client, or the server itself, ends the running turn.
    Interrupt { reply: Option<ReplyToken> },
    /// The server itself starts a turn, with a message for the model that clients do not see.
    Continue { turn_id: TurnId, note: Json },
    /// A turn that was running when its process ended goes on.
    Resume(Resumed),
    /// The thread goes on in another process, and the running turn with it: at once, or where the model would be asked
    /// next. A turn that can only be finished here is interrupted at once, or goes on to its end.
    HandOver { now: bool },
    /// A client asks for compaction, in a turn of this id.
    Compact { turn_id: TurnId },
    /// A client asks for a review.
    Review(ReviewStart),
    /// A client runs a command of its own.
    Shell(ShellStart),
    /// The context that the model reads before the input.
    Context { turn_id: TurnId, context: Context },
    /// An event of a request to the model.
    Model { sample: SampleId, event: ModelEvent },
    /// A report of a tool.
    Tool { call_id: CallId, event: ToolEvent },
    /// A report of hooks.
    Hooks { run: HookRunId, report: HookReport },
    /// A client answered a question.
    Answered { question: QuestionId },
    /// The new history, made out of a summary.
    Compacted {
        turn_id: TurnId,
        compacted: Compacted,
    },
    /// A review, ready to be shown.
    ReviewRendered {
        turn_id: TurnId,
        outcome: ReviewOutcome,
    },
    /// A message for the model that clients do not see.
    Note(Json),
    /// The grace period of cancelled tools is over.
    GraceOver { turn_id: TurnId },
    /// The driver itself failed: a full disk, a defect.
    Fault { error: TurnError },
    /// `Effect::Sync` failed, so the end of a turn is not stored. `rest` are the effects that were to follow; those
    /// of this step take their place.
    NotStored { error: TurnError, rest: Vec<Effect> },
    /// The thread is being unloaded.
    Close,
}

/// Input of the user, as it is shown and as the model gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct UserMessage {
    pub item_id: ItemId,
    pub content: Vec<UserInput>,
    /// The message for the model, then what it refers to.
    pub history: Vec<Json>,
}

impl UserMessage {
    /// Its size in the model's history.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.history.iter().map(|item| item.get().len()).sum()
    }
}

/// `turn/start`.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub reply: ReplyToken,
    /// The id of the turn, if one begins.
    pub turn_id: TurnId,
    pub message: UserMessage,
}

/// A turn that was running when its process ended, as its log and its clients know it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Resumed {
    pub turn_id: TurnId,
    /// The ids that its items have so far.
    pub item_ids: Vec<ItemId>,
    /// Items that clients saw begin and not end. Nothing more comes of them.
    pub open: Vec<ThreadItem>,
    /// What the model reads next: what became of its calls, and what happened.
    pub history: Vec<Json>,
    /// The model has given its final answer.
    pub is_answered: bool,
    /// What the model said last in the turn.
    pub last_agent_message: Option<String>,
    /// Why it cannot go on, if it cannot.
    pub obstacle: Option<Obstacle>,
}

/// Why a turn of another process cannot go on.
#[derive(Debug, Clone, PartialEq)]
pub enum Obstacle {
    /// It fails.
    Failure(TurnError),
    /// It is interrupted, and clients are warned of the reason.
    Interrupt(String),
}

/// `review/start`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewStart {
    pub reply: Option<ReplyToken>,
    pub turn_id: TurnId,
    /// What is reviewed, in a few words.
    pub label: String,
    pub message: UserMessage,
}

/// `thread/shellCommand`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellStart {
    /// The id of the turn, if one begins.
    pub turn_id: TurnId,
    pub item_id: ItemId,
    pub command: String,
}

/// What the model reads before the user's input.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    pub history: Vec<Json>,
    /// The settings of the turn, for the log.
    pub record: Option<Json>,
}

/// The history after a compaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    pub history: Vec<Json>,
    /// The size of the new history in tokens.
    pub tokens: i64,
    /// The settings of the turn, when the new history holds them.
    pub record: Option<Json>,
}

/// A finished review.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewOutcome {
    /// The text of the item that ends the review.
    pub review: String,
    /// The message that the thread shows after it.
    pub message: String,
    /// What the thread's own history keeps of it.
    pub history: Vec<Json>,
}

/// What a model's stream brings.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// The rate limits of the account, as the provider says when it begins to answer.
    RateLimits(Box<RateLimitSnapshot>),
    /// Another model than the one asked for answers.
    Rerouted {
        from: String,
        to: String,
    },
    ItemStarted {
        slot: u32,
        item: Box<OutputItem>,
    },
    TextDelta {
        slot: u32,
        delta: String,
    },
    /// Text of a proposed plan, which is an item of its own.
    PlanDelta {
        delta: String,
    },
    PlanDone {
        text: String,
    },
    ReasoningPartAdded {
        slot: u32,
        index: u32,
    },
    ReasoningSummaryDelta {
        slot: u32,
        index: u32,
        delta: String,
    },
    ReasoningTextDelta {
        slot: u32,
        index: u32,
        delta: String,
    },
    ItemDone {
        slot: u32,
        item: Box<OutputItem>,
    },
    /// The connection failed, and the request is made again.
    Retrying {
        /// What clients are notified of, if they should know.
        error: Option<TurnError>,
    },
    Completed {
        usage: Option<TokenUsageBreakdown>,
        /// Set if the final message does not match the schema that was asked for.
        mismatch: Option<Box<SchemaMismatch>>,
    },
    /// The provider compacted the history itself; these items are what it made of it.
    Compacted {
        items: Vec<Json>,
    },
    /// The request failed, perhaps in the middle of the answer.
    Failed {
        error: TurnError,
        window_exceeded: bool,
    },
}

/// A final message that does not match the schema that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaMismatch {
    /// The message that asks the model to correct it, once in a turn.
    pub note: Json,
    /// What is wrong with it, in case the correction is wrong, too.
    pub error: TurnError,
    /// Then the turn fails. Otherwise it completes with a warning: most clients can use the message all the same.
    pub is_fatal: bool,
}

/// An item as a model made it.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputItem {
    /// The item's id for clients.
    pub id: ItemId,
    pub item: ModelItem,
    /// The item as the history keeps it.
    pub raw: Json,
}

/// What an item of a model is.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelItem {
    /// `text` is what is shown of it; `None` shows nothing.
    Message {
        text: Option<String>,
        phase: Option<MessagePhase>,
    },
    Reasoning {
        summary: Vec<String>,
        content: Vec<String>,
    },
    Call(ToolCall),
    WebSearch {
        query: String,
        action: Option<WebSearchAction>,
    },
    ImageGeneration(GeneratedImage),
    /// Kept in the history, not shown to clients.
    Other,
}

/// An image that the provider made.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedImage {
    pub status: String,
    pub revised_prompt: Option<String>,
    /// The image in base64.
    pub result: String,
}

impl GeneratedImage {
    pub(crate) fn into_item(self, id: String) -> ThreadItem {
        ThreadItem::ImageGeneration {
            id,
            status: self.status,
            revised_prompt: self.revised_prompt,
            result: self.result,
            saved_path: None,
        }
    }
}

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub call_id: CallId,
    pub name: String,
    pub namespace: Option<String>,
    pub kind: CallKind,
}

/// How a tool is called, which decides the form of its output.
#[derive(Debug, Clone, PartialEq)]
pub enum CallKind {
    /// With JSON arguments.
    Function(String),
    /// With free text.
    Custom(String),
    /// The provider's own shell tool, with the call as it came.
    LocalShell(Json),
    /// The provider's own tool search, with the call as it came.
    ToolSearch(Json),
}

/// What hooks report while they run.
#[derive(Debug, Clone, PartialEq)]
pub enum HookReport {
    Started(Vec<HookRunSummary>),
    Completed(Vec<HookRunSummary>),
    /// The user is asked before they run.
    Ask {
        question: QuestionId,
        request: Box<ServerRequest>,
    },
    /// All have ended.
    Done(HooksDone),
}

/// What all hooks of a run decided together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HooksDone {
    /// What the model's history is to have.
    pub context: Vec<Json>,
    pub verdict: HookVerdict,
}

/// How a turn goes on after its hooks.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum HookVerdict {
    #[default]
    Proceed,
    /// The input is blocked, or the turn is to end.
    End,
    /// The model continues, with this message.
    Continue {
        prompt: Json,
        fragments: Vec<HookPromptFragment>,
    },
}

/// What a tool reports while it runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolEvent {
    ItemStarted(ThreadItem),
    Delta(ToolDelta),
    ItemCompleted(ThreadItem),
    /// Asks the user. The tool is given the answer by `Effect::Deliver`.
    Ask {
        question: QuestionId,
        request: Box<ServerRequest>,
        waiting: Option<Waiting>,
    },
    /// A model decides about an action in the user's place.
    ApprovalReviewStarted {
        /// What clients know it by.
        target: String,
        action: Json,
    },
    ApprovalReviewCompleted {
        target: String,
        review: GuardianApprovalReview,
    },
    PlanUpdated {
        explanation: Option<String>,
        plan: Vec<TurnPlanStep>,
    },
    /// Hooks before or after the call began or ended.
    Hooks(HookReport),
    /// All changes of the turn so far.
    DiffUpdated(String),
    /// A message for the model's history that is not the tool's output.
    Note(Json),
    /// The call is over. A process it started may live on and report under its item later.
    Finished {
        output: Vec<Json>,
        end_turn: bool,
    },
}

/// More of a tool's item.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolDelta {
    CommandOutput(String),
    PatchOutput(String),
    McpProgress(String),
    /// The model typed into a process.
    TerminalInput {
        process_id: ProcessId,
        stdin: String,
    },
}

/// What a question makes the thread wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiting {
    Approval,
    UserInput,
}
