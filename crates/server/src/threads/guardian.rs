//! Approvals by a model in the user's place: it gets the action with the conversation around it, may look
//! at files, and its decision counts. Whatever goes wrong is a denial.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use quipu_engine::{CallId, Purpose, ToolCall, ToolEvent, Waiting};
use quipu_mcp::OfferedTool;
use quipu_model::catalogue::ModelInfo;
use quipu_model::{Client as ModelClient, HistoryItem, ModelEvent, Request};
use quipu_policy::guardian::Assessment;
use quipu_policy::rules::Rules;
use quipu_tools::agents::Agents;
use quipu_tools::{Access, Action, Advice, Answer, Cancel, Host, Scope, ShellTool, Toolbox};
use quipu_wire::{
    AskForApproval, GuardianApprovalReview, GuardianApprovalReviewStatus, Json, ReadOnlyAccess,
    ReasoningEffort, ResponseItem, SandboxPolicy, ServerRequest,
};
use serde_json::Value;
use tokio::sync::mpsc;

use super::actor::Actor;
use super::model_items;
use super::sampling::{SUBAGENT, history_item};
use super::session::Session;
use super::spending::Counter;
use quipu_prompt::{environment, guardian, message};

/// The model that reviews where the provider is sure to have it; elsewhere the thread's own does.
const REVIEWER: &str = "gpt-5.4";
/// Answers of the reviewer to one question at most; all but the last ask for a look at something.
const MAX_ROUNDS: usize = 16;
/// What it may look with.
const TOOLS: [&str; 3] = ["exec_command", "write_stdin", "view_image"];

/// One action with all that its review needs.
pub(crate) struct Case {
    model: ModelClient,
    request: Request,
    scope: Arc<Scope>,
    info: Arc<ModelInfo>,
    counter: Counter,
    limit: Duration,
}

/// Puts an action before the reviewer; `None` when no turn runs.
pub(super) fn case(actor: &mut Actor, planned: &Value) -> Option<Case> {
    let turn_id = actor.engine.active_turn()?.clone();
    let info = reviewer(&actor.session);
    let scope = reviewer_scope(actor.scope(&turn_id, Purpose::Review));
    let mut tools = quipu_tools::specs(&scope);
    tools.retain(|spec| TOOLS.contains(&spec.name.as_str()));
    let surroundings = message::user_text(environment::block(&actor.facts_now(), true));
    let mut request = actor.request(&turn_id, Purpose::Turn);
    let case = guardian::case(&request.input, planned);
    request.input = [surroundings, case].iter().map(history_item).collect();
    request.tools = actor.server.threads.tool_sets.get(tools);
    let spending = actor.sampler.spending();
    Some(Case {
        model: actor.sampler.model().clone(),
        request: reviewer_request(request, &actor.session, &info),
        scope: Arc::new(scope),
        counter: spending.counter(&actor.session, &turn_id, &info),
        info,
        limit: actor.server.settings.review_limit,
    })
}

/// What the reviewer's own calls may do.
fn reviewer_scope(scope: Scope) -> Scope {
    Scope {
        approval_policy: AskForApproval::Never,
        reviewed: false,
        sandbox: SandboxPolicy::ReadOnly {
            access: ReadOnlyAccess::FullAccess,
            network_access: false,
        },
        dynamic_tools: Arc::default(),
        mcp: Default::default(),
        shell_tool: ShellTool::Exec,
        patch_as_text: None,
        ..scope
    }
}

/// Makes a request of a turn one to the reviewer.
fn reviewer_request(mut request: Request, session: &Session, info: &ModelInfo) -> Request {
    let limits = session.snapshot.requirements();
    let administrator = limits.guardian_instructions.as_ref();
    let policy = guardian::policy(administrator.map(|it| it.value.as_str()));
    request.model.clone_from(&info.slug);
    request.instructions = policy.into();
    request.reasoning = info.reasoning(little_effort(info), None);
    request.verbosity = info.verbosity(None);
    request.output_schema = Some(guardian::schema().shared());
    request.prompt_cache_key.push_str("-guardian");
    request.accepts_images = info.accepts_images();
    let headers = &mut request.meta.headers;
    headers.retain(|(name, _)| name != SUBAGENT);
    headers.push((SUBAGENT.to_owned(), "guardian".to_owned()));
    request.meta.turn_state = Default::default();
    request
}

fn reviewer(session: &Session) -> Arc<ModelInfo> {
    match session.provider.id == "openai" {
        true => Arc::new(session.provider.model(REVIEWER, &[])),
        false => Arc::clone(&session.info),
    }
}

fn little_effort(info: &ModelInfo) -> Option<ReasoningEffort> {
    let mut levels = info.supported_reasoning_levels.iter();
    levels
        .any(|level| level.effort == ReasoningEffort::Low)
        .then_some(ReasoningEffort::Low)
}

impl Case {
    /// Asks the reviewer, but not for longer than it may take.
    pub async fn judge(self) -> Assessment {
        match tokio::time::timeout(self.limit, self.answer()).await {
            Ok(Ok(text)) => Assessment::parse(&text),
            Ok(Err(why)) => Assessment::failed(&why),
            Err(_) => Assessment::timed_out(),
        }
    }

