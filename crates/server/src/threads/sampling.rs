//! Asking the model: the request is made of the history, the settings and the tools, and a task reads the answer.

use std::sync::Arc;

use quipu_config::Feature;
use quipu_engine::{Purpose, SampleId, Thread as Engine, ThreadId, TurnId};
use quipu_model::{
    Client as ModelClient, HistoryItem, Reasoning, Request, RequestMeta, SocketSlot, ToolSet,
    TurnState,
};
use quipu_prompt::history::ContextSize;
use quipu_prompt::{compaction, review};
use quipu_tools::McpScope;
use quipu_wire::{Json, ModeKind, ServiceTier};
use tokio::task::JoinHandle;

use super::actor::Actor;
use super::mcp::{McpMessage, Servers};
use super::message::Message;
use super::model_stream::{self, Asked};
use super::remote_compaction;
use super::session::Session;
use super::spending::Spending;
use super::turn_context::PromptState;
use super::turn_settings::TurnChoice;
use super::user_message::PendingShare;
use crate::Server;

/// The header that names the kind of agent a request is for.
pub(super) const SUBAGENT: &str = "x-openai-subagent";

/// What requests to the model are made of and what became of the last one.
pub(super) struct Sampler {
    model: ModelClient,
    prompt: PromptState,
    /// The history as the model crate holds it, so that only what is new is converted.
    sent: Vec<HistoryItem>,
    turn: TurnSettings,
    mcp: Servers,
    /// The websocket to the provider, if it has any.
    socket: SocketSlot,
    spending: Spending,
    /// The request under way.
    task: Option<(SampleId, JoinHandle<()>)>,
    pending: PendingShare,
    /// What the running turn has changed for itself.
    choice: Option<Box<TurnChoice>>,
}

/// What holds for one turn only.
#[derive(Default)]
struct TurnSettings {
    output_schema: Option<Json>,
    /// The tools offered, kept for the requests of the turn.
    tools: Option<ToolSet>,
    /// The model was last asked as a reviewer, who may not ask the user anything.
    is_review: bool,
    /// A token of the provider that the requests of one turn share.
    state: TurnState,
}

impl Sampler {
    pub fn new(
        model: ModelClient,
        prompt: PromptState,
        mcp: Servers,
        spending: Spending,
    ) -> Sampler {
        Sampler {
            model,
            prompt,
            sent: Vec::new(),
            turn: TurnSettings::default(),
            mcp,
            socket: SocketSlot::default(),
            spending,
            task: None,
            pending: PendingShare::default(),
            choice: None,
        }
    }

    /// The room that input takes while it waits for the model.
    pub fn pending_mut(&mut self) -> &mut PendingShare {
        &mut self.pending
    }

    pub fn model(&self) -> &ModelClient {
        &self.model
    }

    pub fn prompt(&self) -> &PromptState {
        &self.prompt
    }

    pub fn prompt_mut(&mut self) -> &mut PromptState {
        &mut self.prompt
    }

    /// The tools of MCP servers.
    pub fn mcp(&self) -> &McpScope {
        self.mcp.scope()
    }

    pub fn mcp_mut(&mut self) -> &mut Servers {
        &mut self.mcp
    }

    pub fn begin_turn(&mut self, output_schema: Option<Json>) {
        self.spending.begin_turn();
        self.turn = TurnSettings {
            output_schema,
            ..TurnSettings::default()
        };
    }

    pub fn spending(&self) -> &Spending {
        &self.spending
    }

    pub fn spending_mut(&mut self) -> &mut Spending {
        &mut self.spending
    }

    pub fn output_schema(&self) -> Option<&Json> {
        self.turn.output_schema.as_ref()
    }

    /// Why the model was last asked, as far as its tools depend on it.
    pub fn last_purpose(&self) -> Purpose {
        match self.turn.is_review {
            true => Purpose::Review,
            false => Purpose::Turn,
        }
    }

    pub fn take_choice(&mut self) -> Option<Box<TurnChoice>> {
        self.choice.take()
    }

    pub fn keep_choice(&mut self, choice: Box<TurnChoice>) {
        self.choice = Some(choice);
    }

    /// The next request offers tools that are made for it.
    pub fn forget_tools(&mut self) {
        self.turn.tools = None;
    }

    /// The history as it was last sent.
    pub fn sent(&self) -> &[HistoryItem] {
        &self.sent
    }

    /// The history was replaced or is no longer in memory.
    pub fn forget_sent(&mut self) {
        self.sent = Vec::new();
    }

    /// Nothing will be asked for a while.
    pub fn disconnect(&self) {
        self.socket.close();
    }

    /// Ends a request whose answer does not matter any more.
    pub fn cancel(&mut self, sample: SampleId) {
        if let Some((_, task)) = self.task.take_if(|(running, _)| *running == sample) {
            task.abort();
        }
    }

