//! What a turn needs before the model can be asked: the user's words, the context, the request.

use std::sync::Arc;

use quipu_config::Feature;
use quipu_engine::{
    Compacted, Context, Input, MAX_RECORDED, Purpose, ReviewOutcome, Start, UserMessage,
};
use quipu_model::{HistoryItem, Reasoning, Request, RequestMeta, ToolSet};
use quipu_rpc::ErrorObject;
use quipu_wire::method::request;
use quipu_wire::{Json, ServiceTier, TurnStartParams, TurnSteerParams, UserInput};

use super::actor::{Actor, TurnSettings};
use super::network;
use super::replies::Pending;
use super::skills::ThreadSkills;
use crate::Reply;
use crate::clock;
use crate::context::facts::{Baseline, Escalation, Facts, ModelFacts, Subagent};
use crate::context::history::ContextSize;
use crate::context::skills::Skill;
use crate::context::{compaction, initial, input, review, skills, stored, update};
use crate::hub::Client;
use crate::router::overloaded;

/// The header that names the kind of agent a request is for.
pub(super) const SUBAGENT: &str = "x-openai-subagent";

/// What the model was last told, and what stays the same for the life of the thread.
pub(super) struct Told {
    pub baseline: Option<Baseline>,
    /// The model of the last turn.
    pub previous_model: Option<String>,
    pub base_instructions: Arc<str>,
    /// What `AGENTS.md` files said when the thread began.
    pub project_instructions: Option<String>,
    pub skills: ThreadSkills,
}

impl Actor {
    pub async fn start_turn(
        &mut self,
        params: TurnStartParams,
        client: &Client,
        reply: Reply<request::TurnStart>,
    ) {
        if params.input.is_empty() {
            return reply
                .send(Err(ErrorObject::invalid_request("input must not be empty")))
                .await;
        }
        let rights = match self.session.rights(&self.server, &params) {
            Ok(rights) => rights,
            Err(refusal) => return reply.send(Err(refusal)).await,
        };
        if let Some(introduction) = client.introduction() {
            self.client = Some(introduction.name.clone());
        }
        self.report_prompt(&params.input);
        self.renew_skills_for(&params.input);
        let message = self.user_message(params.input.clone());
        if let Some(error) = too_long(&message) {
            return reply.send(Err(error)).await;
        }
        if self.engine.active_turn().is_some() && !self.takes_pending(&message) {
            return reply.send(Err(overloaded())).await;
        }
        self.change_session(rights, &params);
        self.prepare_turn(params.output_schema);
        let reply = self.replies.add(Pending::Start(reply));
        let turn_id = uuid::Uuid::now_v7().to_string();
        self.step(Input::Start(Start {
            reply,
            turn_id,
            message,
        }))
        .await;
    }

    /// Sets what holds for the next turn, unless one runs that takes the input.
    pub(super) fn prepare_turn(&mut self, output_schema: Option<Json>) {
        if self.engine.active_turn().is_some() {
            return;
        }
        self.renew_servers();
        self.mask.learn(&self.server, &self.session);
        self.turn = TurnSettings {
            output_schema,
            ..TurnSettings::default()
        };
        let info = Arc::clone(&self.session.info);
        self.engine
            .set_limits(info.effective_context_window(), info.compaction_limit());
    }

    pub async fn steer(&mut self, params: TurnSteerParams, reply: Reply<request::TurnSteer>) {
        self.report_prompt(&params.input);
        self.renew_skills_for(&params.input);
        let message = self.user_message(params.input);
        if let Some(error) = too_long(&message) {
            return reply.send(Err(error)).await;
        }
        if !self.takes_pending(&message) {
            return reply.send(Err(overloaded())).await;
        }
        let reply = self.replies.add(Pending::Steer(reply));
        self.step(Input::Steer {
            reply,
            expected: params.expected_turn_id,
            message,
        })
        .await;
    }

    pub(super) fn user_message(&self, content: Vec<UserInput>) -> UserMessage {
        let named = skills::named(&content, &self.told.skills.offered, &[]);
        let is_picture = |input: &UserInput| matches!(input, UserInput::LocalImage { .. });
        if named.is_empty() && !content.iter().any(is_picture) {
            return self.read_message(content, Vec::new());
        }
        // Files are read where waiting for them holds up nobody else.
        tokio::task::block_in_place(|| self.read_message(content, named))
    }

    fn read_message(&self, content: Vec<UserInput>, named: Vec<&Skill>) -> UserMessage {
        let message = input::user_message(&content);
        let bodies = named
            .into_iter()
            .filter_map(|skill| match skills::load(skill) {
                Ok(body) => Some(body),
                Err(warning) => {
                    tracing::warn!(thread = self.handle.id, warning);
                    None
                }
            });
        let history = message.into_iter().chain(bodies).collect();
        UserMessage {
            item_id: uuid::Uuid::new_v4().to_string(),
            content,
            history,
        }
    }

