//! Questions while nobody follows their thread. They wait for a client that joins, who is asked again, but
//! not for ever: the turn of a user who is gone goes on without the permission, and ends.

use std::time::{Duration, Instant};

use quipu_engine::Input;

use super::actor::Actor;

impl Actor {
    /// How much longer questions wait; nothing if none does, or somebody is there to answer.
    pub fn patience(&mut self) -> Option<Duration> {
        if !self.subscribers.is_empty() {
            self.deserted = None;
        }
        if !self.subscribers.is_empty() || self.questions.is_empty() {
            return None;
        }
        let since = *self.deserted.get_or_insert_with(Instant::now);
        let limit = self.session.snapshot.session().question_timeout;
        Some(limit.saturating_sub(since.elapsed()))
    }

    /// Declines the questions that have waited long enough. Later ones are declined at once, until somebody
    /// comes back.
    pub async fn decline_deserted(&mut self) {
        if self.patience().is_none_or(|patience| !patience.is_zero()) {
            return;
        }
        let questions: Vec<u64> = self.questions.keys().copied().collect();
        tracing::warn!(
            thread = self.handle.id,
            questions = questions.len(),
            "questions are declined: nobody follows the thread"
        );
        for question in questions {
            // No answer is what a tool takes for a no.
            self.step(Input::Answered { question }).await;
            self.settle_outside(question).await;
        }
    }
}