    /// About how many tokens a history that no provider has counted takes.
    pub fn estimate(&self, history: &[Json]) -> i64 {
        let items: Vec<HistoryItem> = history.iter().map(history_item).collect();
        let size = ContextSize::estimated(self.prompt.base_instructions(), &items);
        i64::try_from(size.tokens(true)).unwrap_or(i64::MAX)
    }

    /// The history in the model crate's form; of the thread's own history only what is new is converted.
    fn history_items(&mut self, engine: &Engine, purpose: Purpose) -> Vec<HistoryItem> {
        if purpose == Purpose::Review {
            return engine.history().iter().map(history_item).collect();
        }
        let items = engine.own_history();
        if self.sent.len() > items.len() {
            self.sent.clear();
        }
        let new = items[self.sent.len()..].iter().map(history_item);
        self.sent.extend(new);
        self.sent.clone()
    }

    /// The request for the history as it is now.
    fn request(&mut self, subject: &Subject<'_>, engine: &Engine, tools: ToolSet) -> Request {
        let (session, purpose) = (subject.session, subject.purpose);
        let info = &session.info;
        let input = self.input(session, engine, purpose);
        let settings = session.snapshot.model();
        let instructions = match purpose {
            Purpose::Review => review::instructions().into(),
            Purpose::Turn | Purpose::Compaction { .. } => {
                Arc::clone(self.prompt.base_instructions())
            }
        };
        let reviewer = settings.review_model.filter(|_| purpose == Purpose::Review);
        let schema = self.output_schema().filter(|_| purpose == Purpose::Turn);
        let effort = session.effort.or(info.default_reasoning_level);
        let reasons = info.supports_reasoning_summaries || info.default_reasoning_level.is_some();
        Request {
            model: reviewer.unwrap_or_else(|| session.model.clone()),
            instructions,
            input,
            tools,
            tool_choice: Default::default(),
            parallel_tool_calls: info.supports_parallel_tool_calls,
            reasoning: reasons.then_some(Reasoning {
                effort,
                summary: session.summary,
            }),
            verbosity: settings.verbosity.filter(|_| info.support_verbosity),
            output_schema: schema.map(Json::shared),
            prompt_cache_key: subject.thread_id.to_string(),
            service_tier: session.service_tier(),
            accepts_images: info.accepts_images(),
            max_output_tokens: info.max_output_tokens,
            context_window: info.context_window,
            compress: session.has_feature(Feature::EnableRequestCompression),
            socket: self.socket.clone(),
            meta: subject.meta(self.turn.state.clone()),
        }
    }

    /// What the model is to read: the history, and for a compaction the request for a summary.
    fn input(&mut self, session: &Session, engine: &Engine, purpose: Purpose) -> Vec<HistoryItem> {
        let mut input = self.history_items(engine, purpose);
        if let Purpose::Compaction { dropped } = purpose {
            for _ in 0..dropped {
                compaction::drop_oldest(&mut input);
            }
            if remote_compaction::is_meant(session, purpose) {
                let instructions = self.prompt.base_instructions();
                return remote_compaction::fitted(input, instructions, &session.info);
            }
            let instructions = session.snapshot.instructions();
            let custom = instructions.compact_prompt.as_deref();
            input.push(history_item(&compaction::request(custom)));
        }
        input
    }
}

/// What a request is about.
struct Subject<'a> {
    server: &'a Server,
    session: &'a Session,
    thread_id: &'a ThreadId,
    turn_id: &'a TurnId,
    purpose: Purpose,
    agent_depth: i32,
}

impl Subject<'_> {
    fn meta(&self, turn_state: TurnState) -> RequestMeta {
        let identity = &self.server.identity;
        let label = match self.purpose {
            Purpose::Review => Some("review"),
            Purpose::Turn | Purpose::Compaction { .. } => {
                (self.agent_depth > 0).then_some("collab_spawn")
            }
        };
        let label = label.map(|it| (SUBAGENT, it));
        let headers = self.session.residency().into_iter().chain(label);
        let turn_metadata = serde_json::json!({ "turn_id": self.turn_id.as_str() });
        RequestMeta {
            originator: identity.originator().to_owned(),
            user_agent: identity.user_agent(self.server.settings.config.env()),
            thread_id: self.thread_id.to_string(),
            turn_metadata: Some(turn_metadata.to_string()),
            turn_state,
            traceparent: None,
            headers: headers
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    }
}

impl Session {
    /// The service tier, unless it is the fast one and that is switched off.
    fn service_tier(&self) -> Option<ServiceTier> {
        let fast = self.has_feature(Feature::FastMode);
        let tier = self.service_tier;
        tier.filter(|tier| fast || *tier != ServiceTier::Fast)
    }

