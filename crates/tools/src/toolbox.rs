//! All tools of one thread.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quipu_engine::{CallKind, ToolCall};
use quipu_patch::TurnDiff;
use quipu_policy::permissions::Grants;
use quipu_policy::rules::Rules;
use quipu_policy::session::SessionApprovals;
use quipu_policy::settings::Settings;
use quipu_wire::{AskForApproval, SandboxPolicy};
use tokio::sync::{RwLock, watch};

use crate::call::{Finished, Running};
use crate::exec::Sessions;
use crate::host::Host;
use crate::scope::Scope;
use crate::{
    agents, apply_patch, dynamic, exec, hooks, login_shell, mcp, request_permissions,
    request_user_input, shell, tool_search, update_plan, view_image,
};

/// The tools that read or change files, or run commands.
const TOUCHES_MACHINE: [&str; 8] = [
    "apply_patch",
    "container.exec",
    "exec_command",
    "local_shell",
    "shell",
    "shell_command",
    "view_image",
    "write_stdin",
];
const NO_ENVIRONMENT: &str = "No usable execution environment is available. Wait for an environment to become \
                              available before using this tool.";

/// The tools of a thread and what they remember.
#[derive(Clone, Default)]
pub struct Toolbox(pub(crate) Arc<Inner>);

#[derive(Default)]
pub(crate) struct Inner {
    /// What is allowed and forbidden: the rules files of the thread, and what was agreed to since.
    rules: Mutex<Arc<Rules>>,
    approvals: Mutex<SessionApprovals>,
    grants: Mutex<Grants>,
    pub sessions: Sessions,
    /// The changes of the turn with this id.
    pub diff: tokio::sync::Mutex<Option<(String, TurnDiff)>>,
    pub login_shell: login_shell::Cache,
    /// Tools that are safe beside each other share it; the others have it alone.
    gate: RwLock<()>,
}

/// Tells the calls of a turn to stop.
#[derive(Clone)]
pub struct Cancel(watch::Sender<bool>);

impl Default for Cancel {
    fn default() -> Cancel {
        Cancel(watch::Sender::new(false))
    }
}

impl Cancel {
    /// Stops all calls that share it.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is said.
    pub async fn cancelled(&self) {
        // The sender is `self`, so waiting cannot fail.
        self.0
            .subscribe()
            .wait_for(|cancelled| *cancelled)
            .await
            .ok();
    }
}

impl Toolbox {
    /// The tools of a thread with these rules.
    #[must_use]
    pub fn new(rules: Rules) -> Toolbox {
        let rules = Mutex::new(Arc::new(rules));
        Toolbox(Arc::new(Inner {
            rules,
            ..Inner::default()
        }))
    }

    /// The rules now in force.
    #[must_use]
    pub fn rules(&self) -> Arc<Rules> {
        Arc::clone(&lock(&self.0.rules))
    }

    pub(crate) fn change_rules(&self, change: impl FnOnce(&mut Rules)) {
        change(Arc::make_mut(&mut lock(&self.0.rules)));
    }

    /// Runs a call to its end. Whatever goes wrong is told to the model.
    pub async fn run(
        &self,
        scope: Arc<Scope>,
        host: Arc<dyn Host>,
        call: ToolCall,
        cancel: Cancel,
    ) -> Finished {
        let run = Running {
            scope,
            host,
            call: Arc::new(call),
            cancel,
            ends_turn: Arc::default(),
            given_up: Arc::default(),
        };
        let parallel = matches!(
            run.call.name.as_str(),
            "exec_command"
                | "shell"
                | "shell_command"
                | "local_shell"
                | "container.exec"
                | "view_image"
                | tool_search::TOOL_SEARCH
        ) || mcp::RESOURCE_TOOLS.contains(&run.call.name.as_str());
        let begun = Instant::now();
        let (mut _shared, mut _alone) = (None, None);
        let turn_to_run = async {
            if parallel {
                _shared = Some(self.0.gate.read().await);
            } else if !matches!(run.call.name.as_str(), "write_stdin" | "wait_agent") {
                _alone = Some(self.0.gate.write().await);
            }
        };
        tokio::select! {
            () = run.cancel.cancelled() => {}
            () = turn_to_run => {}
        }
        // An interrupt also ends the calls before this one, which may open the gate sooner than it is heard here.
        if run.cancel.is_cancelled() {
            return run.aborted(begun.elapsed()).into();
        }
        let mut finished = tokio::select! {
            finished = hooks::around(self, &run) => finished,
            () = run.given_up.notified() => run.aborted(begun.elapsed()).into(),
        };
        finished.end_turn |= run.ends_turn.load(Ordering::Relaxed);
        finished
    }

