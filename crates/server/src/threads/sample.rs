//! `thread/sample`: a question beside a thread. The model reads the history and the question; its answer goes to the
//! client that asked, and nothing of it is stored.

use quipu_engine::{Purpose, TurnId};
use quipu_model::{Client as ModelClient, Completed, ModelEvent, Request, SocketSlot};
use quipu_prompt::message;
use quipu_wire::method::request;
use quipu_wire::{Json, ResponseItem, ThreadSampleParams, ThreadSampleResponse, TurnStatus};

use super::actor::Actor;
use super::model_items;
use super::sampling::history_item;
use super::spending::Counter;
use super::verb::Verb;
use crate::samples::Cancellable;
use crate::{Refusal, Reply, fail};

/// Asks the model in a task of its own, as soon as the MCP servers have started or failed to: their tools are part of
/// what the provider has in its cache.
pub(super) async fn sample(
    actor: &mut Actor,
    params: Box<ThreadSampleParams>,
    mut cancellable: Cancellable,
    reply: Reply<request::ThreadSample>,
) {
    let fleet = actor.sampler.mcp().fleet.clone();
    if !fleet.is_settled() {
        let thread = actor.handle.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = fleet.settled() => {
                    let verb = Verb::Sample { params, cancellable, reply };
                    thread.send(verb).await;
                }
                () = cancellable.cancelled() => reply.send(Err(cancelled())).await,
            }
        });
        return;
    }
    let question = match question(actor, &params).await {
        Ok(question) => question,
        Err(error) => return reply.send(Err(error)).await,
    };
    tokio::spawn(async move {
        let answer = tokio::select! {
            biased;
            () = cancellable.cancelled() => Err(cancelled()),
            answer = question.answer() => answer,
        };
        // The client may use the id again once it is answered.
        drop(cancellable);
        reply.send(answer).await;
    });
}

fn cancelled() -> Refusal {
    Refusal::internal("sample canceled")
}

/// A question, ready to be asked.
struct Question {
    turn_id: String,
    model: ModelClient,
    request: Request,
    counter: Counter,
}

async fn question(actor: &mut Actor, params: &ThreadSampleParams) -> Result<Question, Refusal> {
    if actor.recorder.is_ephemeral() || actor.audience.agent_depth() > 0 {
        let text = "sample source must be a persistent root thread";
        return Err(Refusal::invalid_request(text));
    }
    if !is_last_turn(actor, &params.expected_turn_id) {
        let text = "sample source turn must be the latest finished turn";
        return Err(Refusal::invalid_request(text));
    }
    let checked = actor
        .sampler
        .spending_mut()
        .check(&actor.session, &actor.handle);
    let warnings = checked.map_err(|error| Refusal::internal(error.message))?;
    for warning in warnings {
        actor.audience.warn_of(&actor.handle.id, warning).await;
    }
    let turn_id = TurnId::from(params.expected_turn_id.as_str());
    let spending = actor.sampler.spending();
    let counter = spending.counter(&actor.session, &turn_id, &actor.session.info);
    Ok(Question {
        turn_id: params.expected_turn_id.clone(),
        model: actor.sampler.model().clone(),
        request: request(actor, &turn_id, params),
        counter,
    })
}

/// Whether a turn is the last one, and has ended.
fn is_last_turn(actor: &mut Actor, turn_id: &str) -> bool {
    if actor.engine.active_turn().is_some() {
        return false;
    }
    let thread = actor.snapshot().with_turns(&actor.server);
    let last = thread.ok().and_then(|mut thread| thread.turns.pop());
    last.is_some_and(|last| last.id == turn_id && last.status != TurnStatus::InProgress)
}

/// The request of a turn that begins with the question, but for what belongs to the turn before.
fn request(actor: &mut Actor, turn_id: &TurnId, params: &ThreadSampleParams) -> Request {
    let mut request = actor.request(turn_id, Purpose::Turn);
    actor.sampler.forget_tools();
    let prompt = message::user_text(params.prompt.as_str());
    request.input.push(history_item(&prompt));
    request.output_schema = None;
    request.socket = SocketSlot::default();
    request.meta.turn_state = Default::default();
    if let (Some(reasoning), Some(effort)) = (&mut request.reasoning, params.effort) {
        reasoning.effort = Some(effort);
    }
    request
}

impl Question {
    /// The model's answer. A tool that it calls is not run.
    async fn answer(self) -> Result<ThreadSampleResponse, Refusal> {
        let mut stream = self.model.stream(self.request);
        let mut said = Said::default();
        while let Some(event) = stream.next().await {
            fail::point("model", "sample");
            match event {
                ModelEvent::Retrying(_) => said = Said::default(),
                ModelEvent::ItemDone { item, .. } => said.add(&item),
                ModelEvent::Completed(completed) => {
                    if let Some(usage) = &completed.usage {
                        self.counter.count(usage);
                    }
                    return Ok(said.response(self.turn_id, *completed));
                }
                ModelEvent::Failed(error) => return Err(Refusal::internal(error.to_string())),
                _ => {}
            }
        }
        Err(Refusal::internal("sample failed: the answer broke off"))
    }
}

/// What the model says in its answer.
#[derive(Default)]
struct Said {
    text: String,
    has_call: bool,
}

impl Said {
    fn add(&mut self, item: &quipu_model::OutputItem) {
        let Ok(raw) = Json::try_from((*item.raw).to_owned()) else {
            return tracing::warn!("model item nested too deeply; dropped");
        };
        match raw.parse() {
            Ok(ResponseItem::Message { role, content, .. }) if role == "assistant" => {
                self.text.push_str(&model_items::text_of(&content));
            }
            Ok(item) => self.has_call |= model_items::tool_call(item, &raw).is_some(),
            Err(error) => tracing::warn!(%error, "failed to read an item of the model"),
        }
    }

    fn response(self, turn_id: String, completed: Completed) -> ThreadSampleResponse {
        let usage = completed.usage;
        let is_text = !self.has_call && !self.text.is_empty();
        ThreadSampleResponse {
            source_turn_id: turn_id,
            response_id: completed.response_id,
            text: is_text.then_some(self.text),
            input_tokens: usage.as_ref().map(|it| it.input),
            cached_input_tokens: usage.as_ref().map(|it| it.cached_input),
            output_tokens: usage.as_ref().map(|it| it.output),
        }
    }
}
