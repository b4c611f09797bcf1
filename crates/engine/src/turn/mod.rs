//! A turn from its start to its end. The thread hands it inputs; it says what becomes of it ([`Next`]).

mod approval_reviews;
mod bounds;
mod calls;
mod compaction;
mod end;
mod hooks;
mod items;
mod pending;
mod resume;
mod review;
mod sampling;
mod start;
mod stream;
mod tools;
mod transcript;

use quipu_wire::{Json, NonSteerableTurnKind, TurnError};

use self::bounds::Effort;
use self::compaction::Compaction;
pub use self::end::{Ending, end_as_failed};
use self::hooks::Stage;
use self::pending::Pending;
pub use self::pending::{MAX_PENDING, MAX_PENDING_BYTES};
pub use self::resume::{hand_over, leave, resumed};
pub use self::review::accept_review;
use self::tools::TurnTools;
use self::transcript::Transcript;
use crate::effect::{Effect, TurnEnd};
use crate::ids::{HookRunId, ReplyToken, SampleId, TurnId};

/// What a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    /// The user asked something.
    Regular,
    Review,
    Compact,
    /// The user ran a command.
    Shell,
}

impl TurnKind {
    /// Whether what the model uses is the thread's; what a review uses is not.
    fn counts_usage(self) -> bool {
        self != Self::Review
    }

    /// Why input cannot be added to such a turn, if it cannot.
    fn refuses_input(self) -> Option<NonSteerableTurnKind> {
        match self {
            Self::Regular | Self::Shell => None,
            Self::Review => Some(NonSteerableTurnKind::Review),
            Self::Compact => Some(NonSteerableTurnKind::Compact),
        }
    }
}

/// What becomes of a turn after an input.
#[derive(Debug)]
pub enum Next {
    /// It has just been created and does its first step.
    Begin,
    /// It goes on waiting.
    Wait,
    /// Something it waited for has ended: it goes on if nothing else is under way.
    Proceed,
    /// It has done its work.
    Conclude,
    /// It ends as soon as what is under way has stopped.
    Stop(TurnEnd),
    /// It ends now; what is under way is given up.
    Abandon(TurnEnd),
    /// It goes on in another process; what is under way here is given up.
    Leave,
}

/// What becomes of a turn; an error if it fails.
pub type Progress = Result<Next, TurnError>;

/// The one thing besides tools that a turn waits for.
#[derive(Debug, Clone, PartialEq)]
enum Work {
    /// The driver builds the context of the turn.
    Context,
    /// The model answers.
    Model { sample: SampleId },
    /// Hooks of the user run.
    Hooks { run: HookRunId, stage: Stage },
    /// The history is compacted.
    Compaction(Compaction),
    /// The driver makes a review out of the reviewer's last message.
    Rendering,
}

/// A turn from its start to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    id: TurnId,
    kind: TurnKind,
    pending: Pending,
    /// Clients that wait for the end of the turn.
    interrupts: Vec<ReplyToken>,
    work: Option<Work>,
    tools: TurnTools,
    transcript: Transcript,
    /// A hook has made the model continue.
    stop_hook_active: bool,
    /// What lets the user know of a turn that completed.
    announcement: Option<Effect>,
    was_rerouted: bool,
    /// The model was asked to correct the shape of its final message.
    was_corrected: bool,
    effort: Effort,
}

impl Turn {
    fn new(id: TurnId, kind: TurnKind) -> Self {
        Self {
            transcript: Transcript::new(id.clone()),
            id,
            kind,
            pending: Pending::default(),
            interrupts: Vec::new(),
            work: None,
            tools: TurnTools::default(),
            stop_hook_active: false,
            announcement: None,
            was_rerouted: false,
            was_corrected: false,
            effort: Effort::default(),
        }
    }

    pub fn id(&self) -> &TurnId {
        &self.id
    }

    /// The size of the input that waits for the model, in bytes.
    pub fn pending_bytes(&self) -> usize {
        self.pending.bytes()
    }

    /// The history that the model is sent, if it is not the thread's.
    pub fn own_history(&self) -> Option<&[Json]> {
        self.transcript.own_history()
    }

    /// A client waits for the end of the turn.
    pub fn add_interrupt(&mut self, reply: Option<ReplyToken>) {
        self.interrupts.extend(reply);
    }

    /// Queues a message for the model that clients do not see.
    pub fn add_note(&mut self, note: Json) {
        self.pending.push_note(note);
    }
}
