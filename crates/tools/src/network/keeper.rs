//! Who decides about the connections of one command.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use quipu_engine::Waiting;
use quipu_policy::domains::Standing;
use quipu_policy::hosts::{NetworkQuestion, NetworkVerdict, Target, decide_network};
use quipu_policy::rules::{NetworkDecision, NetworkRule, append_network_rule};
use quipu_wire::{
    CommandExecutionApprovalDecision as Decision, CommandExecutionRequestApprovalParams,
    CommandExecutionRequestApprovalResponse, NetworkPolicyAmendment, NetworkPolicyRuleAction,
    ServerRequest,
};
use tokio::sync::OnceCell;

use super::settings::Network;
use super::upstream::{Place, Route, is_here, locate};
use crate::approval::{Approval, now_ms, saved};
use crate::call::Running;
use crate::guardian::Action;
use crate::toolbox::Agreements;

/// Why a connection is not let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocked {
    /// A list or a rule denies the host.
    Denied,
    /// Nobody allows it; `asked` tells whether somebody was asked or could have been.
    Unknown { asked: bool },
    /// It is on this machine or in a private network.
    Local,
    /// The method does more than read.
    Method,
    /// What goes through a tunnel cannot be looked at.
    Tunnel,
}

/// What the user's answers mean for the command itself.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    declined: AtomicBool,
}

impl Refusals {
    /// Whether a connection was declined.
    pub fn any(&self) -> bool {
        self.declined.load(Ordering::Relaxed)
    }
}

/// Decides about the connections of one command.
pub(crate) struct Keeper {
    run: Running,
    pub(super) network: Arc<Network>,
    refusals: Arc<Refusals>,
    /// What was accepted for this command.
    accepted: Mutex<HashSet<Target>>,
    /// Questions that are being asked, so that each is asked once.
    asking: Mutex<HashMap<Target, Arc<OnceCell<bool>>>>,
}

impl Keeper {
    pub fn new(run: &Running, network: Arc<Network>, refusals: Arc<Refusals>) -> Keeper {
        Keeper {
            run: run.clone(),
            network,
            refusals,
            accepted: Mutex::default(),
            asking: Mutex::default(),
        }
    }

    /// The way to a target, if the command may go there.
    pub(super) async fn admit(&self, target: &Target) -> Result<Route, Blocked> {
        let standing = self.network.domains.standing(&target.host);
        // A command that outlives its thread reaches nobody.
        let agreements = self.run.try_toolbox(|it| it.agreements().clone()).await;
        let agreements = agreements.ok_or(Blocked::Denied)?;
        let rule = match self.network.uses_rules {
            true => {
                let rules = agreements.rules();
                rules.network_decision(&target.host, target.protocol)
            }
            false => None,
        };
        if standing == Standing::Denied || rule == Some(NetworkDecision::Deny) {
            return Err(Blocked::Denied);
        }
        let named = standing == Standing::Allowed { by_name: true }
            || rule == Some(NetworkDecision::Allow)
            || self.network.allow_local;
        if !named && is_here(target) {
            return Err(Blocked::Local);
        }
        // Looking up a name tells it to others, so nothing is looked up before it is allowed.
        if !matches!(standing, Standing::Allowed { .. }) {
            self.permit(target, rule, &agreements).await?;
        }
        match locate(target, self.network.upstream.as_deref()).await {
            Place::Public(route) => Ok(route),
            Place::Local(route) if named => Ok(route),
            Place::Local(_) => Err(Blocked::Local),
        }
    }

    /// Whether a target that is on no list is accepted, by an earlier answer, a rule or a question.
    async fn permit(
        &self,
        target: &Target,
        rule: Option<NetworkDecision>,
        agreements: &Agreements,
    ) -> Result<(), Blocked> {
        if self.accepted.lock().contains(target) {
            return Ok(());
        }
        if !self.network.asks && rule != Some(NetworkDecision::Allow) {
            return Err(Blocked::Unknown { asked: false });
        }
        let verdict =
            agreements.decide(&self.run.scope, |settings| decide_network(target, settings));
        let agreed = match verdict {
            NetworkVerdict::Connect => true,
            NetworkVerdict::Refuse => false,
            NetworkVerdict::Ask(question) => self.ask_once(target, *question).await,
        };
        agreed.then_some(()).ok_or(Blocked::Unknown { asked: true })
    }

