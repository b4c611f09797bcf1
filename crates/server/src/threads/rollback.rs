//! `thread/rollback`: the last turns are taken back.

use quipu_journal::{Event, Record, event};
use quipu_wire::method::request;
use quipu_wire::{
    AccountRateLimitsUpdatedNotification, ServerNotification, Thread, ThreadRollbackResponse,
    ThreadTokenUsageUpdatedNotification,
};

use super::actor::Actor;
use super::turn_context::stored_baseline;
use crate::Refusal;
use crate::Reply;

impl Actor {
    pub async fn rollback(&mut self, turns: u32, reply: Reply<request::ThreadRollback>) {
        let answer = self.roll_back(turns).await;
        reply
            .send(answer.map(|thread| ThreadRollbackResponse { thread }))
            .await;
    }

    pub(super) async fn roll_back(&mut self, turns: u32) -> Result<Thread, Refusal> {
        if self.engine.active_turn().is_some() {
            return Err(Refusal::TurnRunning);
        }
        let Some(log) = self.recorder.log() else {
            return Err(Refusal::invalid_request(
                "thread rollback requires a persisted rollout path",
            ));
        };
        let path = log.path().to_owned();
        let failed = |error: quipu_journal::Error| {
            let text = format!(
                "failed to load rollout `{}` for rollback replay: {}",
                path.display(),
                error.reason()
            );
            Refusal::invalid_request(text)
        };
        if !log.is_materialized() {
            self.server.store.replay(&path).map_err(failed)?;
        }
        let rolled_back = Event::ThreadRolledBack(event::ThreadRolledBack { num_turns: turns });
        log.append(&[Record::from(rolled_back)])
            .and_then(|()| tokio::task::block_in_place(|| log.sync()))
            .map_err(failed)?;
        let (replay, history) = tokio::task::block_in_place(|| {
            let replay = self.server.store.replay(&path)?;
            let history = self.server.store.history(&replay.history, &path)?.items;
            Ok((replay, history))
        })
        .map_err(failed)?;
        let tokens = self.sampler.estimate(&history);
        self.engine.replace_history(history, tokens);
        self.recorder.set_in_memory();
        self.sampler.forget_sent();
        let baseline = stored_baseline(&replay);
        self.sampler.prompt_mut().set_baseline(baseline);
        if let Some(token_usage) = self.engine.usage().cloned() {
            let params = ThreadTokenUsageUpdatedNotification {
                thread_id: self.handle.id.to_string(),
                turn_id: uuid::Uuid::now_v7().to_string(),
                token_usage,
            };
            self.audience
                .notify(&ServerNotification::ThreadTokenUsageUpdated(params))
                .await;
            let rate_limits = self.engine.rate_limits().clone();
            let params = AccountRateLimitsUpdatedNotification { rate_limits };
            self.audience
                .notify(&ServerNotification::AccountRateLimitsUpdated(params))
                .await;
        }
        self.with_turns()
    }
}
