//! The running turn.

use std::collections::{BTreeMap, VecDeque};

use quipu_wire::{Json, NonSteerableTurnKind};

use crate::bounds::Effort;
use crate::effect::{Effect, TurnEnd};
use crate::hooks::Stage;
use crate::input::UserMessage;
use crate::items::Items;

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
    /// Why input cannot be added to such a turn, if it cannot.
    pub fn refuses_input(self) -> Option<NonSteerableTurnKind> {
        match self {
            TurnKind::Regular | TurnKind::Shell => None,
            TurnKind::Review => Some(NonSteerableTurnKind::Review),
            TurnKind::Compact => Some(NonSteerableTurnKind::Compact),
        }
    }
}

/// The one thing besides tools that a turn waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// The driver says what the model must be told first.
    Context,
    /// The model answers.
    Model { sample: u64 },
    /// Hooks of the user run.
    Hooks { run: u64, stage: Stage },
    /// The model summarises the history.
    Summary { sample: u64, summary: Summary },
    /// The driver makes a new history out of the summary.
    NewHistory(Summary),
    /// The driver makes a review out of the reviewer's words.
    Rendering,
}

/// A compaction under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub item_id: String,
    pub text: String,
    /// So many of the oldest items are left out, for the history is too long to be summarised whole.
    pub dropped: usize,
    /// In the middle of a turn, whose context the new history must hold.
    pub mid_turn: bool,
}

/// Messages of the user that may wait for the next request to the model.
pub const MAX_PENDING: usize = 1000;
/// Their size in the model's history, in bytes.
pub const MAX_PENDING_BYTES: usize = 64 * 1024 * 1024;

/// What waits for the next request to the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Pending {
    Message(UserMessage),
    /// A message that is shown to nobody.
    Note(Json),
}

impl Pending {
    /// Its size in the model's history.
    fn bytes(&self) -> usize {
        match self {
            Pending::Message(message) => message.bytes(),
            Pending::Note(note) => note.get().len(),
        }
    }
}

/// One tool call of the current response.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub call_id: String,
    /// The output, once there is one.
    pub output: Option<Vec<Json>>,
}

/// A turn from its start to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveTurn {
    pub id: String,
    pub kind: TurnKind,
    pub pending: VecDeque<Pending>,
    /// Clients that wait for the end of the turn.
    pub interrupts: Vec<u64>,
    pub work: Option<Work>,
    pub calls: Vec<Call>,
    /// The user's own commands beside the turn's work.
    pub shells: Vec<String>,
    pub items: Items,
    /// The open questions, with the calls that asked.
    pub questions: BTreeMap<u64, String>,
    /// What is being reviewed in the user's place, with the calls that want it.
    pub approval_reviews: BTreeMap<String, (String, Json)>,
    pub diff: Option<String>,
    /// The model has answered, and the diff is told again once the calls of that answer are done.
    pub diff_due: bool,
    pub last_agent_message: Option<String>,
    /// A hook has made the model go on.
    pub stop_hook_active: bool,
    /// What tells the user that the turn went as it should, once it has ended.
    pub announcement: Option<Effect>,
    /// How the turn will end, once it has been told to.
    pub ending: Option<TurnEnd>,
    /// Its tools and commands were told to stop.
    pub cancelled: bool,
    /// A review has a history of its own.
    pub review: Option<Review>,
    pub rerouted: bool,
    /// The model was told that its final message has the wrong shape.
    pub corrected: bool,
    pub effort: Effort,
}

/// A review under way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    pub history: Vec<Json>,
    /// The reviewer's last message.
    pub words: Option<String>,
}

impl ActiveTurn {
    pub fn new(id: String, kind: TurnKind) -> ActiveTurn {
        ActiveTurn {
            id,
            kind,
            pending: VecDeque::new(),
            interrupts: Vec::new(),
            work: None,
            calls: Vec::new(),
            shells: Vec::new(),
            items: Items::default(),
            questions: BTreeMap::new(),
            approval_reviews: BTreeMap::new(),
            diff: None,
            diff_due: false,
            last_agent_message: None,
            stop_hook_active: false,
            announcement: None,
            ending: None,
            cancelled: false,
            review: None,
            rerouted: false,
            corrected: false,
            effort: Effort::default(),
        }
    }

    /// The size of the input that waits for the model.
    pub fn pending_bytes(&self) -> usize {
        self.pending.iter().map(Pending::bytes).sum()
    }

    /// Whether more input may wait.
    pub fn has_room_for(&self, message: &UserMessage) -> bool {
        self.pending.len() < MAX_PENDING
            && self.pending_bytes() + message.bytes() <= MAX_PENDING_BYTES
    }

    /// Whether a tool of the turn still works.
    pub fn is_calling(&self) -> bool {
        self.calls.iter().any(|call| call.output.is_none())
    }

    /// Whether hooks run that the turn waits for.
    pub fn is_hooking(&self) -> bool {
        matches!(self.work, Some(Work::Hooks { .. }))
    }

    /// The last message of the model, also of one that reviews.
    pub fn last_words(&self) -> Option<String> {
        match &self.review {
            Some(review) => review.words.clone(),
            None => self.last_agent_message.clone(),
        }
    }

    /// Whether the user waits for an answer.
    pub fn has_message(&self) -> bool {
        self.pending
            .iter()
            .any(|pending| matches!(pending, Pending::Message(_)))
    }

    /// Forgets what the turn waits for, and gives back the request to the model that this was. A review
    /// that is being made ready is still shown.
    pub fn drop_work(&mut self) -> Option<u64> {
        match self.work.take() {
            Some(Work::Model { sample } | Work::Summary { sample, .. }) => Some(sample),
            Some(Work::Rendering) => {
                self.work = Some(Work::Rendering);
                None
            }
            Some(Work::Context | Work::Hooks { .. } | Work::NewHistory(_)) | None => None,
        }
    }

    /// Gives up the calls and commands that have not ended, and says which they were.
    pub fn take_unfinished(&mut self) -> Vec<String> {
        let calls = self.calls.extract_if(.., |call| call.output.is_none());
        let mut unfinished: Vec<String> = calls.map(|call| call.call_id).collect();
        unfinished.append(&mut self.shells);
        unfinished
    }
}
