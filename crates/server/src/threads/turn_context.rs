//! What the model is told of its surroundings before the user's input: everything at first, later what changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_config::Feature;
use quipu_engine::{Context, ThreadId, TurnId};
use quipu_journal::Replay;
use quipu_policy::writable::writable_roots;
use quipu_wire::{Json, UserInput};

use super::actor::Actor;
use super::network;
use super::sampling::Sampler;
use super::session::Session;
use super::skills::ThreadSkills;
use super::tools::Tools;
use crate::skills::Followed;
use crate::{Server, clock};
use quipu_prompt::facts::{Baseline, Escalation, Facts, ModelFacts, Subagent};
use quipu_prompt::{initial, stored, update};

/// What the model knows of its surroundings, and what stays the same for the life of the thread.
pub(super) struct PromptState {
    /// What the model was last told of the settings; `None` if it must be told everything.
    baseline: Option<Baseline>,
    /// The model of the last turn.
    previous_model: Option<String>,
    base_instructions: Arc<str>,
    /// What `AGENTS.md` files said when the thread began.
    project_instructions: Option<String>,
    skills: ThreadSkills,
}

impl PromptState {
    /// What a model knows that was told nothing yet.
    pub fn new(
        base_instructions: Arc<str>,
        project_instructions: Option<String>,
        skills: ThreadSkills,
    ) -> PromptState {
        PromptState {
            baseline: None,
            previous_model: None,
            base_instructions,
            project_instructions,
            skills,
        }
    }

    /// What the model of a stored thread knows.
    pub fn stored(self, replay: &Replay) -> PromptState {
        PromptState {
            previous_model: replay.context.as_ref().map(|context| context.model.clone()),
            baseline: stored_baseline(replay),
            ..self
        }
    }

    pub fn base_instructions(&self) -> &Arc<str> {
        &self.base_instructions
    }

    pub fn skills(&self) -> &ThreadSkills {
        &self.skills
    }

    pub fn skills_mut(&mut self) -> &mut ThreadSkills {
        &mut self.skills
    }

    /// Looks at the skills again.
    pub fn renew_skills(&mut self, server: &Server, session: &Session) {
        self.skills.renew(server, session);
    }

    /// Looks at the skills again if the person seems to name one.
    pub fn renew_skills_for(&mut self, server: &Server, session: &Session, input: &[UserInput]) {
        let names_one = input.iter().any(|input| match input {
            UserInput::Skill { .. } => true,
            UserInput::Text { text, .. } => text.contains('$'),
            _ => false,
        });
        if names_one {
            self.renew_skills(server, session);
        }
    }

    /// Keeps the directories of the skills watched.
    pub fn keep_followed(&mut self, followed: Followed) {
        self.skills.keep_followed(followed);
    }

    /// What the model must read to know these facts: everything at first, later only what changed.
    fn learn(&mut self, facts: &Facts) -> Vec<Json> {
        let history = match &self.baseline {
            None => initial::initial(facts, self.previous_model.as_deref()),
            Some(baseline) => update::update(facts, baseline),
        };
        self.previous_model = Some(facts.model.slug.clone());
        self.baseline = Some(facts.baseline());
        history
    }

    /// The history was replaced by one after which the model knows this.
    pub fn set_baseline(&mut self, baseline: Option<Baseline>) {
        self.baseline = baseline;
    }
}

/// What the model of a stored thread was last told of the settings.
pub(super) fn stored_baseline(replay: &Replay) -> Option<Baseline> {
    let context = replay.context.as_ref();
    context
        .filter(|_| replay.context_is_current)
        .and_then(stored::baseline)
}

/// Where the model works, besides what it was told of it.
struct Surroundings<'a> {
    server: &'a Server,
    session: &'a Session,
    tools: &'a Tools,
    has_apps: bool,
    thread_id: &'a ThreadId,
    realtime: Option<String>,
}