    pub(crate) async fn dispatch(&self, run: &Running) -> Finished {
        if let Some(agents) = agents::for_call(run) {
            return agents::call(run, agents).await;
        }
        if !run.scope.has_environment && TOUCHES_MACHINE.contains(&run.call.name.as_str()) {
            return NO_ENVIRONMENT.to_owned().into();
        }
        match (run.call.name.as_str(), &run.call.kind) {
            ("exec_command", CallKind::Function(_)) => exec::exec_command(self, run).await,
            ("write_stdin", CallKind::Function(_)) => exec::write_stdin(self, run).await,
            ("shell" | "container.exec" | "local_shell", CallKind::Function(_)) => {
                shell::shell(self, run).await
            }
            ("shell_command", CallKind::Function(_)) => shell::shell_command(self, run).await,
            ("local_shell", CallKind::LocalShell(call)) => {
                shell::local_shell(self, run, call).await
            }
            ("apply_patch", _) => apply_patch::apply_patch(self, run).await,
            ("update_plan", CallKind::Function(_)) => update_plan::update_plan(run).await,
            ("view_image", CallKind::Function(_)) if run.scope.features.view_image => {
                view_image::view_image(self, run).await
            }
            ("request_user_input", CallKind::Function(_)) if !run.scope.is_subagent => {
                request_user_input::request_user_input(run).await
            }
            ("request_permissions", CallKind::Function(_)) => {
                request_permissions::request_permissions(self, run).await
            }
            (name, CallKind::Function(_))
                if mcp::RESOURCE_TOOLS.contains(&name) && !run.scope.mcp.fleet.is_empty() =>
            {
                mcp::resource_tool(run).await
            }
            (name, CallKind::Function(_)) if name.starts_with("mcp__") => {
                match run.scope.mcp.fleet.tool(name) {
                    Some(offered) => mcp::call(self, run, offered).await,
                    None => format!("unsupported call: {name}").into(),
                }
            }
            (tool_search::TOOL_SEARCH, CallKind::Function(_))
                if tool_search::spec(&run.scope.dynamic_tools).is_some() =>
            {
                tool_search::tool_search(run)
            }
            (name, CallKind::Function(_)) if dynamic::knows(run, name) => dynamic::call(run).await,
            (name, CallKind::Custom(_)) => format!("unsupported custom tool call: {name}").into(),
            (name, _) => format!("unsupported call: {name}").into(),
        }
    }

    /// Whether processes of earlier calls still run.
    #[must_use]
    pub fn has_processes(&self) -> bool {
        self.0.sessions.any_alive()
    }

    /// Ends the processes of earlier calls that were started with more rights than these.
    pub fn kill_wider_processes(&self, sandbox: &SandboxPolicy, approval_policy: &AskForApproval) {
        self.0.sessions.kill_wider(sandbox, approval_policy);
    }

    /// Ends the processes of earlier calls.
    pub fn kill_processes(&self) {
        self.0.sessions.kill_all();
    }

    /// Ends all processes, and those that calls are just starting. For a thread that is unloaded.
    pub fn shut_down(&self) {
        self.0.sessions.close();
    }

    /// Forgets what was agreed to for one turn only.
    pub fn end_turn(&self) {
        self.grants().end_turn();
    }

    pub(crate) fn approvals(&self) -> MutexGuard<'_, SessionApprovals> {
        lock(&self.0.approvals)
    }

    pub(crate) fn grants(&self) -> MutexGuard<'_, Grants> {
        lock(&self.0.grants)
    }

    /// Decides something with all that is known of the user's wishes.
    pub(crate) fn decide<T>(&self, scope: &Scope, decide: impl FnOnce(&Settings<'_>) -> T) -> T {
        let writable = scope.writable_roots();
        let rules = self.rules();
        let (grants, session) = (self.grants(), self.approvals());
        decide(&Settings {
            approval_policy: &scope.approval_policy,
            sandbox: &scope.sandbox,
            writable: &writable,
            shell: &scope.shell,
            rules: &rules,
            grants: &grants,
            session: &session,
            additional_permissions: scope.features.exec_permission_approvals,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
