//! The voice conversation of a thread. A task holds the connection to the provider; what it hears comes to the
//! thread as messages, and work that the voice model hands over becomes a turn.

use std::sync::Arc;

use quipu_config::{Feature, settings};
use quipu_engine::{Input, Start};
use quipu_model::{
    Client as ModelClient, HistoryItem, RealtimeEvent, RealtimeInput, RealtimeSetup,
    RealtimeVersion,
};
use quipu_prompt::realtime as prompt;
use quipu_wire::method::request::{
    ThreadRealtimeAppendAudio, ThreadRealtimeAppendText, ThreadRealtimeStart, ThreadRealtimeStop,
};
use quipu_wire::{
    Json, RealtimeConversationVersion, ServerNotification, ThreadItem,
    ThreadRealtimeAppendAudioResponse, ThreadRealtimeAppendTextResponse, ThreadRealtimeAudioChunk,
    ThreadRealtimeClosedNotification, ThreadRealtimeErrorNotification,
    ThreadRealtimeItemAddedNotification, ThreadRealtimeOutputAudioDeltaNotification,
    ThreadRealtimeStartParams, ThreadRealtimeStartResponse, ThreadRealtimeStartedNotification,
    ThreadRealtimeStopResponse, ThreadRealtimeTranscriptUpdatedNotification, UserInput,
};
use serde_json::value::RawValue;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::actor::Actor;
use super::message::{Message, ThreadHandle};
use super::replies::Pending;
use super::sampling::history_item;
use super::session::Session;
use super::user_message::check_size;
use super::{join, turn_start};
use crate::Refusal;
use crate::Reply;
use crate::hub::Client;

/// What waits to be sent to the provider at most. Sound beyond that is dropped.
const QUEUE: usize = 256;

/// What reaches a thread about its conversation.
pub(crate) enum RealtimeMessage {
    /// A request of a client, which follows the thread from now on.
    Ask {
        client: Arc<Client>,
        request: RealtimeRequest,
    },
    /// The connection of this number is open.
    Started { number: u64 },
    /// Something came over the connection of this number.
    Event { number: u64, event: RealtimeEvent },
}

/// What a client wants.
pub(crate) enum RealtimeRequest {
    Start(ThreadRealtimeStartParams, Reply<ThreadRealtimeStart>),
    Audio(ThreadRealtimeAudioChunk, Reply<ThreadRealtimeAppendAudio>),
    Text(String, Reply<ThreadRealtimeAppendText>),
    Stop(Reply<ThreadRealtimeStop>),
}

/// The conversation of a thread, if there is one.
#[derive(Default)]
pub(super) struct Realtime {
    running: Option<Running>,
    /// Conversations so far. What an earlier one still says is ignored.
    count: u64,
}

struct Running {
    number: u64,
    version: RealtimeVersion,
    session_id: String,
    is_open: bool,
    inputs: mpsc::Sender<RealtimeInput>,
    task: AbortHandle,
    /// The work that was handed over last, until its turn ends.
    handover: Option<String>,
    /// What the agent said last about it.
    last_message: Option<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Realtime {
    /// What the model is told while the user speaks.
    pub fn instructions(&self, session: &Session) -> Option<String> {
        let configured = || session.snapshot.realtime().start_instructions;
        let default = || prompt::start_instructions().to_owned();
        self.is_open().then(|| configured().unwrap_or_else(default))
    }

    /// Whether the user speaks.
    pub fn is_open(&self) -> bool {
        self.running.as_ref().is_some_and(|it| it.is_open)
    }

    /// Ends the conversation without a word.
    pub fn stop(&mut self) {
        self.running = None;
    }

    fn send(&self, input: RealtimeInput) -> Result<(), Refusal> {
        let not_running = || Refusal::invalid_request("conversation is not running");
        let running = self.running.as_ref().ok_or_else(not_running)?;
        let is_sound = matches!(input, RealtimeInput::Audio(_));
        match running.inputs.try_send(input) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) if is_sound => {
                tracing::warn!("realtime queue is full; sound dropped");
                Ok(())
            }
            Err(TrySendError::Full(_)) => Err(Refusal::Overloaded),
            Err(TrySendError::Closed(_)) => Err(not_running()),
        }
    }

    /// Keeps up with the turn that does what was handed over.
    pub fn track(&mut self, notification: &ServerNotification) {
        let Some(running) = &mut self.running else {
            return;
        };
        if running.handover.is_none() {
            return;
        }
        match notification {
            ServerNotification::ItemCompleted(params) => {
                let ThreadItem::AgentMessage { text, .. } = &params.item else {
                    return;
                };
                match running.version {
                    RealtimeVersion::V1 => running.hand_back(text.clone()),
                    RealtimeVersion::V2 => running.last_message = Some(text.clone()),
                }
            }
            ServerNotification::TurnCompleted(params) => {
                let failure = params.turn.error.as_ref().map(|it| it.message.clone());
                let said = running.last_message.take();
                // The voice model waits for the result of its call, whatever it is.
                let result = match running.version {
                    RealtimeVersion::V1 => failure,
                    RealtimeVersion::V2 => {
                        let nothing = || "The task ended without a message.".to_owned();
                        Some(failure.or(said).unwrap_or_else(nothing))
                    }
                };
                if let Some(result) = result {
                    running.hand_back(result);
                }
                running.handover = None;
            }
            _ => {}
        }
    }
}

