//! The tools of a thread: which are offered, which run, and how they end.

use std::collections::{BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_config::Feature;
use quipu_engine::{Purpose, ToolCall, ToolEvent, Waiting};
use quipu_model::catalogue::{ApplyPatchTool, ShellType, WebSearchTool};
use quipu_model::{Grammar, ToolSet, ToolSpec};
use quipu_policy::guardian::{Assessment, guardian_reviews};
use quipu_policy::rules::Rules;
use quipu_tools::agents::{Agents, Role};
use quipu_tools::{
    Action, Advice, Answer, Cancel, Drops, Features, Finished, Host, Network, Scope, ShellTool,
    SpecKind, Toolbox, WebSearch,
};
use quipu_wire::{AskForApproval, Json, ModeKind, SandboxPolicy, ServerRequest};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::actor::Actor;
use super::guardian;
use super::hooks::Runner;
use super::mcp::McpMessage;
use super::message::{Message, ThreadHandle, ToolReport};
use super::session::Session;
use crate::agents::{self, Family};
use crate::fail;
use crate::questions::Outcome;
use quipu_prompt::truncate;

/// A thread's tools and what it takes to stop them.
pub(super) struct Tooling {
    toolbox: Toolbox,
    network: Option<Arc<Network>>,
    cancels: HashMap<String, Cancel>,
    /// The deferred tools that the model has found, also before a compaction.
    found: Arc<BTreeSet<String>>,
}

impl Tooling {
    /// The tools of a thread with these rules.
    pub fn new(rules: Rules, network: Option<Arc<Network>>) -> Tooling {
        Tooling {
            network,
            toolbox: Toolbox::new(rules),
            cancels: HashMap::new(),
            found: Arc::default(),
        }
    }

    pub fn toolbox(&self) -> Toolbox {
        self.toolbox.clone()
    }

    pub fn set_network(&mut self, network: Option<Arc<Network>>) {
        self.network = network;
    }

    /// Ends the processes that were started with more rights than these.
    pub fn confine(
        &self,
        sandbox: &SandboxPolicy,
        approval_policy: &AskForApproval,
        has_environment: bool,
    ) {
        match has_environment {
            true => self.toolbox.kill_wider_processes(sandbox, approval_policy),
            false => self.toolbox.kill_processes(),
        }
    }

    /// Whom commands may reach, if the network is managed.
    pub fn network(&self) -> Option<&Network> {
        self.network.as_deref()
    }

    /// The beginnings of commands that rules allow.
    pub fn allowed_prefixes(&self) -> Vec<Vec<String>> {
        self.toolbox.rules().allowed_prefixes()
    }

    /// Whether processes of earlier turns still run.
    pub fn has_processes(&self) -> bool {
        self.toolbox.has_processes()
    }

    pub fn kill_processes(&self) {
        self.toolbox.kill_processes();
    }

    /// Stops the calls of a turn.
    pub fn cancel(&mut self, turn_id: &str) {
        if let Some(cancel) = self.cancels.remove(turn_id) {
            cancel.cancel();
        }
    }

    /// A turn ended by itself: nothing of it is left to stop.
    pub fn end_turn(&mut self) {
        self.cancels.clear();
        self.toolbox.end_turn();
    }

    pub fn shut_down(&mut self) {
        for (_, cancel) in self.cancels.drain() {
            cancel.cancel();
        }
        self.toolbox.shut_down();
    }

    pub fn cancel_for(&mut self, turn_id: &str) -> Cancel {
        self.cancels.entry(turn_id.to_owned()).or_default().clone()
    }
}

impl Actor {
    /// The tools offered for a purpose.
    pub fn tools(&mut self, turn_id: &str, purpose: Purpose) -> ToolSet {
        self.remember_found();
        let specs = quipu_tools::specs(&self.scope(turn_id, purpose));
        ToolSet::new(specs.into_iter().filter_map(offered).collect())
    }

    /// Keeps which deferred tools the calls in the history have found.
    fn remember_found(&mut self) {
        let found = quipu_tools::found_tools(&self.session.dynamic_tools, self.engine.history());
        Arc::make_mut(&mut self.tooling.found).extend(found);
    }

    pub fn run_tool(&mut self, turn_id: String, call: ToolCall) {
        let purpose = if self.turn.reviewing {
            Purpose::Review
        } else {
            Purpose::Turn
        };
        if call.name == quipu_tools::TOOL_SEARCH {
            self.remember_found();
            self.turn.tools = None;
        }
        self.report_call(&call);
        let scope = Arc::new(self.scope(&turn_id, purpose));
        let cancel = self.tooling.cancel_for(&turn_id);
        let toolbox = self.tooling.toolbox();
        let handle = self.handle.clone();
        let host: Arc<dyn Host> = Arc::new(ThreadHost::new(self, &turn_id));
        let truncation = self.session.info.truncation_policy;
        tokio::spawn(async move {
            let running = async {
                fail::point("tool", &call.name);
                toolbox.run(scope, host, call.clone(), cancel).await
            };
            let running = AssertUnwindSafe(running).catch_unwind();
            let finished = running.await.unwrap_or_else(|_| {
                tracing::error!(tool = call.name, "a tool failed by a defect of the server");
                Finished::from("the tool failed by a defect of the server; try something else")
            });
            let output = quipu_tools::output_item(&call, &finished.output);
            let output = truncate::recorded_output(&output, truncation).unwrap_or(output);
            let mut output = vec![output];
            output.splice(..0, finished.context);
            let event = ToolEvent::Finished {
                output,
                end_turn: finished.end_turn,
            };
            handle
                .send(Message::Tool {
                    call_id: call.call_id,
                    event: ToolReport::Event(event),
                })
                .await;
        });
    }

    /// How the provider may search the web; a reviewer does not.
    fn web_search(&self, purpose: Purpose) -> Option<WebSearch> {
        let session = &self.session;
        let tools = session.snapshot.tools();
        let full_access = session.sandbox == SandboxPolicy::DangerFullAccess;
        let search = WebSearch::new(tools.web_search, full_access)?;
        (purpose != Purpose::Review).then(|| WebSearch {
            details: tools.web_search_details.clone(),
            images: session.info.web_search_tool_type == WebSearchTool::TextAndImage,
            ..search
        })
    }

    /// The kinds of agents that may be started from here, if any may.
    fn agent_roles(&self, purpose: Purpose) -> Option<Arc<[Role]>> {
        let snapshot = &self.session.snapshot;
        let allowed = self.session.has_feature(Feature::MultiAgent)
            && purpose != Purpose::Review
            && self.audience.agent_depth() < snapshot.agents().max_depth;
        allowed.then(|| agents::offered_roles(snapshot))
    }

    /// The settings of the turn, as tools need them.
    pub fn scope(&self, turn_id: &str, purpose: Purpose) -> Scope {
        let session = &self.session;
        let config = &self.server.settings.config;
        let environment = session.snapshot.shell_environment();
        let use_profile = environment.experimental_use_profile;
        let vars = config.env().vars();
        let mut env: Vec<(String, String)> = environment.apply(vars).into_iter().collect();
        let offline = environment.clone();
        let withholds = Drops::new(move |name| offline.withholds(name));
        let credentials = session.snapshot.hidden_paths(config.env().user_home());
        env.push(("CODEX_THREAD_ID".to_owned(), self.handle.id.clone()));
        let path = env.iter_mut().find(|(name, _)| name == "PATH");
        if let (Some((_, path)), Some(programs)) = (path, &*self.server.settings.programs) {
            *path = format!("{}:{path}", programs.display());
        }
        Scope {
            thread_id: self.handle.id.clone(),
            turn_id: turn_id.to_owned(),
            home: self.server.home().to_owned(),
            cwd: session.cwd.clone(),
            approval_policy: match purpose {
                Purpose::Review => AskForApproval::Never,
                Purpose::Turn | Purpose::Compaction { .. } => session.approval_policy.clone(),
            },
            sandbox: session.sandbox.clone(),
            has_environment: session.has_environment,
            reviewed: guardian_reviews(&session.approval_policy, session.approvals_reviewer),
            shell: self.server.shell(),
            env,
            withholds,
            credentials: credentials.into(),
            trusted: session.snapshot.trusted_projects().into(),
            drops: Drops::new(move |name| environment.drops(name)),
            tmpdir: config.env().get("TMPDIR").map(Into::into),
            dynamic_tools: session.dynamic_tools.clone().into(),
            found_tools: Arc::clone(&self.tooling.found),
            mcp: self.servers.scope.clone(),
            plan_mode: session.mode.mode == ModeKind::Plan,
            accepts_images: session.info.accepts_images(),
            web_search: self.web_search(purpose),
            network: self.tooling.network.clone(),
            is_subagent: purpose == Purpose::Review || self.audience.agent_depth() > 0,
            agents: self.agent_roles(purpose),
            shell_tool: shell_tool(session),
            patch_as_text: patch_as_text(session),
            output_budget: truncate::budget(session.info.truncation_policy),
            clock: self.questions.clock(),
            longest_poll: session.snapshot.tools().background_terminal_max_timeout,
            features: Features {
                allow_login_shell: session.snapshot.permissions().allow_login_shell,
                use_profile,
                shell_snapshot: session.has_feature(Feature::ShellSnapshot),
                view_image: session.snapshot.tools().view_image,
                image_generation: session.has_feature(Feature::ImageGeneration)
                    && purpose != Purpose::Review,
                exec_permission_approvals: session.has_feature(Feature::ExecPermissionApprovals),
                request_permissions_tool: session.has_feature(Feature::RequestPermissionsTool),
                ask_anytime: session.has_feature(Feature::DefaultModeRequestUserInput),
                legacy_approvals: session.snapshot.permissions().legacy_approvals,
            },
        }
    }
}

/// Which tools for commands a model is offered: those that the user wants, else those that it is made for.
fn shell_tool(session: &Session) -> ShellTool {
    if !session.has_feature(Feature::ShellTool) {
        return ShellTool::Disabled;
    }
    if session.has_feature(Feature::UnifiedExec) {
        return ShellTool::Exec;
    }
    match session.info.shell_type {
        ShellType::Default => ShellTool::Words,
        ShellType::Local => ShellTool::Hosted,
        ShellType::UnifiedExec => ShellTool::Exec,
        ShellType::Disabled => ShellTool::Disabled,
        ShellType::ShellCommand => ShellTool::Script,
    }
}

fn patch_as_text(session: &Session) -> Option<bool> {
    if session.has_feature(Feature::ApplyPatchFreeform) {
        return Some(true);
    }
    let kind = session.info.apply_patch_tool_type;
    kind.map(|kind| kind == ApplyPatchTool::Freeform)
}

/// The thread, as its tools see it.
pub(super) struct ThreadHost {
    thread: ThreadHandle,
    family: Family,
    /// What runs the hooks of the turn, if there are any.
    pub(super) hooks: Option<Arc<Runner>>,
}

impl ThreadHost {
    pub fn new(actor: &Actor, turn_id: &str) -> ThreadHost {
        ThreadHost {
            thread: actor.handle.clone(),
            family: Family {
                server: Arc::clone(&actor.server),
                parent: actor.handle.clone(),
            },
            hooks: actor.hook_runner(turn_id),
        }
    }
}

impl Host for ThreadHost {
    fn agents(&self) -> Option<&dyn Agents> {
        Some(&self.family)
    }

    fn report<'a>(&'a self, call_id: &'a str, event: ToolEvent) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let event = ToolReport::Event(event);
            self.thread
                .send(Message::Tool {
                    call_id: call_id.to_owned(),
                    event,
                })
                .await;
        })
    }

    fn ask<'a>(
        &'a self,
        call_id: &'a str,
        request: ServerRequest,
        waiting: Option<Waiting>,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let event = ToolReport::Ask {
                request: Box::new(request),
                waiting,
                answer,
            };
            self.thread
                .send(Message::Tool {
                    call_id: call_id.to_owned(),
                    event,
                })
                .await;
            let answer = answered.await.ok().flatten().map(answer_of);
            if let Some(Ok(answer)) = &answer
                && let Some(decision) = decision(answer)
            {
                let call_id = call_id.to_owned();
                let event = ToolReport::Decided { decision };
                self.thread.send(Message::Tool { call_id, event }).await;
            }
            answer
        })
    }

    fn always_allow<'a>(&'a self, server: &'a str, tool: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let (server, tool) = (server.to_owned(), tool.to_owned());
            let allowed = McpMessage::AlwaysAllow { server, tool };
            self.thread.send(Message::Mcp(allowed)).await;
        })
    }

    fn hook<'a>(
        &'a self,
        call_id: &'a str,
        command: &'a str,
        response: Option<&'a str>,
    ) -> BoxFuture<'a, Advice> {
        Box::pin(self.run_hooks(call_id, command, response))
    }

    fn review<'a>(&'a self, call_id: &'a str, action: Action) -> BoxFuture<'a, Assessment> {
        Box::pin(async move {
            let (case, ready) = oneshot::channel();
            let target = action.target.clone().unwrap_or_else(|| call_id.to_owned());
            let event = ToolReport::Review { action, case };
            let call = call_id.to_owned();
            self.thread
                .send(Message::Tool {
                    call_id: call,
                    event,
                })
                .await;
            let assessment = match ready.await {
                Ok(case) => case.judge().await,
                Err(_) => Assessment::failed("the turn has ended"),
            };
            let review = guardian::shown(&assessment);
            let event = ToolEvent::ApprovalReviewCompleted { target, review };
            self.report(call_id, event).await;
            assessment
        })
    }
}

