//! May this command reach that host, when the network is managed.

use quipu_wire::{
    AskForApproval, CommandExecutionApprovalDecision, NetworkApprovalContext,
    NetworkPolicyAmendment, NetworkPolicyRuleAction,
};

use crate::rules::{NetworkDecision, NetworkProtocol};
use crate::settings::{Settings, confines_files};

/// Where a command wants to connect to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// The host, in lower case.
    pub host: String,
    /// How.
    pub protocol: NetworkProtocol,
    /// The port.
    pub port: u16,
}

impl Target {
    /// The id under which the connection is asked about; questions with the same id are one.
    #[must_use]
    pub fn question_id(&self) -> String {
        let protocol = self.protocol.name();
        format!("network#{protocol}#{}#{}", self.host, self.port)
    }
}

/// What is to happen with a connection.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkVerdict {
    /// Let it through.
    Connect,
    /// Ask.
    Ask(Box<NetworkQuestion>),
    /// Do not let it through.
    Refuse,
}

/// A question to a person about a host.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkQuestion {
    /// Why it is asked.
    pub reason: String,
    /// What it is about.
    pub context: NetworkApprovalContext,
    /// Rules that could be saved.
    pub proposed_amendments: Vec<NetworkPolicyAmendment>,
    /// The answers worth offering.
    pub available_decisions: Vec<CommandExecutionApprovalDecision>,
}

/// Decides about a connection to a host that the configuration neither allows nor denies.
#[must_use]
pub fn decide_network(target: &Target, settings: &Settings<'_>) -> NetworkVerdict {
    match settings
        .rules
        .network_decision(&target.host, target.protocol)
    {
        Some(NetworkDecision::Allow) => return NetworkVerdict::Connect,
        Some(NetworkDecision::Deny) => return NetworkVerdict::Refuse,
        Some(NetworkDecision::Prompt) | None => {}
    }
    if settings.session.has_target(target) {
        return NetworkVerdict::Connect;
    }
    let can_ask = match settings.approval_policy {
        AskForApproval::Never => false,
        AskForApproval::Granular {
            sandbox_approval, ..
        } => *sandbox_approval,
        _ => true,
    };
    if !can_ask || !confines_files(settings.sandbox) {
        return NetworkVerdict::Refuse;
    }
    let host = &target.host;
    let amendment = |action| NetworkPolicyAmendment {
        host: host.clone(),
        action,
    };
    let allow = amendment(NetworkPolicyRuleAction::Allow);
    NetworkVerdict::Ask(Box::new(NetworkQuestion {
        reason: format!("{host} is not in the allowed_domains"),
        context: NetworkApprovalContext {
            host: host.clone(),
            protocol: target.protocol.to_wire(),
        },
        proposed_amendments: vec![allow.clone(), amendment(NetworkPolicyRuleAction::Deny)],
        available_decisions: vec![
            CommandExecutionApprovalDecision::Accept,
            CommandExecutionApprovalDecision::AcceptForSession,
            CommandExecutionApprovalDecision::ApplyNetworkPolicyAmendment {
                network_policy_amendment: allow,
            },
            CommandExecutionApprovalDecision::Cancel,
        ],
    }))
}
