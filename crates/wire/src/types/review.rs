//! Reviews of code by the agent.

use quipu_wire_macros::wire;

use crate::Turn;

/// Where a review takes place.
#[wire(exhaustive)]
pub enum ReviewDelivery {
    /// In a new turn of the same thread.
    Inline,
    /// In a new thread, forked from this one.
    Detached,
}

/// What is reviewed.
#[wire(exhaustive, tag = "type")]
pub enum ReviewTarget {
    /// What is not committed: staged, unstaged and untracked.
    UncommittedChanges,
    /// What the current branch adds to another one since they parted.
    BaseBranch { branch: String },
    /// One commit.
    Commit {
        sha: String,
        /// Its subject, to show and to tell the reviewer.
        title: Option<String>,
    },
    /// Whatever the instructions describe.
    Custom { instructions: String },
}

/// Parameters of `review/start`.
#[wire(params)]
pub struct ReviewStartParams {
    pub thread_id: String,
    pub target: ReviewTarget,
    /// `inline` if absent.
    #[wire(default)]
    pub delivery: Option<ReviewDelivery>,
}

/// Result of `review/start`.
#[wire]
pub struct ReviewStartResponse {
    /// The turn of the review, with what is reviewed as a message of the user.
    pub turn: Turn,
    /// The thread of the review: the same for `inline`, a new one for `detached`.
    pub review_thread_id: String,
}
