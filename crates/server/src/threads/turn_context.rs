//! What the model is told of its surroundings before the user's words: everything at first, later what changed.

use std::sync::Arc;

use quipu_config::Feature;
use quipu_engine::Context;
use quipu_wire::Json;

use super::actor::Actor;
use super::network;
use super::skills::ThreadSkills;
use crate::clock;
use quipu_prompt::facts::{Baseline, Escalation, Facts, ModelFacts, Subagent};
use quipu_prompt::{initial, stored, update};

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

    pub fn turn_context(&self, facts: &Facts, turn_id: &str) -> Option<Json> {
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

    fn subagents(&self) -> Vec<Subagent> {
        let agents = self.server.agents.of(&self.handle.id).into_iter();
        let named = agents.map(|agent| Subagent {
            id: agent.id.clone(),
            nickname: agent.nickname.clone(),
        });
        named.collect()
    }

    /// The co-author of commits, if commits are to have one.
    fn commit_attribution(&self) -> Option<String> {
        let wanted = self.session.has_feature(Feature::CodexGitCommit);
        let instructions = self.session.snapshot.instructions();
        instructions.commit_attribution.clone().filter(|_| wanted)
    }
}