/// What an answer decides about a call, if it does.
fn decision(answer: &Json) -> Option<String> {
    let answer = answer.to_value();
    let decision = answer.get("decision").or_else(|| answer.get("action"))?;
    let word = decision.as_str().map(str::to_owned);
    word.or_else(|| decision.as_object()?.keys().next().cloned())
}

/// A client's answer, as tools read it.
pub(super) fn answer_of(outcome: Outcome) -> Answer {
    outcome.map_err(drop).and_then(|result| {
        let text = std::str::from_utf8(result.as_bytes()).map_err(drop)?;
        serde_json::from_str::<Json>(text).map_err(drop)
    })
}

/// A tool in the form that requests to the model have.
pub(super) fn offered(spec: quipu_tools::Spec) -> Option<ToolSpec> {
    Some(match spec.kind {
        SpecKind::Function(schema) => ToolSpec::Function {
            name: spec.name,
            description: spec.description,
            strict: false,
            defer_loading: None,
            parameters: RawValue::from_string(schema.get().to_owned()).ok()?,
        },
        SpecKind::Hosted(tool) => {
            ToolSpec::Hosted(RawValue::from_string(tool.get().to_owned()).ok()?)
        }
        SpecKind::Patch => ToolSpec::Custom {
            name: spec.name,
            description: spec.description,
            format: Some(Grammar {
                syntax: "lark".to_owned(),
                definition: PATCH_GRAMMAR.to_owned(),
            }),
        },
    })
}

/// The patch language for providers that constrain what a model may write.
const PATCH_GRAMMAR: &str = r#"start: "*** Begin Patch" LF op+ "*** End Patch" LF?
op: add | delete | update
add: "*** Add File: " PATH LF added+
delete: "*** Delete File: " PATH LF
update: "*** Update File: " PATH LF move? hunk*
move: "*** Move to: " PATH LF
hunk: place? line+ eof?
place: ("@@" | "@@ " /[^\n]+/) LF
added: "+" /[^\n]*/ LF
line: ("+" | "-" | " ") /[^\n]*/ LF
eof: "*** End of File" LF
PATH: /[^\n]+/
LF: /\n/
"#;