impl Running {
    fn hand_back(&self, text: String) {
        let Some(id) = self.handover.clone() else {
            return;
        };
        let handed = self.inputs.try_send(RealtimeInput::HandedBack { id, text });
        if handed.is_err() {
            tracing::warn!("realtime queue is full; a result is lost");
        }
    }
}

/// Deals with a message about the conversation.
pub(super) async fn receive(actor: &mut Actor, message: RealtimeMessage) {
    match message {
        RealtimeMessage::Ask { client, request } => ask(actor, client, request).await,
        RealtimeMessage::Started { number } => started(actor, number).await,
        RealtimeMessage::Event { number, event } => {
            let current = actor.realtime.running.as_ref();
            if current.is_some_and(|running| running.number == number) {
                heard(actor, event).await;
            }
        }
    }
}

/// Does what a client wants. The answer comes before anything that follows from it.
async fn ask(actor: &mut Actor, client: Arc<Client>, request: RealtimeRequest) {
    let allowed = match actor.session.has_feature(Feature::RealtimeConversation) {
        true => Ok(()),
        false => {
            let id = &actor.handle.id;
            let text = format!("thread {id} does not support realtime conversation");
            Err(Refusal::invalid_request(text))
        }
    };
    if allowed.is_ok() {
        join::add_follower(actor, client).await;
    }
    match request {
        RealtimeRequest::Start(params, reply) => {
            let started = allowed.and_then(|()| start(actor, params));
            let answer = started.map(|()| ThreadRealtimeStartResponse {});
            reply.send(answer).await;
        }
        RealtimeRequest::Audio(audio, reply) => {
            let input = RealtimeInput::Audio(audio.data);
            let sent = allowed.and_then(|()| actor.realtime.send(input));
            let answer = sent.map(|()| ThreadRealtimeAppendAudioResponse {});
            reply.send(answer).await;
        }
        RealtimeRequest::Text(text, reply) => {
            let input = RealtimeInput::Text(text);
            let sent = allowed.and_then(|()| actor.realtime.send(input));
            let answer = sent.map(|()| ThreadRealtimeAppendTextResponse {});
            reply.send(answer).await;
        }
        RealtimeRequest::Stop(reply) => {
            let stops = allowed.is_ok();
            let answer = allowed.map(|()| ThreadRealtimeStopResponse {});
            reply.send(answer).await;
            if stops {
                actor.realtime.stop();
                closed(actor, "requested").await;
            }
        }
    }
}

/// Begins a conversation in place of the one that there may be.
fn start(actor: &mut Actor, params: ThreadRealtimeStartParams) -> Result<(), Refusal> {
    actor.load_history()?;
    let history: Vec<HistoryItem> = actor
        .engine
        .own_history()
        .iter()
        .map(history_item)
        .collect();
    let setup = RealtimeSetup {
        originator: actor.server.identity.originator().to_owned(),
        session_id: params
            .session_id
            .unwrap_or_else(|| actor.handle.id.to_string()),
        ..setup(&actor.session, &params.prompt, &history)
    };
    actor.realtime.count += 1;
    let number = actor.realtime.count;
    let (inputs, queue) = mpsc::channel(QUEUE);
    let (version, session_id) = (setup.version, setup.session_id.clone());
    let model = actor.sampler.model().clone();
    let task = tokio::spawn(converse(actor.handle.clone(), number, model, setup, queue));
    actor.realtime.running = Some(Running {
        number,
        version,
        session_id,
        is_open: false,
        inputs,
        task: task.abort_handle(),
        handover: None,
        last_message: None,
    });
    Ok(())
}

/// What the settings say about conversations.
fn setup(session: &Session, prompt: &str, history: &[HistoryItem]) -> RealtimeSetup {
    let configured = session.snapshot.realtime();
    let prompt = configured
        .backend_prompt
        .unwrap_or_else(|| prompt.to_owned());
    let context = configured
        .startup_context
        .unwrap_or_else(|| prompt::startup_context(history, &session.cwd_text()));
    RealtimeSetup {
        base_url: configured.base_url,
        model: configured.model,
        instructions: match context.is_empty() {
            true => prompt,
            false => format!("{prompt}\n\n{context}"),
        },
        version: match configured.version {
            settings::RealtimeVersion::V1 => RealtimeVersion::V1,
            settings::RealtimeVersion::V2 => RealtimeVersion::V2,
        },
        transcribes: configured.transcribes,
        ..RealtimeSetup::default()
    }
}

