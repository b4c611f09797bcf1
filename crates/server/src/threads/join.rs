//! What clients see of a loaded thread, and how they join it.

use std::sync::Arc;

use quipu_engine::{Input, ReviewStart, ShellStart};
use quipu_journal::{Event, Record, event};
use quipu_rpc::ErrorObject;
use quipu_wire::method::request;
use quipu_wire::{
    AccountRateLimitsUpdatedNotification, ReviewStartParams, ServerNotification, Thread,
    ThreadResumeResponse, ThreadRollbackResponse, ThreadShellCommandResponse,
    ThreadTokenUsageUpdatedNotification, Turn, TurnStatus, UserInput,
};

use super::actor::Actor;
use super::load;
use super::message::Look;
use super::replies::Pending;
use super::rest::Rest;
use crate::Reply;
use crate::context::{review, stored};
use crate::hub::Client;

impl Actor {
    /// The thread as it is now.
    pub fn look(&mut self) -> Look {
        if let Some(log) = &mut self.log
            && log.is_materialized()
            && let Err(error) = log.flush()
        {
            tracing::error!(thread = self.handle.id, %error, "the thread's log cannot be written");
        }
        Look {
            thread: Thread {
                status: self.engine.status().clone(),
                ..self.facts.clone()
            },
            cwd: self.session.cwd.clone(),
            ephemeral: self.log.is_none(),
            rollout: self.rollout(),
            live: self.live_turn(),
        }
    }

    fn live_turn(&self) -> Option<Turn> {
        let id = self.engine.active_turn()?.to_owned();
        Some(Turn {
            id,
            items: self.live.items(),
            status: TurnStatus::InProgress,
            error: None,
        })
    }

    /// A client joins: it is answered, gets the questions that still wait, then everything that happens.
    pub async fn join(&mut self, client: Arc<Client>, reply: Reply<request::ThreadResume>) {
        let thread = match self.with_turns() {
            Ok(thread) => thread,
            Err(error) => return reply.send(Err(error)).await,
        };
        let session = self.session.clone();
        reply.send(Ok(resumed(thread, &session))).await;
        self.introduce_to_agents(&client);
        self.follow_with(client).await;
    }

    /// The thread with its turns, the running one as it is.
    fn with_turns(&mut self) -> Result<Thread, ErrorObject> {
        let look = self.look();
        let id = super::parse_id(&self.handle.id)?;
        let path = look.rollout.ok_or_else(|| load::no_rollout(id))?;
        let (mut thread, turns) = tokio::task::block_in_place(|| {
            let stored = load::stored_thread(&self.server, id, &path);
            let turns = load::turns(&self.server, &path, look.live.is_some())?;
            let thread = stored.unwrap_or_else(|_| look.thread.clone());
            Ok::<_, ErrorObject>((thread, turns))
        })?;
        thread.status = look.thread.status;
        thread.turns = turns;
        if let Some(live) = look.live {
            thread.turns.retain(|turn| turn.id != live.id);
            thread.turns.push(live);
        }
        Ok(thread)
    }

    pub async fn rollback(&mut self, turns: u32, reply: Reply<request::ThreadRollback>) {
        let answer = self.roll_back(turns).await;
        reply
            .send(answer.map(|thread| ThreadRollbackResponse { thread }))
            .await;
    }

    async fn roll_back(&mut self, turns: u32) -> Result<Thread, ErrorObject> {
        if self.engine.active_turn().is_some() {
            return Err(ErrorObject::invalid_request(
                "Cannot rollback while a turn is in progress.",
            ));
        }
        let Some(log) = &mut self.log else {
            return Err(ErrorObject::invalid_request(
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
            ErrorObject::invalid_request(text)
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
        let tokens = self.estimate(&history);
        self.engine.replace_history(history, tokens);
        self.rest = Rest::Awake;
        self.sent.clear();
        self.told.baseline = replay
            .context
            .as_ref()
            .filter(|_| replay.context_is_current)
            .and_then(stored::baseline);
        if let Some(token_usage) = self.engine.usage().cloned() {
            let params = ThreadTokenUsageUpdatedNotification {
                thread_id: self.handle.id.clone(),
                turn_id: uuid::Uuid::now_v7().to_string(),
                token_usage,
            };
            self.subscribers
                .notify(&ServerNotification::ThreadTokenUsageUpdated(params))
                .await;
            let rate_limits = self.engine.rate_limits().clone();
            let params = AccountRateLimitsUpdatedNotification { rate_limits };
            self.subscribers
                .notify(&ServerNotification::AccountRateLimitsUpdated(params))
                .await;
        }
        self.with_turns()
    }

    pub async fn shell(&mut self, command: String, reply: Reply<request::ThreadShellCommand>) {
        let turn_id = uuid::Uuid::now_v7().to_string();
        let item_id = uuid::Uuid::new_v4().to_string();
        let effects = self.engine_step(Input::Shell(ShellStart {
            turn_id,
            item_id,
            command,
        }));
        reply.send(Ok(ThreadShellCommandResponse {})).await;
        self.perform(effects).await;
    }

    pub async fn review(
        &mut self,
        params: ReviewStartParams,
        merge_base: Option<&str>,
        reply: Reply<request::ReviewStart>,
    ) {
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
        let turn_id = uuid::Uuid::now_v7().to_string();
        self.step(Input::Review(ReviewStart {
            reply,
            turn_id,
            label,
            message,
        }))
        .await;
    }
}

/// The answer to `thread/resume`.
pub(crate) fn resumed(thread: Thread, session: &super::Session) -> ThreadResumeResponse {
    ThreadResumeResponse {
        thread,
        model: session.model.clone(),
        model_provider: session.provider.id.clone(),
        service_tier: session.service_tier,
        cwd: session.cwd_text(),
        approval_policy: session.approval_policy.clone(),
        approvals_reviewer: session.approvals_reviewer,
        sandbox: session.sandbox.clone(),
        reasoning_effort: session.effort,
    }
}
