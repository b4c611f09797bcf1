//! The settings of a turn as tools need them.

use std::collections::BTreeSet;
use std::sync::Arc;

use quipu_config::Feature;
use quipu_config::settings::ShellEnvironment;
use quipu_engine::{Purpose, ThreadId, TurnId};
use quipu_model::catalogue::{ApplyPatchTool, ShellType, WebSearchTool};
use quipu_policy::guardian::guardian_reviews;
use quipu_prompt::truncate;
use quipu_tools::agents::Role;
use quipu_tools::{Clock, Drops, Features, McpScope, Network, Scope, ShellTool, WebSearch};
use quipu_wire::{AskForApproval, ModeKind, SandboxPolicy};

use super::actor::Actor;
use super::session::Session;
use crate::{Server, agents};

/// What tools must know of a thread besides its settings.
pub(super) struct ToolFacts {
    pub thread_id: ThreadId,
    pub turn_id: TurnId,
    pub purpose: Purpose,
    pub found_tools: Arc<BTreeSet<String>>,
    pub mcp: McpScope,
    pub has_goal: bool,
    pub network: Option<Arc<Network>>,
    pub agent_depth: i32,
    pub clock: Clock,
}

impl Actor {
    /// The settings of the turn, as tools need them.
    pub fn scope(&self, turn_id: &TurnId, purpose: Purpose) -> Scope {
        let facts = ToolFacts {
            thread_id: self.handle.id.clone(),
            turn_id: turn_id.clone(),
            purpose,
            found_tools: self.tools.found(),
            mcp: self.sampler.mcp().clone(),
            has_goal: self.goal.is_active() && purpose == Purpose::Turn,
            network: self.tools.shared_network(),
            agent_depth: self.audience.agent_depth(),
            clock: self.questions.clock(),
        };
        self.session.scope(&self.server, facts)
    }
}

impl Session {
    /// How the provider may search the web; a reviewer does not.
    fn web_search(&self, purpose: Purpose) -> Option<WebSearch> {
        let tools = self.snapshot.tools();
        let full_access = self.sandbox == SandboxPolicy::DangerFullAccess;
        let search = WebSearch::new(tools.web_search, full_access)?;
        (purpose != Purpose::Review).then(|| WebSearch {
            details: tools.web_search_details.clone(),
            images: self.info.web_search_tool_type == WebSearchTool::TextAndImage,
            ..search
        })
    }

    /// The kinds of agents that may be started from here, if any may.
    fn agent_roles(&self, facts: &ToolFacts) -> Option<Arc<[Role]>> {
        let allowed = self.has_feature(Feature::MultiAgent)
            && facts.purpose != Purpose::Review
            && facts.agent_depth < self.snapshot.agents().max_depth;
        allowed.then(|| agents::offered_roles(&self.snapshot))
    }

    /// Which tools and extras are switched on.
    fn tool_features(&self, purpose: Purpose, use_profile: bool) -> Features {
        let permissions = self.snapshot.permissions();
        Features {
            allow_login_shell: permissions.allow_login_shell,
            use_profile,
            shell_snapshot: self.has_feature(Feature::ShellSnapshot),
            view_image: self.snapshot.tools().view_image,
            image_generation: self.has_feature(Feature::ImageGeneration)
                && purpose != Purpose::Review,
            exec_permission_approvals: self.has_feature(Feature::ExecPermissionApprovals),
            request_permissions_tool: self.has_feature(Feature::RequestPermissionsTool),
            ask_anytime: self.has_feature(Feature::DefaultModeRequestUserInput),
            legacy_approvals: permissions.legacy_approvals,
            landlock_only: self.has_feature(Feature::UseLegacyLandlock),
        }
    }

    /// The settings of a turn, as tools need them.
    fn scope(&self, server: &Server, facts: ToolFacts) -> Scope {
        let (config, purpose) = (&server.settings.config, facts.purpose);
        let environment = self.snapshot.shell_environment();
        let offline = environment.clone();
        let use_profile = environment.experimental_use_profile;
        let credentials = self.snapshot.hidden_paths(config.env().user_home());
        Scope {
            agents: self.agent_roles(&facts),
            env: command_env(server, &environment, &facts.thread_id),
            thread_id: facts.thread_id,
            turn_id: facts.turn_id,
            traceparent: None,
            home: server.home().to_owned(),
            cwd: self.cwd.clone(),
            approval_policy: match purpose {
                Purpose::Review => AskForApproval::Never,
                Purpose::Turn | Purpose::Compaction { .. } => self.approval_policy.clone(),
            },
            sandbox: self.sandbox.clone(),
            has_environment: self.has_environment,
            reviewed: guardian_reviews(&self.approval_policy, self.approvals_reviewer),
            shell: server.shell(),
            withholds: Drops::new(move |name| offline.withholds(name)),
            credentials: credentials.into(),
            denied: self.snapshot.permissions().hidden.as_slice().into(),
            trusted: self.snapshot.trusted_projects().into(),
            drops: Drops::new(move |name| environment.drops(name)),
            tmpdir: config.env().get("TMPDIR").map(Into::into),
            dynamic_tools: self.dynamic_tools.clone().into(),
            found_tools: facts.found_tools,
            mcp: facts.mcp,
            plan_mode: self.mode.mode == ModeKind::Plan,
            has_goal: facts.has_goal,
            accepts_images: self.info.accepts_images(),
            web_search: self.web_search(purpose),
            network: facts.network,
            is_subagent: purpose == Purpose::Review || facts.agent_depth > 0,
            shell_tool: shell_tool(self),
            patch_as_text: patch_as_text(self),
            output_budget: truncate::budget(self.info.truncation_policy),
            clock: facts.clock,
            longest_poll: self.snapshot.tools().background_terminal_max_timeout,
            features: self.tool_features(purpose, use_profile),
        }
    }
}

/// The environment of commands.
fn command_env(
    server: &Server,
    environment: &ShellEnvironment,
    thread_id: &ThreadId,
) -> Vec<(String, String)> {
    let vars = server.settings.config.env().vars();
    let mut env: Vec<(String, String)> = environment.apply(vars).into_iter().collect();
    env.push(("CODEX_THREAD_ID".to_owned(), thread_id.to_string()));
    let path = env.iter_mut().find(|(name, _)| name == "PATH");
    if let (Some((_, path)), Some(programs)) = (path, &*server.settings.programs) {
        *path = format!("{}:{path}", programs.display());
    }
    env
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
