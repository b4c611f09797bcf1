//! The tools of a thread that run, and what it takes to stop them.

use std::collections::{BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use quipu_engine::{CallId, Input, ModelEvent, Purpose, ToolCall, ToolEvent, TurnId};
use quipu_model::ToolSet;
use quipu_model::catalogue::Truncation;
use quipu_policy::rules::Rules;
use quipu_prompt::truncate;
use quipu_tools::{Access, Cancel, Finished, Host, McpScope, Network, Scope, Toolbox};
use quipu_wire::{Json, ThreadBackgroundTerminal};

use super::actor::Actor;
use super::guardian;
use super::hooks::ThreadHooks;
use super::mask::Mask;
use super::message::{Message, ToolReport};
use super::rights::Bounds;
use super::session::Session;
use super::tool_host::ThreadHost;
use crate::{Server, fail};

/// A thread's tools, those in flight among them.
pub(super) struct Tools {
    toolbox: Toolbox,
    network: Option<Arc<Network>>,
    cancels: HashMap<TurnId, Cancel>,
    /// The deferred tools that the model has found, also before a compaction.
    found: Arc<BTreeSet<String>>,
    /// Hides secrets in what tools report.
    mask: Mask,
    /// The user's programs that run around them.
    hooks: ThreadHooks,
}

impl Tools {
    /// The tools of a thread with these rules.
    pub fn new(rules: Rules, network: Option<Arc<Network>>, hooks: ThreadHooks) -> Tools {
        Tools {
            network,
            hooks,
            toolbox: Toolbox::new(rules),
            cancels: HashMap::new(),
            found: Arc::default(),
            mask: Mask::default(),
        }
    }

    pub fn set_network(&mut self, network: Option<Arc<Network>>) {
        self.network = network;
    }

    /// Ends the processes that were started with more rights than these.
    pub fn confine(&mut self, bounds: &Bounds) {
        match bounds.has_environment {
            true => self
                .toolbox
                .kill_wider_processes(&bounds.sandbox, &bounds.approval_policy),
            false => self.toolbox.kill_processes(),
        }
    }

    pub fn hooks(&self) -> &ThreadHooks {
        &self.hooks
    }

    pub fn hooks_mut(&mut self) -> &mut ThreadHooks {
        &mut self.hooks
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

    /// The processes of earlier calls that still run.
    pub fn terminals(&self) -> Vec<ThreadBackgroundTerminal> {
        self.toolbox.terminals()
    }

    /// Ends one of them; `false` if none has this number.
    pub fn kill_process(&mut self, id: &str) -> bool {
        self.toolbox.kill_process(id)
    }

    pub fn kill_processes(&mut self) {
        self.toolbox.kill_processes();
    }

    /// Stops the calls of a turn.
    pub fn cancel(&mut self, turn_id: &TurnId) {
        if let Some(cancel) = self.cancels.remove(turn_id) {
            cancel.cancel();
        }
    }

    /// A turn ended by itself: nothing of it is left to stop.
    pub fn end_turn(&mut self) {
        self.cancels.clear();
        self.toolbox.end_turn();
    }

    /// Lets a tool do something with what the tools remember.
    pub fn access(&mut self, access: Access) {
        access(&mut self.toolbox);
    }

    /// The deferred tools that the model has found.
    pub fn found(&self) -> Arc<BTreeSet<String>> {
        Arc::clone(&self.found)
    }

    /// Whom commands may reach, for a call that is about to run.
    pub fn shared_network(&self) -> Option<Arc<Network>> {
        self.network.clone()
    }

    /// Learns which secrets to hide in what tools report from now on.
    pub fn learn_secrets(&mut self, server: &Server, session: &Session) {
        self.mask.learn(server, session);
    }

    /// What the model said, without the secrets that tools printed.
    pub fn hide_said(&mut self, events: Vec<ModelEvent>) -> Vec<ModelEvent> {
        let mut hidden = Vec::with_capacity(events.len());
        for event in events {
            self.mask.hide_said(event, &mut hidden);
        }
        hidden
    }

    /// Hides secrets in what is not reported by a tool.
    pub fn mask(&mut self) -> &mut Mask {
        &mut self.mask
    }

    pub fn shut_down(&mut self) {
        for (_, cancel) in self.cancels.drain() {
            cancel.cancel();
        }
        self.toolbox.kill_processes();
    }

    pub fn cancel_for(&mut self, turn_id: &TurnId) -> Cancel {
        self.cancels.entry(turn_id.clone()).or_default().clone()
    }

    /// Keeps which deferred tools the calls in the history have found.
    pub fn remember_found(&mut self, session: &Session, mcp: &McpScope, history: &[Json]) {
        let found = quipu_tools::found_tools(&session.dynamic_tools, mcp, history);
        Arc::make_mut(&mut self.found).extend(found);
    }

    /// Starts a call, which reports to its thread.
    fn run(&mut self, scope: Scope, host: ThreadHost, call: ToolCall, truncation: Truncation) {
        let cancel = self.cancel_for(&scope.turn_id);
        let thread = host.thread().clone();
        let host: Arc<dyn Host> = Arc::new(host);
        let running = self
            .toolbox
            .run(Arc::new(scope), host, call.clone(), cancel);
        tokio::spawn(async move {
            let running = async {
                fail::point("tool", &call.name);
                running.await
            };
            let running = AssertUnwindSafe(running).catch_unwind();
            let finished = running.await.unwrap_or_else(|_| {
                tracing::error!(thread = %thread.id, tool = call.name, "tool panicked");
                Finished::from("the tool failed because of a bug in the server; try something else")
            });
            let output = quipu_tools::output_item(&call, &finished.output);
            let output = truncate::recorded_output(&output, truncation).unwrap_or(output);
            let mut output = vec![output];
            output.splice(..0, finished.context);
            let event = ToolEvent::Finished {
                output,
                end_turn: finished.end_turn,
            };
            thread
                .send(Message::Tool {
                    call_id: call.call_id,
                    event: ToolReport::Event(event),
                })
                .await;
        });
    }
}

impl Actor {
    /// The tools offered for a purpose.
    pub fn offered_tools(&mut self, turn_id: &TurnId, purpose: Purpose) -> ToolSet {
        self.remember_found();
        let specs = quipu_tools::specs(&self.scope(turn_id, purpose));
        self.server.threads.tool_sets.get(specs)
    }

    fn remember_found(&mut self) {
        let (mcp, history) = (self.sampler.mcp(), self.engine.history());
        self.tools.remember_found(&self.session, mcp, history);
    }

    pub fn run_tool(&mut self, turn_id: &TurnId, call: ToolCall) {
        let purpose = self.sampler.last_purpose();
        if call.name == quipu_tools::TOOL_SEARCH {
            self.remember_found();
            self.sampler.forget_tools();
        }
        self.reports.call(&call);
        let mut scope = self.scope(turn_id, purpose);
        scope.traceparent = self.reports.traceparent(&call.call_id);
        let host = ThreadHost::new(self, turn_id);
        let truncation = self.session.info.truncation_policy;
        self.tools.run(scope, host, call, truncation);
    }

    /// A tool reports what it does or wants.
    pub async fn tool_reports(&mut self, call_id: CallId, event: ToolReport) {
        match event {
            ToolReport::Event(event) => {
                if matches!(event, ToolEvent::Finished { .. }) {
                    self.reports.result(&self.session, &call_id);
                }
                self.tools.mask.learn_printed(&self.server);
                for event in self.tools.mask.hide(&call_id, event) {
                    let call_id = call_id.clone();
                    self.step(Input::Tool { call_id, event }).await;
                }
            }
            ToolReport::Decided { decision } => {
                self.reports.decision(&self.session, &call_id, &decision)
            }
            ToolReport::Ask {
                request,
                waiting,
                answer,
            } => {
                let question = self.questions.add_for_call(&self.server, answer);
                let event = ToolEvent::Ask {
                    question,
                    request,
                    waiting,
                };
                self.step(Input::Tool { call_id, event }).await;
            }
            ToolReport::Review { action, case } => {
                let ready = guardian::case(self, &action.planned);
                let target = action.target.unwrap_or_else(|| call_id.to_string());
                let action = action.shown;
                let event = ToolEvent::ApprovalReviewStarted { target, action };
                self.step(Input::Tool { call_id, event }).await;
                if let Some(ready) = ready {
                    // A tool that was cancelled no longer listens.
                    case.send(ready).ok();
                }
            }
        }
    }
}