    /// The header that says where data must stay, for the provider that knows it.
    fn residency(&self) -> Option<(&'static str, &'static str)> {
        let knows_it = self.provider.id == "openai" || self.provider.requires_openai_auth;
        let required = self.snapshot.requirements().residency.as_ref();
        let region = required.filter(|_| knows_it)?.value.as_str();
        Some(("x-openai-internal-codex-residency", region))
    }
}

impl Actor {
    /// Asks the model, but not before the MCP servers have started or failed to.
    pub async fn sample(&mut self, sample: SampleId, turn_id: &TurnId, purpose: Purpose) {
        let fleet = &self.sampler.mcp().fleet;
        let needs_no_tools = matches!(purpose, Purpose::Compaction { .. });
        if (needs_no_tools && !remote_compaction::is_meant(&self.session, purpose))
            || fleet.is_settled()
        {
            return self.sample_now(sample, turn_id, purpose).await;
        }
        let (fleet, handle) = (fleet.clone(), self.handle.clone());
        let turn_id = turn_id.to_owned();
        let waiting = tokio::spawn(async move {
            fleet.settled().await;
            let settled = McpMessage::Settled {
                sample,
                turn_id,
                purpose,
            };
            handle.send(Message::Mcp(settled)).await;
        });
        self.sampler.task = Some((sample, waiting));
    }

    /// The servers have started or failed: asks the model, unless the turn has ended meanwhile.
    pub async fn servers_settled(&mut self, sample: SampleId, turn_id: &TurnId, purpose: Purpose) {
        let running = self.sampler.task.as_ref();
        if running.is_some_and(|(it, _)| *it == sample) {
            self.sample_now(sample, turn_id, purpose).await;
        }
    }

    async fn sample_now(&mut self, sample: SampleId, turn_id: &TurnId, purpose: Purpose) {
        match self.sampler.spending.check(&self.session, &self.handle) {
            Ok(warnings) => {
                for warning in warnings {
                    self.audience.warn_of(&self.handle.id, warning).await;
                }
            }
            Err(error) => {
                let task = model_stream::refuse(self.handle.clone(), sample, error);
                self.sampler.task = Some((sample, task));
                return;
            }
        }
        self.sampler.turn.is_review = purpose == Purpose::Review;
        let mut request = self.request(turn_id, purpose);
        if remote_compaction::is_meant(&self.session, purpose) {
            let model = self.sampler.model.clone();
            let task = remote_compaction::start(self.handle.clone(), sample, model, request);
            return self.sampler.task = Some((sample, task));
        }
        let settings = self.session.snapshot.session();
        let asked = Asked {
            provider: self.session.provider.clone(),
            model: request.model.clone(),
            counter: self
                .sampler
                .spending
                .counter(&self.session, turn_id, &self.session.info),
            plan_mode: self.session.mode.mode == ModeKind::Plan,
            hide_reasoning: settings.hide_agent_reasoning,
            strict_schema: settings.strict_output_schema,
        };
        let report = self.reports.request(&self.session);
        request.meta.traceparent = report.as_ref().map(|it| it.traceparent());
        let stream = self.sampler.model.stream(request);
        let (server, thread) = (Arc::clone(&self.server), self.handle.clone());
        let task = model_stream::start(server, thread, sample, asked, report, stream);
        self.sampler.task = Some((sample, task));
    }

    /// The request for the history as it is now.
    pub fn request(&mut self, turn_id: &TurnId, purpose: Purpose) -> Request {
        let tools = self.tools_for(turn_id, purpose);
        let subject = Subject {
            server: &self.server,
            session: &self.session,
            thread_id: &self.handle.id,
            turn_id,
            purpose,
            agent_depth: self.audience.agent_depth(),
        };
        self.sampler.request(&subject, &self.engine, tools)
    }

    /// The tools of a turn are made once, and again when the model looks for more. A provider that compacts the
    /// history is given those of a turn, too.
    fn tools_for(&mut self, turn_id: &TurnId, purpose: Purpose) -> ToolSet {
        if purpose == Purpose::Review {
            return self.offered_tools(turn_id, purpose);
        }
        if purpose != Purpose::Turn && !remote_compaction::is_meant(&self.session, purpose) {
            return ToolSet::default();
        }
        if let Some(tools) = &self.sampler.turn.tools {
            return tools.clone();
        }
        let tools = self.offered_tools(turn_id, Purpose::Turn);
        self.sampler.turn.tools.insert(tools).clone()
    }
}

/// Lets a provider with a websocket read the instructions and tools of a new thread before its first turn.
pub(super) fn prewarm(actor: &mut Actor) {
    if !actor.session.provider.uses_websockets() || !actor.sampler.mcp().fleet.is_settled() {
        return;
    }
    let request = actor.request(&TurnId::default(), Purpose::Turn);
    actor.sampler.forget_tools();
    let model = actor.sampler.model.clone();
    tokio::spawn(async move { model.prewarm(&request).await });
}

pub(super) fn history_item(item: &Json) -> HistoryItem {
    HistoryItem::new(item.shared())
}
