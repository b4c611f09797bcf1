//! Asking the model: the request is made of the history, the settings and the tools, and its answer read by a task.

use std::sync::Arc;

use quipu_config::Feature;
use quipu_engine::Purpose;
use quipu_model::{HistoryItem, Reasoning, Request, RequestMeta, ToolSet};
use quipu_wire::{Json, ModeKind, ServiceTier};

use super::actor::Actor;
use super::mcp::McpMessage;
use super::message::Message;
use super::model_stream::{self, Asked};
use quipu_prompt::{compaction, review};

/// The header that names the kind of agent a request is for.
pub(super) const SUBAGENT: &str = "x-openai-subagent";

impl Actor {
    /// Asks the model, but not before the servers have started or failed to.
    pub fn sample(&mut self, sample: u64, turn_id: &str, purpose: Purpose) {
        let fleet = &self.servers.scope.fleet;
        let needs_no_tools = matches!(purpose, Purpose::Compaction { .. });
        if needs_no_tools || fleet.is_settled() {
            return self.sample_now(sample, turn_id, purpose);
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
        self.sampling = Some((sample, waiting));
    }

    /// The servers are there: asks the model, unless the turn has ended meanwhile.
    pub fn servers_settled(&mut self, sample: u64, turn_id: &str, purpose: Purpose) {
        if self.sampling.as_ref().is_some_and(|(it, _)| *it == sample) {
            self.sample_now(sample, turn_id, purpose);
        }
    }

    fn sample_now(&mut self, sample: u64, turn_id: &str, purpose: Purpose) {
        self.turn.reviewing = purpose == Purpose::Review;
        let request = self.request(turn_id, purpose);
        let asked = Asked {
            model: request.model.clone(),
            price: self.session.info.price,
            plan_mode: self.session.mode.mode == ModeKind::Plan,
            hide_reasoning: self.session.snapshot.session().hide_agent_reasoning,
        };
        let stream = self.model.stream(request);
        let report = self.report_request();
        let task = model_stream::start(self.handle.clone(), sample, (asked, report), stream);
        self.sampling = Some((sample, task));
    }

    /// The request for the history as it is now.
    pub fn request(&mut self, turn_id: &str, purpose: Purpose) -> Request {
        let info = Arc::clone(&self.session.info);
        let input = self.input(purpose);
        let tools = self.tools_for(turn_id, purpose);
        let settings = self.session.snapshot.model();
        let instructions = match purpose {
            Purpose::Review => review::instructions().into(),
            Purpose::Turn | Purpose::Compaction { .. } => Arc::clone(&self.told.base_instructions),
        };
        let reviewer = settings.review_model.filter(|_| purpose == Purpose::Review);
        let schema = self
            .turn
            .output_schema
            .as_ref()
            .filter(|_| purpose == Purpose::Turn);
        let effort = self.session.effort.or(info.default_reasoning_level);
        let reasons = info.supports_reasoning_summaries || info.default_reasoning_level.is_some();
        Request {
            model: reviewer.unwrap_or_else(|| self.session.model.clone()),
            instructions,
            input,
            tools,
            tool_choice: Default::default(),
            parallel_tool_calls: info.supports_parallel_tool_calls,
            reasoning: reasons.then_some(Reasoning {
                effort,
                summary: self.session.summary,
            }),
            verbosity: settings.verbosity.filter(|_| info.support_verbosity),
            output_schema: schema.map(Json::shared),
            prompt_cache_key: self.handle.id.clone(),
            service_tier: self.service_tier(),
            accepts_images: info.accepts_images(),
            max_output_tokens: info.max_output_tokens,
            context_window: info.context_window,
            meta: self.request_meta(turn_id, purpose),
        }
    }

    /// The service tier, unless it is the fast one and that is switched off.
    fn service_tier(&self) -> Option<ServiceTier> {
        let fast = self.session.has_feature(Feature::FastMode);
        let tier = self.session.service_tier;
        tier.filter(|tier| fast || *tier != ServiceTier::Fast)
    }

    fn request_meta(&self, turn_id: &str, purpose: Purpose) -> RequestMeta {
        let identity = &self.server.identity;
        let label = match purpose {
            Purpose::Review => Some("review"),
            Purpose::Turn | Purpose::Compaction { .. } => {
                (self.audience.agent_depth() > 0).then_some("collab_spawn")
            }
        };
        let label = label.map(|it| (SUBAGENT, it));
        let headers = self.residency().into_iter().chain(label);
        RequestMeta {
            originator: identity.originator().to_owned(),
            user_agent: identity.user_agent(self.server.settings.config.env()),
            thread_id: self.handle.id.clone(),
            turn_metadata: Some(serde_json::json!({ "turn_id": turn_id }).to_string()),
            turn_state: self.turn.state.clone(),
            headers: headers
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    }

    /// The header that says where data must stay, for the provider that knows it.
    fn residency(&self) -> Option<(&'static str, &'static str)> {
        let provider = &self.session.provider;
        let knows_it = provider.id == "openai" || provider.requires_openai_auth;
        let required = self.session.snapshot.requirements().residency.as_ref();
        let place = required.filter(|_| knows_it)?.value.as_str();
        Some(("x-openai-internal-codex-residency", place))
    }

    /// What the model is to read: the history, and for a compaction the wish for a summary.
    fn input(&mut self, purpose: Purpose) -> Vec<HistoryItem> {
        let mut input = self.history_items(purpose);
        if let Purpose::Compaction { dropped } = purpose {
            for _ in 0..dropped {
                compaction::drop_oldest(&mut input);
            }
            let custom = self
                .session
                .snapshot
                .instructions()
                .compact_prompt
                .as_deref();
            input.push(history_item(&compaction::request(custom)));
        }
        input
    }

    /// The tools of a turn are made once, and again when the model looks for more.
    fn tools_for(&mut self, turn_id: &str, purpose: Purpose) -> ToolSet {
        match (purpose, &self.turn.tools) {
            (Purpose::Compaction { .. }, _) => ToolSet::default(),
            (Purpose::Turn, Some(tools)) => tools.clone(),
            (Purpose::Review, _) => self.tools(turn_id, purpose),
            (Purpose::Turn, None) => {
                let tools = self.tools(turn_id, purpose);
                self.turn.tools.insert(tools).clone()
            }
        }
    }

    /// The history in the model crate's form; of the thread's own history only what is new is converted.
    fn history_items(&mut self, purpose: Purpose) -> Vec<HistoryItem> {
        if purpose == Purpose::Review {
            return self.engine.history().iter().map(history_item).collect();
        }
        let items = self.engine.own_history();
        if self.sent.len() > items.len() {
            self.sent.clear();
        }
        let new = items[self.sent.len()..].iter().map(history_item);
        self.sent.extend(new);
        self.sent.clone()
    }
}

pub(super) fn history_item(item: &Json) -> HistoryItem {
    HistoryItem::new(item.shared())
}
