//! Everything that the texts for the model depend on, and what of it the model was last told.

use std::sync::Arc;

use quipu_wire::{
    ApprovalsReviewer, AskForApproval, CollaborationMode, Personality, SandboxPolicy,
};

use super::base;
use super::plugins::Plugin;
use super::skills::Skill;

/// What the model is told about its situation, gathered for one turn.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The working directory, absolute.
    pub cwd: String,
    /// The name of the person's shell, such as `bash`.
    pub shell: String,
    /// The local date, `YYYY-MM-DD`.
    pub date: String,
    /// The local time zone, such as `Europe/Lisbon`.
    pub timezone: String,
    /// When to ask.
    pub approval_policy: AskForApproval,
    /// Who is asked.
    pub approvals_reviewer: ApprovalsReviewer,
    /// What commands may touch.
    pub sandbox: SandboxPolicy,
    /// Where they may write under `workspace-write`, resolved: configured roots, the working directory,
    /// temporary directories.
    pub writable_roots: Vec<String>,
    /// What the administrator lets commands reach; `None` if nothing was said about it.
    pub network: Option<NetworkHosts>,
    /// Beginnings of commands that a rule allows.
    pub allowed_prefixes: Vec<Vec<String>>,
    /// The model of this turn.
    pub model: ModelFacts,
    /// The instructions sent with every request of the thread, fixed when it began.
    pub base_instructions: Arc<str>,
    /// How the model should speak.
    pub personality: Option<Personality>,
    /// How it works with the person; the settings hold the instructions in force.
    pub collaboration_mode: CollaborationMode,
    /// Instructions of the client or the configuration.
    pub developer_instructions: Option<String>,
    /// What `AGENTS.md` files say, read when the thread began.
    pub project_instructions: Option<String>,
    /// The skills at hand.
    pub skills: Arc<[Skill]>,
    /// Whether tools of apps are offered.
    pub has_apps: bool,
    /// The plugins in force.
    pub plugins: Arc<[Plugin]>,
    /// Agents that this thread started and that are still there.
    pub subagents: Vec<Subagent>,
    /// The trailer that names the agent in commits, if it should add one.
    pub commit_attribution: Option<String>,
    /// Ways to ask for more that are not always there.
    pub escalation: Escalation,
    /// The user speaks with a voice model that hands over work: what the model is told about that.
    pub realtime: Option<String>,
}

/// The model of a turn.
#[derive(Debug, Clone)]
pub struct ModelFacts {
    /// Its name.
    pub slug: String,
    /// Whether a personality makes a difference to it.
    pub takes_personality: bool,
}

/// Hosts that commands may and may not reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NetworkHosts {
    /// Hosts that may be reached.
    #[serde(default, rename = "allowed_domains")]
    pub allowed: Vec<String>,
    /// Hosts that may not.
    #[serde(default, rename = "denied_domains")]
    pub denied: Vec<String>,
}

/// An agent that a thread started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// Its thread id or path.
    pub id: String,
    /// What it is called.
    pub nickname: String,
}

/// Ways to ask for more that are not always there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Escalation {
    /// A command can ask for single permissions on top of the sandbox.
    pub additional_permissions: bool,
    /// The tool `request_permissions` is offered.
    pub request_permissions_tool: bool,
}

impl Facts {
    /// What the model should know about its manner, if it can make use of it.
    pub fn manner(&self) -> Option<&'static str> {
        self.personality
            .filter(|_| self.model.takes_personality)
            .and_then(base::manner)
    }

    /// Whether it has to be told, since the base instructions do not.
    pub fn base_lacks_manner(&self) -> bool {
        self.manner()
            .is_some_and(|manner| !self.base_instructions.contains(manner))
    }

    /// What the model will know once these facts are in its history.
    pub fn baseline(&self) -> Baseline {
        Baseline {
            cwd: self.cwd.clone(),
            date: Some(self.date.clone()),
            timezone: Some(self.timezone.clone()),
            approval_policy: self.approval_policy.clone(),
            sandbox: self.sandbox.clone(),
            network: self.network.clone(),
            model: self.model.slug.clone(),
            personality: self.personality,
            collaboration_mode: Some(self.collaboration_mode.clone()),
            developer_instructions: self.developer_instructions.clone(),
            realtime: self.realtime.is_some(),
            plugins: Some(self.plugins.iter().map(|it| it.id.clone()).collect()),
        }
    }
}

/// What the model was last told of the facts that can change from turn to turn: the same as a
/// `turn_context` line of a rollout keeps, so that a resumed thread has it too.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// The working directory.
    pub cwd: String,
    /// The date; old rollouts lack it.
    pub date: Option<String>,
    /// The time zone; old rollouts lack it.
    pub timezone: Option<String>,
    /// When to ask.
    pub approval_policy: AskForApproval,
    /// What commands may touch.
    pub sandbox: SandboxPolicy,
    /// What they may reach.
    pub network: Option<NetworkHosts>,
    /// The model of that turn.
    pub model: String,
    /// How it spoke.
    pub personality: Option<Personality>,
    /// How it worked with the person; old rollouts lack it.
    pub collaboration_mode: Option<CollaborationMode>,
    /// Instructions of the client or the configuration.
    pub developer_instructions: Option<String>,
    /// Whether the user speaks.
    pub realtime: bool,
    /// The ids of the plugins in force; `None` if that is not known.
    pub plugins: Option<Vec<String>>,
}
