//! The members of requests that limit what the model may touch: sandbox policies, permission profiles,
//! environments and workspace roots. What cannot be honoured is refused: ignoring it would grant more than
//! the client asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_config::Snapshot;
use quipu_policy::narrowing::is_narrower;
use quipu_wire::{
    AbsolutePath, AskForApproval, SandboxPolicy, TurnEnvironmentParams, TurnStartParams,
};

use super::actor::Actor;
use super::agent::AgentMessage;
use super::message::Message;
use super::network;
use super::session::{Overrides, Session, load};
use super::turn_settings;
use crate::Refusal;
use crate::Server;

/// The only environment: the machine of the server.
pub(crate) const LOCAL_ENVIRONMENT: &str = "local";

/// Where the commands of a thread run.
pub(super) enum Environment<'a> {
    /// Nowhere: the model has no access to files and commands.
    Nowhere,
    /// On this machine, in this directory and with these workspace roots.
    Local(&'a Path, Option<&'a [AbsolutePath]>),
}

impl Environment<'_> {
    /// What a request chose, if it did.
    pub fn chosen(
        environments: Option<&[TurnEnvironmentParams]>,
    ) -> Result<Option<Environment<'_>>, Refusal> {
        let refuse = |text| Err(Refusal::invalid_request(text));
        let Some(environments) = environments else {
            return Ok(None);
        };
        if let Some(other) = environments
            .iter()
            .find(|it| it.environment_id != LOCAL_ENVIRONMENT)
        {
            return refuse(format!(
                "unknown turn environment id `{}`",
                other.environment_id
            ));
        }
        match environments {
            [] => Ok(Some(Environment::Nowhere)),
            [local] if Path::new(&local.cwd).is_absolute() => Ok(Some(Environment::Local(
                Path::new(&local.cwd),
                local.runtime_workspace_roots.as_deref(),
            ))),
            [local] => refuse(format!(
                "invalid cwd for environment `{LOCAL_ENVIRONMENT}`: path `{}` does not use absolute POSIX or Windows path syntax",
                local.cwd
            )),
            _ => refuse(format!(
                "duplicate turn environment id `{LOCAL_ENVIRONMENT}`"
            )),
        }
    }
}

/// Refuses a permission profile beside another member that says the same.
pub(crate) fn one_policy(
    (profile, is_profile): (&str, bool),
    (sandbox, is_sandbox): (&str, bool),
) -> Result<(), Refusal> {
    match is_profile && is_sandbox {
        true => Err(Refusal::invalid_request(format!(
            "`{profile}` cannot be combined with `{sandbox}`"
        ))),
        false => Ok(()),
    }
}

/// Adds workspace roots to a policy. The working directory is always one of them.
pub(super) fn add_roots(
    policy: &mut SandboxPolicy,
    roots: Option<&[AbsolutePath]>,
    cwd: &Path,
) -> Result<(), Refusal> {
    let (SandboxPolicy::WorkspaceWrite { writable_roots, .. }, Some(roots)) = (policy, roots)
    else {
        return Ok(());
    };
    if !roots.iter().any(|root| root.as_path() == cwd) {
        return Err(Refusal::invalid_request(format!(
            "`runtimeWorkspaceRoots` must include the working directory `{}`, which commands can always write to \
             under `workspaceWrite`",
            cwd.display()
        )));
    }
    for root in roots {
        if root.as_path() != cwd && !writable_roots.contains(root) {
            writable_roots.push(root.clone());
        }
    }
    Ok(())
}

/// What the model may touch in a turn and in those after it.
pub(super) struct Rights {
    cwd: PathBuf,
    sandbox: SandboxPolicy,
    has_environment: bool,
    /// The settings of the permission profile that was chosen, if one was.
    profile: Option<(Overrides, Arc<Snapshot>)>,
}

