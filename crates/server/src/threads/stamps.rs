//! The times that notifications of a turn carry. The engine has no clock, so they are filled in when the
//! notification is about to be sent.

use std::collections::BTreeMap;

use quipu_wire::ServerNotification;

use crate::clock;

/// When what is under way began.
#[derive(Default)]
pub(super) struct Stamps {
    /// By the id of the review.
    reviews: BTreeMap<String, i64>,
}

impl Stamps {
    /// Fills in the times of a notification.
    pub fn fill(&mut self, notification: &mut ServerNotification) {
        match notification {
            ServerNotification::ItemStarted(params) => {
                params.started_at_ms = clock::unix_milliseconds();
            }
            ServerNotification::ItemCompleted(params) => {
                params.completed_at_ms = clock::unix_milliseconds();
            }
            ServerNotification::ItemAutoApprovalReviewStarted(params) => {
                params.started_at_ms = clock::unix_milliseconds();
                self.reviews
                    .insert(params.review_id.clone(), params.started_at_ms);
            }
            ServerNotification::ItemAutoApprovalReviewCompleted(params) => {
                params.completed_at_ms = clock::unix_milliseconds();
                let started = self.reviews.remove(&params.review_id);
                params.started_at_ms = started.unwrap_or(params.completed_at_ms);
            }
            ServerNotification::TurnCompleted(_) => self.reviews.clear(),
            _ => {}
        }
    }
}
