//! The running turn.

use std::collections::{BTreeMap, VecDeque};

use quipu_wire::{Json, NonSteerableTurnKind, TurnError};

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

/// What the model is being asked, and for what.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    pub sample: u64,
    /// A compaction asks for a summary; its text is collected here.
    pub summary: Option<Summary>,
}

/// A compaction under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub item_id: String,
    pub text: String,
    /// In the middle of a turn, whose context the new history must hold.
    pub mid_turn: bool,
}

/// One tool call of the current response.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub call_id: String,
    /// The output, once there is one.
    pub output: Option<Vec<Json>>,
}

/// How far stopping has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    No,
    /// Tools were told to stop; their last words are awaited.
    Interrupted,
    /// The same, because another task takes the turn's place.
    Replaced,
}

/// A turn from its start to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveTurn {
    pub id: String,
    pub kind: TurnKind,
    /// Input that waits for the next request to the model.
    pub pending: VecDeque<UserMessage>,
    /// Messages that wait likewise and are shown to nobody.
    pub notes: Vec<Json>,
    /// Clients that wait for the end of the turn.
    pub interrupts: Vec<u64>,
    pub sampling: Option<Sampling>,
    /// The context is being built, a summary or a review being made.
    pub awaiting: bool,
    pub calls: Vec<Call>,
    /// The user's own commands beside the turn's work.
    pub shells: Vec<String>,
    pub items: Items,
    pub questions: BTreeMap<u64, String>,
    pub diff: Option<String>,
    pub last_agent_message: Option<String>,
    pub error: Option<TurnError>,
    pub stopping: Stopping,
    /// A review has a history of its own.
    pub review: Option<Review>,
    pub rerouted: bool,
}

/// A review under way.
#[derive(Debug, Clone, PartialEq)]
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
            notes: Vec::new(),
            interrupts: Vec::new(),
            sampling: None,
            awaiting: false,
            calls: Vec::new(),
            shells: Vec::new(),
            items: Items::default(),
            questions: BTreeMap::new(),
            diff: None,
            last_agent_message: None,
            error: None,
            stopping: Stopping::No,
            review: None,
            rerouted: false,
        }
    }

    /// Whether anything of the turn still works.
    pub fn is_busy(&self) -> bool {
        self.sampling.is_some() || self.awaiting || self.is_working()
    }

    /// Whether tools of the turn still work.
    pub fn is_working(&self) -> bool {
        !self.shells.is_empty() || self.calls.iter().any(|call| call.output.is_none())
    }
}
