//! Reviews of what a call wants to do, by a model in the place of the user: each is announced once and
//! comes to an end once, also when its call or its turn ends first.

use std::collections::BTreeMap;

use quipu_wire::{
    GuardianApprovalReview, GuardianApprovalReviewStatus,
    ItemGuardianApprovalReviewCompletedNotification, ItemGuardianApprovalReviewStartedNotification,
    Json, ServerNotification,
};

use crate::thread::Thread;

impl Thread {
    pub(crate) fn approval_review_started(&mut self, call_id: &str, action: Json) {
        let Some(turn) = self.active.as_mut().filter(|turn| turn.ending.is_none()) else {
            return;
        };
        if turn.approval_reviews.contains_key(call_id) {
            return;
        }
        turn.approval_reviews
            .insert(call_id.to_owned(), action.clone());
        let (thread_id, turn_id) = self.ids();
        let params = ItemGuardianApprovalReviewStartedNotification {
            thread_id,
            turn_id,
            target_item_id: call_id.to_owned(),
            review: without_result(GuardianApprovalReviewStatus::InProgress),
            action: Some(action),
        };
        self.notify(ServerNotification::ItemAutoApprovalReviewStarted(params));
    }

    pub(crate) fn approval_review_completed(
        &mut self,
        call_id: &str,
        review: GuardianApprovalReview,
    ) {
        let Some(turn) = &mut self.active else { return };
        if let Some(action) = turn.approval_reviews.remove(call_id) {
            self.tell_approval_review(call_id.to_owned(), review, action);
        }
    }

    /// Gives up the review of a call that is over.
    pub(crate) fn abort_approval_review(&mut self, call_id: &str) {
        let review = without_result(GuardianApprovalReviewStatus::Aborted);
        self.approval_review_completed(call_id, review);
    }

    /// Gives up all reviews of the turn.
    pub(crate) fn abort_approval_reviews(&mut self) {
        let Some(turn) = &mut self.active else { return };
        let open: BTreeMap<String, Json> = std::mem::take(&mut turn.approval_reviews);
        for (call_id, action) in open {
            let review = without_result(GuardianApprovalReviewStatus::Aborted);
            self.tell_approval_review(call_id, review, action);
        }
    }

    fn tell_approval_review(
        &mut self,
        call_id: String,
        review: GuardianApprovalReview,
        action: Json,
    ) {
        let (thread_id, turn_id) = self.ids();
        let params = ItemGuardianApprovalReviewCompletedNotification {
            thread_id,
            turn_id,
            target_item_id: call_id,
            review,
            action: Some(action),
        };
        self.notify(ServerNotification::ItemAutoApprovalReviewCompleted(params));
    }
}

fn without_result(status: GuardianApprovalReviewStatus) -> GuardianApprovalReview {
    GuardianApprovalReview {
        status,
        risk_score: None,
        risk_level: None,
        rationale: None,
    }
}
