//! Reviews of what a call wants to do, by a model in the place of the user: each starts once and completes once,
//! also when its call or its turn ends first.

use std::collections::BTreeMap;

use quipu_wire::{
    AutoReviewDecisionSource, GuardianApprovalReview, GuardianApprovalReviewStatus,
    ItemGuardianApprovalReviewCompletedNotification, ItemGuardianApprovalReviewStartedNotification,
    Json, ServerNotification,
};

use crate::ids::CallId;
use crate::out::{TurnOut, UNSTAMPED};

/// The open reviews of a turn, by what clients know them by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApprovalReviews(BTreeMap<String, ApprovalReview>);

#[derive(Debug, Clone, PartialEq)]
struct ApprovalReview {
    call_id: CallId,
    action: Json,
}

impl ApprovalReviews {
    /// Starts the review of an action, unless the same one is open.
    pub fn start(&mut self, target: String, call_id: CallId, action: Json, out: &mut TurnOut<'_>) {
        if self.0.contains_key(&target) {
            return;
        }
        let (thread_id, turn_id) = out.ids();
        let params = ItemGuardianApprovalReviewStartedNotification {
            thread_id,
            turn_id,
            review_id: target.clone(),
            started_at_ms: UNSTAMPED,
            target_item_id: target.clone(),
            review: without_result(GuardianApprovalReviewStatus::InProgress),
            action: Some(action.clone()),
        };
        out.notify(ServerNotification::ItemAutoApprovalReviewStarted(params));
        self.0.insert(target, ApprovalReview { call_id, action });
    }

    /// Completes a review, if it is open.
    pub fn complete(
        &mut self,
        target: String,
        review: GuardianApprovalReview,
        out: &mut TurnOut<'_>,
    ) {
        if let Some(open) = self.0.remove(&target) {
            notify_completed(target, review, open.action, out);
        }
    }

    /// Aborts the reviews of a call that is over.
    pub fn abort_of(&mut self, call_id: &CallId, out: &mut TurnOut<'_>) {
        let (over, open) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|(_, review)| review.call_id == *call_id);
        self.0 = open;
        Self(over).abort_all(out);
    }

    /// Aborts all reviews.
    pub fn abort_all(&mut self, out: &mut TurnOut<'_>) {
        for (target, open) in std::mem::take(&mut self.0) {
            let review = without_result(GuardianApprovalReviewStatus::Aborted);
            notify_completed(target, review, open.action, out);
        }
    }
}

fn notify_completed(
    target: String,
    review: GuardianApprovalReview,
    action: Json,
    out: &mut TurnOut<'_>,
) {
    let (thread_id, turn_id) = out.ids();
    let params = ItemGuardianApprovalReviewCompletedNotification {
        thread_id,
        turn_id,
        review_id: target.clone(),
        started_at_ms: UNSTAMPED,
        completed_at_ms: UNSTAMPED,
        decision_source: AutoReviewDecisionSource::Agent,
        target_item_id: target,
        review,
        action: Some(action),
    };
    out.notify(ServerNotification::ItemAutoApprovalReviewCompleted(params));
}

fn without_result(status: GuardianApprovalReviewStatus) -> GuardianApprovalReview {
    GuardianApprovalReview {
        status,
        risk_score: None,
        risk_level: None,
        rationale: None,
    }
}
