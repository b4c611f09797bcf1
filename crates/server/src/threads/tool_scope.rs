//! The settings of a turn as tools need them.

use std::sync::Arc;

use quipu_config::Feature;
use quipu_engine::{Purpose, TurnId};
use quipu_model::catalogue::{ApplyPatchTool, ShellType, WebSearchTool};
use quipu_policy::guardian::guardian_reviews;
use quipu_prompt::truncate;
use quipu_tools::agents::Role;
use quipu_tools::{Drops, Features, Scope, ShellTool, WebSearch};
use quipu_wire::{AskForApproval, ModeKind, SandboxPolicy};

use super::actor::Actor;
use super::session::Session;
use crate::agents;

impl Actor {
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
    pub fn scope(&self, turn_id: &TurnId, purpose: Purpose) -> Scope {
        let session = &self.session;
        let config = &self.server.settings.config;
        let environment = session.snapshot.shell_environment();
        let use_profile = environment.experimental_use_profile;
        let vars = config.env().vars();
        let mut env: Vec<(String, String)> = environment.apply(vars).into_iter().collect();
        let offline = environment.clone();
        let withholds = Drops::new(move |name| offline.withholds(name));
        let credentials = session.snapshot.hidden_paths(config.env().user_home());
        env.push(("CODEX_THREAD_ID".to_owned(), self.handle.id.to_string()));
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
            found_tools: self.tools.found(),
            mcp: self.sampler.mcp().clone(),
            plan_mode: session.mode.mode == ModeKind::Plan,
            has_goal: self.goal.is_active() && purpose == Purpose::Turn,
            accepts_images: session.info.accepts_images(),
            web_search: self.web_search(purpose),
            network: self.tools.shared_network(),
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