    pub(super) fn facts_now(&self) -> Facts {
        let session = &self.session;
        let info = Arc::clone(&session.info);
        Facts {
            cwd: session.cwd_text(),
            shell: self.server.shell_name(),
            date: clock::local_date(),
            timezone: clock::timezone(),
            approval_policy: session.approval_policy.clone(),
            approvals_reviewer: session.approvals_reviewer,
            sandbox: session.sandbox.clone(),
            writable_roots: self.writable_roots(),
            network: self.tooling.network().map(network::hosts),
            allowed_prefixes: self.tooling.allowed_prefixes(),
            model: ModelFacts {
                slug: session.model.clone(),
                takes_personality: info.supports_personality,
            },
            base_instructions: Arc::clone(&self.told.base_instructions),
            personality: session.personality,
            collaboration_mode: session.mode.clone(),
            developer_instructions: session.developer_instructions.clone(),
            project_instructions: self.told.project_instructions.clone(),
            skills: Arc::clone(&self.told.skills.offered),
            subagents: self.subagents(),
            commit_attribution: self.commit_attribution(),
            escalation: Escalation {
                additional_permissions: session.has_feature(Feature::ExecPermissionApprovals),
                request_permissions_tool: session.has_feature(Feature::RequestPermissionsTool),
            },
        }
    }

    /// The co-author of commits, if commits are to have one.
    fn commit_attribution(&self) -> Option<String> {
        let wanted = self.session.has_feature(Feature::CodexGitCommit);
        let instructions = self.session.snapshot.instructions();
        instructions.commit_attribution.clone().filter(|_| wanted)
    }

    fn subagents(&self) -> Vec<Subagent> {
        let agents = self.server.agents.of(&self.handle.id).into_iter();
        let named = agents.map(|agent| Subagent {
            id: agent.id.clone(),
            nickname: agent.nickname.clone(),
        });
        named.collect()
    }

    fn writable_roots(&self) -> Vec<String> {
        let quipu_wire::SandboxPolicy::WorkspaceWrite {
            writable_roots,
            exclude_slash_tmp,
            exclude_tmpdir_env_var,
            ..
        } = &self.session.sandbox
        else {
            return Vec::new();
        };
        let mut roots: Vec<String> = writable_roots.iter().map(ToString::to_string).collect();
        roots.push(self.session.cwd_text());
        if cfg!(unix) && !exclude_slash_tmp {
            roots.push("/tmp".to_owned());
        }
        if let (false, Some(tmp)) = (
            exclude_tmpdir_env_var,
            self.server.settings.config.env().get("TMPDIR"),
        ) {
            roots.push(tmp.to_owned());
        }
        roots
    }

    /// What must come before the user's words: everything at first, later only what changed.
    pub fn build_context(&mut self, turn_id: &str) -> Context {
        if self.told.baseline.is_none() {
            self.renew_skills();
        }
        let facts = self.facts_now();
        let history = match &self.told.baseline {
            None => initial::initial(&facts, self.told.previous_model.as_deref()),
            Some(baseline) => update::update(&facts, baseline),
        };
        let record = self.turn_context(&facts, turn_id);
        self.told.previous_model = Some(facts.model.slug.clone());
        self.told.baseline = Some(facts.baseline());
        Context { history, record }
    }

    fn turn_context(&self, facts: &Facts, turn_id: &str) -> Option<Json> {
        let mut context = stored::turn_context(facts, turn_id);
        context.effort = self.session.effort.map(|effort| effort.to_string());
        context.summary = Some(
            self.session
                .summary
                .map_or_else(|| "auto".to_owned(), |it| it.to_string()),
        );
        context
            .final_output_json_schema
            .clone_from(&self.turn.output_schema);
        Json::new(&context).ok()
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
                (self.depth() > 0).then_some("collab_spawn")
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

    pub fn summarise(&mut self, turn_id: &str, summary: &str, mid_turn: bool) -> Compacted {
        let facts = self.facts_now();
        let context = if mid_turn {
            initial::initial(&facts, None)
        } else {
            Vec::new()
        };
        let summary = compaction::summary(Some(summary).filter(|it| !it.trim().is_empty()));
        let history = compaction::replacement(&self.sent, &summary, context);
        let tokens = self.estimate(&history);
        self.sent.clear();
        self.told.baseline = mid_turn.then(|| facts.baseline());
        let record = mid_turn
            .then(|| self.turn_context(&facts, turn_id))
            .flatten();
        Compacted {
            history,
            tokens,
            record,
        }
    }

    pub fn render_review(&self, words: Option<&str>, interrupted: bool) -> ReviewOutcome {
        let output = words.filter(|_| !interrupted).and_then(review::parse);
        let ending = review::ending(output.as_ref());
        ReviewOutcome {
            shown: ending.shown,
            said: ending.said,
            history: ending.history.to_vec(),
        }
    }

    /// About how many tokens a history that no provider has counted takes.
    pub fn estimate(&self, history: &[Json]) -> i64 {
        let items: Vec<HistoryItem> = history.iter().map(history_item).collect();
        let size = ContextSize::estimated(&self.told.base_instructions, &items);
        i64::try_from(size.tokens(true)).unwrap_or(i64::MAX)
    }
}

/// Why input is refused that cannot be stored, for the images or skills that it names.
fn too_long(message: &UserMessage) -> Option<ErrorObject> {
    let sizes = message.history.iter().map(|item| item.get().len());
    let size = sizes.max().filter(|size| *size > MAX_RECORDED)?;
    Some(ErrorObject::invalid_request(format!(
        "the input with the files that it names takes {size} bytes, which exceed the maximum of {MAX_RECORDED}"
    )))
}

pub(super) fn history_item(item: &Json) -> HistoryItem {
    HistoryItem::new(item.shared())
}