/// Holds the connection, and passes on what comes. A thread that cannot keep up slows the provider down.
async fn converse(
    thread: ThreadHandle,
    number: u64,
    model: ModelClient,
    setup: RealtimeSetup,
    mut inputs: mpsc::Receiver<RealtimeInput>,
) {
    let pass = |event| Message::Realtime(RealtimeMessage::Event { number, event });
    let mut session = match model.realtime(&setup).await {
        Ok(session) => session,
        Err(reason) => {
            thread.send(pass(RealtimeEvent::Failed(reason))).await;
            return;
        }
    };
    let started = RealtimeMessage::Started { number };
    thread.send(Message::Realtime(started)).await;
    while let Some(event) = session.next(&mut inputs).await {
        if !thread.send(pass(event)).await {
            return;
        }
    }
}

async fn started(actor: &mut Actor, number: u64) {
    let running = actor.realtime.running.as_mut();
    let Some(running) = running.filter(|running| running.number == number) else {
        return;
    };
    running.is_open = true;
    let params = ThreadRealtimeStartedNotification {
        thread_id: actor.handle.id.to_string(),
        session_id: Some(running.session_id.clone()),
        version: match running.version {
            RealtimeVersion::V1 => RealtimeConversationVersion::V1,
            RealtimeVersion::V2 => RealtimeConversationVersion::V2,
        },
    };
    let notification = ServerNotification::ThreadRealtimeStarted(params);
    actor.audience.notify(&notification).await;
}

/// Something came from the provider.
async fn heard(actor: &mut Actor, event: RealtimeEvent) {
    let thread_id = actor.handle.id.to_string();
    let notification = match event {
        RealtimeEvent::Audio(audio) => ServerNotification::ThreadRealtimeOutputAudioDelta(
            ThreadRealtimeOutputAudioDeltaNotification {
                thread_id,
                audio: ThreadRealtimeAudioChunk {
                    data: audio.data,
                    sample_rate: audio.sample_rate,
                    num_channels: audio.channels,
                    samples_per_channel: audio.samples_per_channel,
                    item_id: audio.item_id,
                },
            },
        ),
        RealtimeEvent::Transcript { role, text } => {
            ServerNotification::ThreadRealtimeTranscriptUpdated(
                ThreadRealtimeTranscriptUpdatedNotification {
                    thread_id,
                    role: role.to_owned(),
                    text,
                },
            )
        }
        RealtimeEvent::Item(item) => return item_added(actor, item).await,
        RealtimeEvent::Handover { id, text, item } => {
            item_added(actor, item).await;
            return take_over(actor, id, text).await;
        }
        RealtimeEvent::Failed(message) => {
            let was_open = actor.realtime.is_open();
            actor.realtime.stop();
            let params = ThreadRealtimeErrorNotification { thread_id, message };
            let notification = ServerNotification::ThreadRealtimeError(params);
            actor.audience.notify(&notification).await;
            if was_open {
                closed(actor, "error").await;
            }
            return;
        }
        RealtimeEvent::Closed => {
            actor.realtime.stop();
            return closed(actor, "transport_closed").await;
        }
    };
    actor.audience.notify(&notification).await;
}

async fn item_added(actor: &mut Actor, item: Box<RawValue>) {
    let Ok(item) = Json::try_from(item) else {
        tracing::warn!("realtime item nested too deeply; dropped");
        return;
    };
    let thread_id = actor.handle.id.to_string();
    let params = ThreadRealtimeItemAddedNotification { thread_id, item };
    let notification = ServerNotification::ThreadRealtimeItemAdded(params);
    actor.audience.notify(&notification).await;
}

async fn closed(actor: &mut Actor, reason: &str) {
    let params = ThreadRealtimeClosedNotification {
        thread_id: actor.handle.id.to_string(),
        reason: Some(reason.to_owned()),
    };
    let notification = ServerNotification::ThreadRealtimeClosed(params);
    actor.audience.notify(&notification).await;
}

/// Begins a turn with what was handed over, or gives it to the running one.
async fn take_over(actor: &mut Actor, id: String, text: String) {
    if let Some(running) = &mut actor.realtime.running {
        running.handover = Some(id);
        running.last_message = None;
    }
    if let Err(reason) = begin_turn(actor, text).await
        && let Some(running) = &mut actor.realtime.running
    {
        running.hand_back(reason.to_string());
        running.handover = None;
    }
}

async fn begin_turn(actor: &mut Actor, text: String) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::EmptyInput);
    }
    actor.load_history()?;
    let content = vec![UserInput::Text {
        text,
        text_elements: Vec::new(),
    }];
    let message = actor.sampler.user_message(&actor.handle.id, content);
    check_size(&message)?;
    if actor.engine.active_turn().is_some() {
        let pending = actor.sampler.pending_mut();
        pending.grow(&actor.server, &actor.engine, &message)?;
    }
    actor.recorder.reserve()?;
    turn_start::prepare(actor, None).await;
    let (done, mut taken) = oneshot::channel();
    let reply = actor.replies.add(Pending::AgentInput(done));
    let turn_id = Uuid::now_v7().to_string().into();
    let start = Start {
        reply,
        turn_id,
        message,
    };
    actor.step(Input::Start(start)).await;
    match taken.try_recv() {
        Ok(Err(reason)) => Err(Refusal::invalid_request(reason)),
        _ => Ok(()),
    }
}
