//! All tools of one thread.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use quipu_engine::{ToolCall, TurnId};
use quipu_patch::TurnDiff;
use quipu_policy::permissions::Grants;
use quipu_policy::rules::Rules;
use quipu_policy::session::SessionApprovals;
use quipu_policy::settings::Settings;
use quipu_wire::{AskForApproval, SandboxPolicy, ThreadBackgroundTerminal};
use tokio::sync::{Mutex, RwLock, watch};

use crate::call::{Finished, Running};
use crate::exec::{Session, Sessions};
use crate::host::Host;
use crate::scope::Scope;
use crate::tool::{Parallel, Reach};
use crate::{dynamic, hooks, login_shell, mcp, table};

/// What the model reads of a call that needs a machine when there is none.
const NO_ENVIRONMENT: &str = "No usable execution environment is available. Wait for an environment to become \
                              available before using this tool.";

/// What the tools of a thread remember. The thread owns it; calls reach it through their [host](Host).
#[derive(Default)]
pub struct Toolbox {
    agreements: Agreements,
    pub(crate) sessions: Sessions,
    patches: Option<(TurnId, Patches)>,
    pub(crate) login_shell: login_shell::Cache,
    /// Calls that are safe beside each other share it; the others have it alone.
    gate: Arc<RwLock<()>>,
}

/// Something that a call does with what the tools remember.
pub type Access = Box<dyn FnOnce(&mut Toolbox) + Send>;

/// The changes of one turn. Patches are written one after the other, by the call that has it.
pub(crate) type Patches = Arc<Mutex<Option<TurnDiff>>>;

/// What is allowed and forbidden: the rules files of the thread, and what the user agreed to since.
#[derive(Clone, Default)]
pub(crate) struct Agreements {
    rules: Arc<Rules>,
    approvals: Arc<SessionApprovals>,
    grants: Arc<Grants>,
}

impl Agreements {
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn rules_mut(&mut self) -> &mut Rules {
        Arc::make_mut(&mut self.rules)
    }

    pub fn approvals(&self) -> &SessionApprovals {
        &self.approvals
    }

    pub fn approvals_mut(&mut self) -> &mut SessionApprovals {
        Arc::make_mut(&mut self.approvals)
    }

    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    pub fn grants_mut(&mut self) -> &mut Grants {
        Arc::make_mut(&mut self.grants)
    }

    /// Decides something with all that is known of the user's wishes.
    pub fn decide<T>(&self, scope: &Scope, decide: impl FnOnce(&Settings<'_>) -> T) -> T {
        decide(&Settings {
            approval_policy: &scope.approval_policy,
            sandbox: &scope.sandbox,
            writable: &scope.writable_roots(),
            shell: &scope.shell,
            rules: &self.rules,
            grants: &self.grants,
            session: &self.approvals,
            additional_permissions: scope.features.exec_permission_approvals,
        })
    }
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
        let agreements = Agreements {
            rules: Arc::new(rules),
            ..Agreements::default()
        };
        Toolbox {
            agreements,
            ..Toolbox::default()
        }
    }

    /// The rules now in force.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        self.agreements.rules()
    }

    pub(crate) fn agreements(&self) -> &Agreements {
        &self.agreements
    }

    pub(crate) fn agreements_mut(&mut self) -> &mut Agreements {
        &mut self.agreements
    }

    /// The changes of a turn.
    pub(crate) fn patches(&mut self, turn_id: &TurnId) -> Patches {
        let known = self.patches.take_if(|(turn, _)| turn == turn_id);
        let known = known.unwrap_or_else(|| (turn_id.clone(), Patches::default()));
        Arc::clone(&self.patches.insert(known).1)
    }

    /// Runs a call to its end. Whatever goes wrong is reported to the model.
    pub fn run(
        &self,
        scope: Arc<Scope>,
        host: Arc<dyn Host>,
        call: ToolCall,
        cancel: Cancel,
    ) -> impl Future<Output = Finished> + Send + use<> {
        let run = Running {
            scope,
            host,
            tool: table::named(&call.name),
            call: Arc::new(call),
            cancel,
            ends_turn: Arc::default(),
            given_up: Arc::default(),
        };
        run_call(run, Arc::clone(&self.gate))
    }

    /// Whether processes of earlier calls still run.
    #[must_use]
    pub fn has_processes(&self) -> bool {
        self.sessions.any_alive()
    }

    /// The processes of earlier calls that still run.
    #[must_use]
    pub fn terminals(&self) -> Vec<ThreadBackgroundTerminal> {
        let terminal = |session: &Session| ThreadBackgroundTerminal {
            item_id: session.shown.id.to_string(),
            process_id: session.id.to_string(),
            command: session.shown.command.clone(),
            cwd: session.shown.cwd.clone(),
            os_pid: None,
            cpu_percent: None,
            rss_kb: None,
        };
        self.sessions.alive().map(terminal).collect()
    }

    /// Ends a process of an earlier call; `false` if none has this number.
    pub fn kill_process(&mut self, id: &str) -> bool {
        self.sessions.kill(id)
    }

    /// Ends the processes of earlier calls that were started with more rights than these.
    pub fn kill_wider_processes(
        &mut self,
        sandbox: &SandboxPolicy,
        approval_policy: &AskForApproval,
    ) {
        self.sessions.kill_wider(sandbox, approval_policy);
    }

    /// Ends the processes of earlier calls.
    pub fn kill_processes(&mut self) {
        self.sessions.kill_all();
    }

    /// Forgets what was agreed to for one turn only.
    pub fn end_turn(&mut self) {
        self.agreements.grants_mut().end_turn();
    }
}

async fn run_call(run: Running, gate: Arc<RwLock<()>>) -> Finished {
    let parallel = run.tool.map_or(Parallel::Never, |tool| tool.parallel());
    let begun = Instant::now();
    let (mut _shared, mut _alone) = (None, None);
    let turn_to_run = async {
        match parallel {
            Parallel::Shared => _shared = Some(gate.read().await),
            Parallel::Never => _alone = Some(gate.write().await),
            Parallel::Always => {}
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
        finished = hooks::around(&run) => finished,
        () = run.given_up.notified() => run.aborted(begun.elapsed()).into(),
    };
    finished.end_turn |= run.ends_turn.load(Ordering::Relaxed);
    finished
}

/// Finds who runs a call: the table of tools, then MCP servers, then the client.
pub(crate) async fn dispatch(run: &Running) -> Finished {
    if let Some(tool) = run.tool {
        if !run.scope.has_environment && tool.reach() != Reach::Thread {
            return NO_ENVIRONMENT.into();
        }
        if tool.accepts(run) {
            return tool.run(run).await;
        }
    }
    if run.is_function() && mcp::is_mcp_tool(&run.call.name) {
        mcp::call(run).await
    } else if run.is_function() && dynamic::knows(run, &run.call.name) {
        dynamic::call(run).await
    } else {
        run.unsupported()
    }
}