    /// The text of the reviewer's last answer, after it has looked at what it wanted to see.
    async fn answer(&self) -> Result<String, String> {
        let mut tools = ReviewerTools::new();
        let mut request = self.request.clone();
        for _ in 0..MAX_ROUNDS {
            let said = self.sample(&request).await?;
            if said.calls.is_empty() {
                return Ok(said.text);
            }
            request.input.extend(said.items);
            for call in said.calls {
                let output = tools.run(&self.scope, call, &self.info).await;
                request.input.push(history_item(&output));
            }
        }
        Err("the reviewer came to no decision".to_owned())
    }

    async fn sample(&self, request: &Request) -> Result<ReviewerAnswer, String> {
        let mut stream = self.model.stream(request.clone());
        let mut said = ReviewerAnswer::default();
        while let Some(event) = stream.next().await {
            match event {
                ModelEvent::Retrying(_) => said = ReviewerAnswer::default(),
                ModelEvent::ItemDone { item, .. } => said.add(&item),
                ModelEvent::Completed(done) => {
                    if let Some(usage) = &done.usage {
                        self.counter.count(usage);
                    }
                    return Ok(said);
                }
                ModelEvent::Failed(error) => return Err(error.to_string()),
                _ => {}
            }
        }
        Err("the reviewer's answer broke off".to_owned())
    }
}

/// One answer of the reviewer.
#[derive(Default)]
struct ReviewerAnswer {
    text: String,
    calls: Vec<ToolCall>,
    items: Vec<HistoryItem>,
}

impl ReviewerAnswer {
    fn add(&mut self, item: &quipu_model::OutputItem) {
        self.items
            .push(HistoryItem::with_id(Arc::clone(&item.raw), item.id.clone()));
        let Ok(raw) = Json::try_from((*item.raw).to_owned()) else {
            return tracing::warn!("reviewer item nested too deep");
        };
        match raw.parse() {
            Ok(ResponseItem::Message { role, content, .. }) if role == "assistant" => {
                self.text = model_items::text_of(&content);
            }
            Ok(item) => self.calls.extend(model_items::tool_call(item, &raw)),
            Err(error) => tracing::warn!(%error, "failed to read a reviewer item"),
        }
    }
}

/// The reviewer's tools; the processes that they started end with them.
struct ReviewerTools {
    toolbox: Toolbox,
    host: Arc<ReviewerHost>,
    accesses: mpsc::Receiver<Access>,
}

impl ReviewerTools {
    fn new() -> ReviewerTools {
        let (access, accesses) = mpsc::channel(1);
        ReviewerTools {
            toolbox: Toolbox::new(Rules::default()),
            host: Arc::new(ReviewerHost { access }),
            accesses,
        }
    }

    async fn run(&mut self, scope: &Arc<Scope>, call: ToolCall, info: &ModelInfo) -> Json {
        let host: Arc<dyn Host> = Arc::<ReviewerHost>::clone(&self.host);
        let scope = Arc::clone(scope);
        let running = self
            .toolbox
            .run(scope, host, call.clone(), Cancel::default());
        let mut running = pin!(running);
        let finished = loop {
            tokio::select! {
                finished = &mut running => break finished,
                Some(access) = self.accesses.recv() => access(&mut self.toolbox),
            }
        };
        let output = quipu_tools::output_item(&call, &finished.output);
        quipu_prompt::truncate::recorded_output(&output, info.truncation_policy).unwrap_or(output)
    }
}

/// Shows nothing of what the reviewer does, and has nobody that it could ask.
struct ReviewerHost {
    access: mpsc::Sender<Access>,
}

impl Host for ReviewerHost {
    fn agents(&self) -> Option<&dyn Agents> {
        None
    }

    fn report<'a>(&'a self, _: &'a CallId, _: ToolEvent) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn ask<'a>(
        &'a self,
        _: &'a CallId,
        _: ServerRequest,
        _: Option<Waiting>,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(async { None })
    }

    fn with_toolbox(&self, access: Access) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // The tools are dropped when the review is over.
            self.access.send(access).await.ok();
        })
    }

    fn always_allow<'a>(&'a self, _: &'a OfferedTool) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn hook<'a>(&'a self, _: &'a CallId, _: &'a str, _: Option<&'a str>) -> BoxFuture<'a, Advice> {
        Box::pin(async { Advice::default() })
    }

    fn review<'a>(&'a self, _: &'a CallId, _: Action) -> BoxFuture<'a, Assessment> {
        Box::pin(async { Assessment::failed("a reviewer cannot be reviewed") })
    }
}

/// An assessment as clients see it.
pub(super) fn shown(assessment: &Assessment) -> GuardianApprovalReview {
    GuardianApprovalReview {
        status: if assessment.approves() {
            GuardianApprovalReviewStatus::Approved
        } else {
            GuardianApprovalReviewStatus::Denied
        },
        risk_score: Some(assessment.risk_score),
        risk_level: Some(assessment.risk_level),
        rationale: Some(assessment.rationale.clone()),
    }
}
