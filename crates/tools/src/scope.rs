//! The settings of the turn that a call belongs to.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_engine::{ThreadId, TurnId};
use quipu_policy::writable::writable_roots;
use quipu_prompt::budget::Budget;
use quipu_sandbox::Enforcement;
use quipu_wire::{AskForApproval, DynamicToolSpec, SandboxPolicy};

use crate::agents::Role;
use crate::clock::Clock;
use crate::mcp::McpScope;
use crate::network::Network;
use crate::web_search::WebSearch;

/// What holds for the calls of one turn.
#[derive(Debug, Clone)]
pub struct Scope {
    pub thread_id: ThreadId,
    pub turn_id: TurnId,
    /// Where in a trace the call is (W3C Trace Context), if it is in one.
    pub traceparent: Option<String>,
    pub home: PathBuf,
    pub cwd: PathBuf,
    pub approval_policy: AskForApproval,
    pub sandbox: SandboxPolicy,
    /// Whether calls may touch files and run commands at all.
    pub has_environment: bool,
    /// A model answers the questions that would go to the user.
    pub reviewed: bool,
    /// The user's shell, absolute.
    pub shell: String,
    /// The environment of commands.
    pub env: Vec<(String, String)>,
    /// Variables that commands must not see, also where their shell sets them.
    pub drops: Drops,
    /// Those that sandboxed commands without network must not see either.
    pub withholds: Drops,
    /// What such commands cannot read.
    pub credentials: Arc<[PathBuf]>,
    /// What the permission profile denies to commands.
    pub denied: Arc<[PathBuf]>,
    /// Directories whose settings count, so that no sandboxed command may write these.
    pub trusted: Arc<[PathBuf]>,
    /// `TMPDIR` of this process.
    pub tmpdir: Option<PathBuf>,
    pub dynamic_tools: Arc<[DynamicToolSpec]>,
    /// The names of those deferred ones that the model has found.
    pub found_tools: Arc<BTreeSet<String>>,
    pub mcp: McpScope,
    /// The user plans, the agent must not act.
    pub plan_mode: bool,
    /// The thread has a goal that it works towards.
    pub has_goal: bool,
    pub accepts_images: bool,
    /// How the provider may search the web, if at all.
    pub web_search: Option<WebSearch>,
    /// Whom commands may reach, if the network is managed.
    pub network: Option<Arc<Network>>,
    /// The agent works for another agent, and has no user to ask.
    pub is_subagent: bool,
    /// The kinds of agents that it may start, if it may.
    pub agents: Option<Arc<[Role]>>,
    /// The tools for commands that are offered.
    pub shell_tool: ShellTool,
    /// Whether patches are offered as free text or as JSON, if they are.
    pub patch_as_text: Option<bool>,
    /// How much of a command's output the model gets, if it is waited for.
    pub output_budget: Budget,
    /// By which the limits of commands are measured.
    pub clock: Clock,
    /// The longest look at a command in the background that types nothing.
    pub longest_poll: Duration,
    pub features: Features,
}

/// A family of tools for commands. Whichever is offered, calls of the others work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellTool {
    Disabled,
    /// `exec_command` and `write_stdin`.
    Exec,
    /// `shell_command`.
    Script,
    /// `shell`.
    Words,
    /// The provider's `local_shell`.
    Hosted,
}

/// Says by name which variables commands must not see.
#[derive(Clone)]
pub struct Drops(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Drops {
    pub fn new(drops: impl Fn(&str) -> bool + Send + Sync + 'static) -> Drops {
        Drops(Arc::new(drops))
    }

    pub(crate) fn drops(&self, name: &str) -> bool {
        (self.0)(name)
    }
}

impl fmt::Debug for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drops")
    }
}

/// Optional abilities.
#[derive(Debug, Clone, Copy, Default)]
pub struct Features {
    pub allow_login_shell: bool,
    /// Commands run in a login shell where one is allowed, whatever the model says.
    pub use_profile: bool,
    /// The profile is read once, not by every command that asks for a login shell.
    pub shell_snapshot: bool,
    pub view_image: bool,
    /// The provider may make images.
    pub image_generation: bool,
    pub exec_permission_approvals: bool,
    pub request_permissions_tool: bool,
    /// Questions may be asked outside plan mode, too.
    pub ask_anytime: bool,
    /// Clients are asked in the form of the first protocol version.
    pub legacy_approvals: bool,
    /// Commands are sandboxed without namespaces.
    pub landlock_only: bool,
}

impl Features {
    /// What is to enforce the policy of commands.
    pub(crate) fn enforcement(self) -> Enforcement {
        match self.landlock_only {
            true => Enforcement::Landlock,
            false => Enforcement::Auto,
        }
    }
}

impl Scope {
    /// A path as the turn sees it; an empty one is as good as none.
    pub(crate) fn resolve(&self, path: Option<&str>) -> PathBuf {
        let path = path.filter(|path| !path.is_empty());
        path.map_or_else(|| self.cwd.clone(), |path| self.cwd.join(path))
    }

    /// The directories that commands may write to, as they are named and where they really are.
    pub(crate) fn writable_roots(&self) -> Vec<PathBuf> {
        let mut roots = writable_roots(&self.sandbox, &self.cwd, self.tmpdir.as_deref());
        let real: Vec<_> = roots
            .iter()
            .filter_map(|root| root.canonicalize().ok())
            .collect();
        roots.extend(real);
        roots
    }
}