    /// Asks about a target; connections that want the same meanwhile wait for the same answer.
    async fn ask_once(&self, target: &Target, question: NetworkQuestion) -> bool {
        let answer = Arc::clone(self.asking.lock().entry(target.clone()).or_default());
        let agreed = *answer.get_or_init(|| self.ask(target, question)).await;
        self.asking.lock().remove(target);
        agreed
    }

    async fn ask(&self, target: &Target, question: NetworkQuestion) -> bool {
        if self.run.scope.reviewed {
            let action = Action::network(target);
            return self.run.review(action).await == Approval::Granted && self.accept(target);
        }
        let params = CommandExecutionRequestApprovalParams {
            thread_id: self.run.scope.thread_id.to_string(),
            turn_id: self.run.scope.turn_id.to_string(),
            item_id: target.question_id(),
            started_at_ms: now_ms(),
            approval_id: None,
            reason: Some(question.reason),
            network_approval_context: Some(question.context),
            command: None,
            cwd: None,
            command_actions: None,
            additional_permissions: None,
            proposed_execpolicy_amendment: None,
            proposed_network_policy_amendments: Some(question.proposed_amendments),
            available_decisions: Some(question.available_decisions),
        };
        let request = ServerRequest::ItemCommandExecutionRequestApproval(params);
        let answer = self.run.ask_aside(request, Some(Waiting::Approval)).await;
        let response = match answer {
            Some(Ok(json)) => json.parse::<CommandExecutionRequestApprovalResponse>().ok(),
            Some(Err(())) | None => None,
        };
        let agreed = match response.map(|it| it.decision) {
            Some(Decision::Accept | Decision::AcceptWithExecpolicyAmendment { .. }) => {
                self.accept(target)
            }
            Some(Decision::AcceptForSession) => {
                let target = target.clone();
                self.run
                    .agree(move |it| it.approvals_mut().accept_target(target))
                    .await;
                true
            }
            Some(Decision::ApplyNetworkPolicyAmendment {
                network_policy_amendment,
            }) => self.amend(target, &network_policy_amendment).await,
            Some(Decision::Cancel) => {
                self.run.end_turn();
                false
            }
            Some(Decision::Decline | Decision::Unrecognized(_)) | None => false,
        };
        self.refusals.declined.fetch_or(!agreed, Ordering::Relaxed);
        agreed
    }

    /// Accepts a target for the rest of the command.
    fn accept(&self, target: &Target) -> bool {
        self.accepted.lock().insert(target.clone());
        true
    }

    /// Saves what to do about a host from now on, and notes it for the model; whether it is allowed.
    async fn amend(&self, target: &Target, amendment: &NetworkPolicyAmendment) -> bool {
        let allowed = amendment.action == NetworkPolicyRuleAction::Allow;
        let decision = match allowed {
            true => NetworkDecision::Allow,
            false => NetworkDecision::Deny,
        };
        let (home, protocol) = (&self.run.scope.home, target.protocol);
        if !saved(|| append_network_rule(home, &amendment.host, protocol, decision)) {
            return allowed && self.accept(target);
        }
        let rule = NetworkRule {
            host: amendment.host.to_ascii_lowercase(),
            protocol,
            decision,
            justification: None,
        };
        self.run
            .agree(move |it| it.rules_mut().push_network(rule))
            .await;
        let text = quipu_policy::texts::host_saved(&amendment.host, allowed);
        self.run.note(&text).await;
        // The amendment may be about another host; then this one is accepted as asked.
        allowed && self.accept(target)
    }
}
