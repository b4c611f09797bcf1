//! `review/start`: the model reviews changes, and what it found is shown and kept.

use quipu_engine::{Input, ReviewOutcome, ReviewStart};
use quipu_wire::method::request;
use quipu_wire::{ReviewStartParams, UserInput};

use super::actor::Actor;
use super::replies::Pending;
use crate::Reply;
use quipu_prompt::review;

impl Actor {
    pub async fn review(
        &mut self,
        params: ReviewStartParams,
        merge_base: Option<&str>,
        reply: Reply<request::ReviewStart>,
    ) {
        if let Err(error) = self.recorder.reserve() {
            return reply.send(Err(error)).await;
        }
        let label = review::label(&params.target);
        let prompt = review::prompt(&params.target, merge_base);
        let content = vec![UserInput::Text {
            text: prompt,
            text_elements: Vec::new(),
        }];
        let message = self.user_message(content);
        let reply = Pending::Review {
            reply,
            thread_id: self.handle.id.clone(),
        };
        let reply = Some(self.replies.add(reply));
        let turn_id = uuid::Uuid::now_v7().to_string().into();
        self.step(Input::Review(ReviewStart {
            reply,
            turn_id,
            label,
            message,
        }))
        .await;
    }

    pub fn render_review(&self, last_message: Option<&str>, interrupted: bool) -> ReviewOutcome {
        let output = last_message
            .filter(|_| !interrupted)
            .and_then(review::parse);
        let ending = review::ending(output.as_ref());
        ReviewOutcome {
            review: ending.shown,
            message: ending.said,
            history: ending.history.to_vec(),
        }
    }
}