impl Surroundings<'_> {
    /// What the model can be told of them now.
    fn facts(self, prompt: &PromptState) -> Facts {
        let session = self.session;
        Facts {
            cwd: session.cwd_text(),
            shell: self.server.shell_name(),
            date: clock::local_date(),
            timezone: clock::timezone(),
            approval_policy: session.approval_policy.clone(),
            approvals_reviewer: session.approvals_reviewer,
            sandbox: session.sandbox.clone(),
            writable_roots: self.writable_roots(),
            network: self.tools.network().map(network::hosts),
            allowed_prefixes: self.tools.allowed_prefixes(),
            model: ModelFacts {
                slug: session.model.clone(),
                takes_personality: session.info.supports_personality,
            },
            base_instructions: Arc::clone(&prompt.base_instructions),
            personality: session.personality,
            collaboration_mode: session.mode.clone(),
            developer_instructions: session.developer_instructions.clone(),
            project_instructions: prompt.project_instructions.clone(),
            skills: Arc::clone(&prompt.skills.offered),
            has_apps: self.has_apps,
            plugins: Arc::clone(&prompt.skills.plugins),
            subagents: self.subagents(),
            commit_attribution: commit_attribution(session),
            escalation: Escalation {
                additional_permissions: session.has_feature(Feature::ExecPermissionApprovals),
                request_permissions_tool: session.has_feature(Feature::RequestPermissionsTool),
            },
            realtime: self.realtime,
        }
    }

    fn writable_roots(&self) -> Vec<String> {
        let tmpdir = self.server.settings.config.env().get("TMPDIR");
        let session = self.session;
        let roots = writable_roots(&session.sandbox, &session.cwd, tmpdir.map(Path::new));
        let text = |root: PathBuf| root.to_string_lossy().into_owned();
        roots.into_iter().map(text).collect()
    }

    fn subagents(&self) -> Vec<Subagent> {
        let agents = self.server.agents.of(self.thread_id).into_iter();
        let named = agents.map(|agent| Subagent {
            id: agent.id.to_string(),
            nickname: agent.nickname.clone(),
        });
        named.collect()
    }
}

/// The co-author of commits, if commits are to have one.
fn commit_attribution(session: &Session) -> Option<String> {
    let wanted = session.has_feature(Feature::CodexGitCommit);
    let instructions = session.snapshot.instructions();
    instructions.commit_attribution.clone().filter(|_| wanted)
}

/// What the log keeps of the settings of a turn.
pub(super) fn turn_context(
    session: &Session,
    sampler: &Sampler,
    facts: &Facts,
    turn_id: &TurnId,
) -> Option<Json> {
    let mut context = stored::turn_context(facts, turn_id);
    context.effort = session.effort.map(|effort| effort.to_string());
    context.summary = Some(
        session
            .summary
            .map_or_else(|| "auto".to_owned(), |it| it.to_string()),
    );
    context.final_output_json_schema = sampler.output_schema().cloned();
    Json::new(&context).ok()
}

impl Actor {
    /// What must come before the user's input: everything at first, later only what changed.
    pub fn build_context(&mut self, turn_id: &TurnId) -> Context {
        let prompt = self.sampler.prompt_mut();
        if prompt.baseline.is_none() {
            prompt.renew_skills(&self.server, &self.session);
        }
        let facts = self.facts_now();
        let record = turn_context(&self.session, &self.sampler, &facts, turn_id);
        let history = self.sampler.prompt_mut().learn(&facts);
        Context { history, record }
    }

    /// What the model can be told of its surroundings now.
    pub fn facts_now(&self) -> Facts {
        let surroundings = Surroundings {
            server: &self.server,
            session: &self.session,
            tools: &self.tools,
            has_apps: self.sampler.mcp().has_apps,
            thread_id: &self.handle.id,
            realtime: self.realtime.instructions(&self.session),
        };
        surroundings.facts(self.sampler.prompt())
    }
}
