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
    pub(super) network: Arc<Network>,
    /// Without one, as for a command that a client runs, the lists alone decide.
    inquiry: Option<Inquiry>,
}

impl Keeper {
    /// For a command of a thread: rules and people decide about hosts that are on no list.
    pub fn new(run: &Running, network: Arc<Network>, refusals: Arc<Refusals>) -> Keeper {
        let inquiry = Some(Inquiry {
            run: run.clone(),
            asks: network.asks,
            uses_rules: network.uses_rules,
            refusals,
            accepted: Mutex::default(),
            asking: Mutex::default(),
        });
        Keeper { network, inquiry }
    }

    /// For a command outside any thread.
    pub fn of_lists(network: Arc<Network>) -> Keeper {
        let inquiry = None;
        Keeper { network, inquiry }
    }

    /// The way to a target, if the command may go there.
    pub(super) async fn admit(&self, target: &Target) -> Result<Route, Blocked> {
        let standing = self.network.domains.standing(&target.host);
        let agreements = match &self.inquiry {
            Some(inquiry) => Some(inquiry.agreements().await?),
            None => None,
        };
        let rule = self.inquiry.as_ref().zip(agreements.as_ref());
        let rule = rule.and_then(|(inquiry, agreements)| inquiry.rule(target, agreements));
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
            match self.inquiry.as_ref().zip(agreements.as_ref()) {
                Some((inquiry, agreements)) => inquiry.permit(target, rule, agreements).await?,
                None => return Err(Blocked::Unknown { asked: false }),
            }
        }
        match locate(target, self.network.upstream.as_deref()).await {
            Place::Public(route) => Ok(route),
            Place::Local(route) if named => Ok(route),
            Place::Local(_) => Err(Blocked::Local),
        }
    }
}

/// Finds out whether a command of a thread may reach a host that is on no list.
struct Inquiry {
    run: Running,
    /// People may be asked.
    asks: bool,
    /// Rules files count.
    uses_rules: bool,
    refusals: Arc<Refusals>,
    /// What was accepted for this command.
    accepted: Mutex<HashSet<Target>>,
    /// Questions that are being asked, so that each is asked once.
    asking: Mutex<HashMap<Target, Arc<OnceCell<bool>>>>,
}

impl Inquiry {
    /// What was agreed on in the thread. A command that outlives its thread reaches nobody.
    async fn agreements(&self) -> Result<Agreements, Blocked> {
        let agreements = self.run.try_toolbox(|it| it.agreements().clone()).await;
        agreements.ok_or(Blocked::Denied)
    }

    /// What rules files say about a target.
    fn rule(&self, target: &Target, agreements: &Agreements) -> Option<NetworkDecision> {
        let rules = self.uses_rules.then(|| agreements.rules())?;
        rules.network_decision(&target.host, target.protocol)
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
        if !self.asks && rule != Some(NetworkDecision::Allow) {
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
