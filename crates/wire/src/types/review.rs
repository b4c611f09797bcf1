//! MODDOC

use quipu_wire_macros::wire;

use crate::Turn;

/// DOC
#[wire(exhaustive)]
pub enum ReviewDelivery {
    Inline,
    Detached,
}

/// DOC
#[wire(exhaustive, tag = "type")]
pub enum ReviewTarget {
    UncommittedChanges,
    BaseBranch { branch: String },
    Commit { sha: String, title: Option<String> },
    Custom { instructions: String },
}

/// Parameters of `review/start`.
#[wire(params)]
pub struct ReviewStartParams {
    pub thread_id: String,
    pub target: ReviewTarget,
    #[wire(default)]
    pub delivery: Option<ReviewDelivery>,
}

/// Result of `review/start`.
#[wire]
pub struct ReviewStartResponse {
    pub turn: Turn,
    pub review_thread_id: String,
}
