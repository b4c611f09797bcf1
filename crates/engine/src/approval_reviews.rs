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
    /// Announces the review of an action of a call; `target` is what clients know it by.
    pub(crate) fn approval_review_started(&mut self, call_id: &str, target: String, action: Json) {
        let Some(turn) = self.active.as_mut().filter(|turn| turn.ending.is_none()) else {
            return;
        };
        if turn.approval_reviews.contains_key(&target) {
            return;
        }
        let review = (call_id.to_owned(), action.clone());
        turn.approval_reviews.insert(target.clone(), review);
        let (thread_id, turn_id) = self.ids();
        let params = ItemGuardianApprovalReviewStartedNotification {
            thread_id,
            turn_id,
            target_item_id: target,
            review: without_result(GuardianApprovalReviewStatus::InProgress),
            action: Some(action),
        };
        self.notify(ServerNotification::ItemAutoApprovalReviewStarted(params));
    }

    pub(crate) fn approval_review_completed(
        &mut self,
        target: String,
        review: GuardianApprovalReview,
    ) {
        let Some(turn) = &mut self.active else { return };
        if let Some((_, action)) = turn.approval_reviews.remove(&target) {
            self.tell_approval_review(target, review, action);
        }
    }

    /// Gives up the reviews of a call that is over.
    pub(crate) fn abort_reviews_of(&mut self, call_id: &str) {
        self.abort_reviews(|of| of == call_id);
    }

    /// Gives up all reviews of the turn.
    pub(crate) fn abort_all_reviews(&mut self) {
        self.abort_reviews(|_| true);
    }

    fn abort_reviews(&mut self, is_over: impl Fn(&str) -> bool) {
        let Some(turn) = &mut self.active else { return };
        let (over, open): (BTreeMap<_, _>, _) = std::mem::take(&mut turn.approval_reviews)
            .into_iter()
            .partition(|(_, (call_id, _))| is_over(call_id));
        turn.approval_reviews = open;
        for (target, (_, action)) in over {
            let review = without_result(GuardianApprovalReviewStatus::Aborted);
            self.tell_approval_review(target, review, action);
        }
    }

    fn tell_approval_review(
        &mut self,
        target: String,
        review: GuardianApprovalReview,
        action: Json,
    ) {
        let (thread_id, turn_id) = self.ids();
        let params = ItemGuardianApprovalReviewCompletedNotification {
            thread_id,
            turn_id,
            target_item_id: target,
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
