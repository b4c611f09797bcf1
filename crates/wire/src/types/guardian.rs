//! MODDOC

use quipu_wire_macros::wire;

use crate::Json;

/// DOC
#[wire]
pub struct GuardianApprovalReview {
    pub status: GuardianApprovalReviewStatus,
    pub risk_score: Option<u8>,
    pub risk_level: Option<GuardianRiskLevel>,
    pub rationale: Option<String>,
}

/// DOC
#[wire]
pub enum GuardianApprovalReviewStatus {
    InProgress,
    Approved,
    Denied,
    Aborted,
}

/// DOC
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
    pub target_item_id: String,
    pub review: GuardianApprovalReview,
    pub action: Option<Json>,
}

/// Parameters of the notification `item/autoApprovalReview/completed`.
#[wire]
pub struct ItemGuardianApprovalReviewCompletedNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub target_item_id: String,
    pub review: GuardianApprovalReview,
    pub action: Option<Json>,
}
