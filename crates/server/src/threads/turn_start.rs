//! `turn/start`: the user's input begins a turn, or joins the one that runs.

use std::sync::Arc;

use quipu_engine::{Input, MAX_RECORDED, Start, UserMessage};
use quipu_wire::method::request;
use quipu_wire::{Json, TurnStartParams, UserInput};

use super::actor::Actor;
use super::replies::Pending;
use super::settings_update;
use crate::Refusal;
use crate::Reply;
use quipu_prompt::skills::Skill;
use quipu_prompt::{input, skills};

impl Actor {
    pub async fn start_turn(
        &mut self,
        params: TurnStartParams,
        client_name: Option<String>,
        reply: Reply<request::TurnStart>,
    ) {
        if params.input.is_empty() {
            return reply.send(Err(Refusal::EmptyInput)).await;
        }
        let rights = match self.session.rights(&self.server, &params) {
            Ok(rights) => rights,
            Err(refusal) => return reply.send(Err(refusal)).await,
        };
        self.client_name = client_name.or(self.client_name.take());
        self.reports.prompt(&self.session, &params.input);
        super::skills::renew_for(self, &params.input);
        let message = self.user_message(params.input.clone());
        if let Some(error) = too_long(&message) {
            return reply.send(Err(error)).await;
        }
        if self.engine.active_turn().is_some() && !self.takes_pending(&message) {
            return reply.send(Err(Refusal::Overloaded)).await;
        }
        if let Err(error) = self.recorder.reserve() {
            return reply.send(Err(error)).await;
        }
        self.goal.user_acts();
        let before = settings_update::settings(&self.session);
        self.change_session(rights, &params);
        settings_update::notify_changes(self, &before).await;
        self.prepare_turn(params.output_schema).await;
        let reply = self.replies.add(Pending::Start(reply));
        let turn_id = uuid::Uuid::now_v7().to_string().into();
        self.step(Input::Start(Start {
            reply,
            turn_id,
            message,
        }))
        .await;
    }

    /// Sets what holds for the next turn, unless one runs that takes the input.
    pub(super) async fn prepare_turn(&mut self, output_schema: Option<Json>) {
        if self.engine.active_turn().is_some() {
            return;
        }
        if let Some(warning) = self.session.learn_window(&self.server).await {
            self.audience.warn(&warning).await;
        }
        self.renew_servers();
        self.tools.learn_secrets(&self.server, &self.session);
        self.sampler.begin_turn(output_schema);
        let info = Arc::clone(&self.session.info);
        self.engine
            .set_limits(info.effective_context_window(), info.compaction_limit());
    }

    pub(super) fn user_message(&self, content: Vec<UserInput>) -> UserMessage {
        let skills = self.sampler.prompt().skills();
        let named = skills.named(&content, self.sampler.mcp());
        let is_image = |input: &UserInput| matches!(input, UserInput::LocalImage { .. });
        if named.is_empty() && !content.iter().any(is_image) {
            return self.read_message(content, Vec::new());
        }
        // Files may be slow, so they are not read on the threads that serve others.
        tokio::task::block_in_place(|| self.read_message(content, named))
    }

    fn read_message(&self, content: Vec<UserInput>, named: Vec<&Skill>) -> UserMessage {
        let message = input::user_message(&content);
        let bodies = named
            .into_iter()
            .filter_map(|skill| match skills::load(skill) {
                Ok(body) => Some(body),
                Err(warning) => {
                    tracing::warn!(thread = %self.handle.id, warning);
                    None
                }
            });
        let notes = self
            .sampler
            .prompt()
            .skills()
            .notes(&content, self.sampler.mcp());
        let history = message.into_iter().chain(bodies).chain(notes).collect();
        UserMessage {
            item_id: uuid::Uuid::new_v4().to_string().into(),
            content,
            history,
        }
    }

    /// Takes room for more input that waits for the model; `false` if the turns of all threads hold too much.
    pub fn takes_pending(&mut self, message: &UserMessage) -> bool {
        let bytes = self.engine.pending_bytes() + message.bytes();
        match &mut self.pending_input {
            Some(share) => share.resize(bytes),
            none => {
                *none = self.server.budgets.pending.share(bytes);
                none.is_some()
            }
        }
    }

    pub fn give_back_pending(&mut self) {
        let Some(share) = &mut self.pending_input else {
            return;
        };
        match self.engine.pending_bytes() {
            0 => self.pending_input = None,
            bytes => drop(share.resize(bytes)),
        }
    }
}

/// Why input is refused that cannot be stored, for the images or skills that it names.
pub(super) fn too_long(message: &UserMessage) -> Option<Refusal> {
    let sizes = message.history.iter().map(|item| item.get().len());
    let size = sizes.max().filter(|size| *size > MAX_RECORDED)?;
    Some(Refusal::InputTooLarge(size))
}
