//! Approval questions that a reviewing model answers in the place of the user.
//! All of this is unstable and will change.

use quipu_wire_macros::wire;

use crate::Json;

/// The reviewer's view of an action; all but `status` is null until it is done.
#[wire]
pub struct GuardianApprovalReview {
    pub status: GuardianApprovalReviewStatus,
    /// From 0 to 100; an action below 80 is approved.
    pub risk_score: Option<u8>,
    pub risk_level: Option<GuardianRiskLevel>,
    /// The reviewer's reason.
    pub rationale: Option<String>,
}

/// How far a review has come.
#[wire]
pub enum GuardianApprovalReviewStatus {
    InProgress,
    Approved,
    /// The action is not taken; also when the reviewer fails or takes too long.
    Denied,
    /// The turn ended first.
    Aborted,
}

/// How risky an action is.
#[wire]
pub enum GuardianRiskLevel {
    Low,
    Medium,
    High,
}

/// Parameters of the notification `item/autoApprovalReview/started`.
#[wire]
pub struct ItemGuardianApprovalReviewStartedNotification {
    pub thread_id: String,
    pub turn_id: String,
    /// Identifies the review in its turn.
    #[wire(since = "0.166", hidden_default)]
    pub review_id: String,
    /// When the review started, in Unix milliseconds.
    #[wire(since = "0.166", hidden_default)]
    pub started_at_ms: i64,
    /// The item that waits for the review.
    pub target_item_id: String,
    pub review: GuardianApprovalReview,
    /// What is reviewed, as an object whose member `tool` says which members follow.
    pub action: Option<Json>,
}

/// Who decided about an action.
#[wire]
pub enum AutoReviewDecisionSource {
    /// The reviewing model.
    Agent,
}

/// Parameters of the notification `item/autoApprovalReview/completed`.
#[wire]
pub struct ItemGuardianApprovalReviewCompletedNotification {
    pub thread_id: String,
    pub turn_id: String,
    /// Identifies the review in its turn.
    #[wire(since = "0.166", hidden_default)]
    pub review_id: String,
    /// When the review started, in Unix milliseconds.
    #[wire(since = "0.166", hidden_default)]
    pub started_at_ms: i64,
    /// When it ended, in Unix milliseconds.
    #[wire(since = "0.166", hidden_default)]
    pub completed_at_ms: i64,
    #[wire(since = "0.166", default = "\"agent\"")]
    pub decision_source: AutoReviewDecisionSource,
    /// The item that waits for the review.
    pub target_item_id: String,
    pub review: GuardianApprovalReview,
    /// What is reviewed, as an object whose member `tool` says which members follow.
    pub action: Option<Json>,
}