impl Session {
    /// The rights that a turn asks for, within the administrator's limits.
    pub(super) fn rights(
        &self,
        server: &Server,
        params: &TurnStartParams,
    ) -> Result<Rights, Refusal> {
        let limits = self.snapshot.requirements();
        let (policy, approval) = (&params.sandbox_policy, &params.approval_policy);
        policy
            .as_ref()
            .map_or(Ok(()), |policy| limits.allow_policy(policy))
            .and_then(|()| {
                let approval = approval.as_ref();
                approval.map_or(Ok(()), |policy| limits.allow_approval(policy))
            })
            .map_err(|error| Refusal::invalid_request(error.to_string()))?;
        one_policy(
            ("permissions", params.permissions.is_some()),
            ("sandboxPolicy", policy.is_some()),
        )?;
        if params
            .disabled_plugin_ids
            .as_ref()
            .is_some_and(|ids| !ids.is_empty())
        {
            return Err(Refusal::invalid_request(
                "`disabledPluginIds` is not supported: plugins cannot be disabled for one thread",
            ));
        }
        let environment = Environment::chosen(params.environments.as_deref())?;
        let cwd = match (&environment, &params.cwd) {
            (Some(Environment::Local(cwd, _)), _) => (*cwd).to_owned(),
            (_, Some(cwd)) => server.cwd().join(cwd),
            _ => self.cwd.clone(),
        };
        let profile = match &params.permissions {
            Some(profile) => {
                let asked = Overrides {
                    permissions: Some(profile.clone()),
                    sandbox: None,
                    ..self.asked.clone()
                };
                let snapshot = load(server, &asked, &cwd)?;
                Some((asked, snapshot))
            }
            None => None,
        };
        let mut sandbox = match (&profile, policy) {
            (Some((_, snapshot)), _) => snapshot.permissions().sandbox_policy.clone(),
            (None, Some(policy)) => policy.clone(),
            (None, None) => self.sandbox.clone(),
        };
        let roots = match environment {
            Some(Environment::Local(_, Some(roots))) => Some(roots),
            _ => params.runtime_workspace_roots.as_deref(),
        };
        add_roots(&mut sandbox, roots, &cwd)?;
        let has_environment = match environment {
            Some(chosen) => !matches!(chosen, Environment::Nowhere),
            None => self.has_environment,
        };
        Ok(Rights {
            cwd,
            sandbox,
            has_environment,
            profile,
        })
    }

    /// Puts rights in force, for this turn and those after it.
    fn grant(&mut self, rights: Rights) {
        self.cwd = rights.cwd;
        self.sandbox = rights.sandbox;
        self.has_environment = rights.has_environment;
        if let Some((asked, snapshot)) = rights.profile {
            (self.asked, self.snapshot) = (asked, snapshot);
        }
    }

    /// Takes over the rights of the thread that started this one, unless it has no more of its own.
    fn confine(&mut self, bounds: Bounds) {
        self.has_environment &= bounds.has_environment;
        let now = (&bounds.sandbox, &bounds.approval_policy);
        if is_narrower(now, (&self.sandbox, &self.approval_policy)) {
            self.sandbox = bounds.sandbox;
            self.approval_policy = bounds.approval_policy;
        }
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            sandbox: self.sandbox.clone(),
            approval_policy: self.approval_policy.clone(),
            has_environment: self.has_environment,
        }
    }
}

/// The rights of a thread that bound those of its agents.
#[derive(Clone)]
pub(crate) struct Bounds {
    pub sandbox: SandboxPolicy,
    pub approval_policy: AskForApproval,
    pub has_environment: bool,
}

/// Puts the settings of a turn in force. Processes and agents from before lose the rights that the thread
/// has no more.
pub(super) fn change_session(actor: &mut Actor, rights: Rights, params: &TurnStartParams) {
    let has_profile = rights.profile.is_some();
    let chosen = turn_settings::suspend(actor);
    actor.session.grant(rights);
    actor.session.change(&actor.server, params);
    turn_settings::resume(actor, chosen);
    if has_profile {
        let network = network::of(&actor.server, &actor.session);
        actor.tools.set_network(network);
    }
    confine_rest(actor);
}

/// Takes over the rights of the thread that started this one, for its processes and agents, too.
pub(super) fn confine(actor: &mut Actor, bounds: Bounds) {
    actor.session.confine(bounds);
    confine_rest(actor);
}

fn confine_rest(actor: &mut Actor) {
    let bounds = actor.session.bounds();
    actor.tools.confine(&bounds);
    for agent in actor.server.agents.of(&actor.handle.id) {
        if let Some(thread) = agent.thread() {
            let bounds = Box::new(bounds.clone());
            thread.send_now(Message::Agent(AgentMessage::Confine(bounds)));
        }
    }
}
