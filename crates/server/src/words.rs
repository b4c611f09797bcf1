//! Words that only some versions of the protocol know. Clients fail on a value that they do not know, so such a word is
//! used only towards a client that used it first; others get the nearest word that all versions have.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_wire::{AskForApproval, CollaborationMode, Json, ReasoningEffort, ServiceTier};

/// The words that a client has used.
#[derive(Default)]
pub(crate) struct Words {
    /// The approval policy `on-failure`, which 0.166 dropped and reads as `on-request`.
    on_failure: AtomicBool,
    /// The efforts beyond `xhigh` and those that clients make up, which 0.118 does not know.
    new_efforts: AtomicBool,
    /// The service tiers that clients make up, which 0.118 does not know.
    new_tiers: AtomicBool,
}

impl Words {
    /// Takes note of a client's words.
    pub fn note(&self, policy: Option<&AskForApproval>, effort: Option<ReasoningEffort>) {
        if policy == Some(&AskForApproval::OnFailure) {
            self.on_failure.store(true, Ordering::Relaxed);
        }
        if effort.is_some_and(is_new) {
            self.new_efforts.store(true, Ordering::Relaxed);
        }
    }

    /// Takes note of the effort of a way of working together.
    pub fn note_mode(&self, mode: Option<&CollaborationMode>) {
        self.note(None, mode.and_then(|it| it.settings.reasoning_effort));
    }

    /// Takes note of a client's service tier.
    pub fn note_tier(&self, tier: Option<Option<ServiceTier>>) {
        if let Some(Some(ServiceTier::Unrecognized(_))) = tier {
            self.new_tiers.store(true, Ordering::Relaxed);
        }
    }

    /// Takes note of the words in JSON that a client sent, such as settings.
    pub fn note_json(&self, text: &str) {
        if text.contains(r#""on-failure""#) {
            self.on_failure.store(true, Ordering::Relaxed);
        }
        if text.contains(r#""max""#) || text.contains(r#""ultra""#) {
            self.new_efforts.store(true, Ordering::Relaxed);
        }
    }

    /// Takes note of the words in the settings of a request.
    pub fn note_config(&self, config: Option<&BTreeMap<String, Json>>) {
        for value in config.into_iter().flat_map(BTreeMap::values) {
            self.note_json(value.get());
        }
    }

    /// A policy as the client knows it.
    pub fn policy(&self, policy: AskForApproval) -> AskForApproval {
        match policy {
            AskForApproval::OnFailure if !self.on_failure.load(Ordering::Relaxed) => {
                AskForApproval::OnRequest
            }
            policy => policy,
        }
    }

    /// A service tier as the client knows it; none if it does not.
    pub fn tier(&self, tier: Option<ServiceTier>) -> Option<ServiceTier> {
        let is_new = |tier: &ServiceTier| matches!(tier, ServiceTier::Unrecognized(_));
        tier.filter(|tier| !is_new(tier) || self.new_tiers.load(Ordering::Relaxed))
    }

    /// An effort as the client knows it.
    pub fn effort(&self, effort: ReasoningEffort) -> ReasoningEffort {
        match is_new(effort) && !self.new_efforts.load(Ordering::Relaxed) {
            true => ReasoningEffort::Xhigh,
            false => effort,
        }
    }
}

fn is_new(effort: ReasoningEffort) -> bool {
    use ReasoningEffort::{Max, Ultra, Unrecognized};
    matches!(effort, Max | Ultra | Unrecognized(_))
}

#[cfg(test)]
mod tests {
    use quipu_wire::Word;

    use super::*;

    #[test]
    fn a_client_reads_only_words_that_all_versions_have_or_that_it_used() {
        let words = Words::default();
        let both = |words: &Words| {
            (
                words.policy(AskForApproval::OnFailure),
                words.effort(ReasoningEffort::Ultra),
            )
        };
        let common = (AskForApproval::OnRequest, ReasoningEffort::Xhigh);
        words.note(Some(&AskForApproval::Never), Some(ReasoningEffort::High));
        assert_eq!(both(&words), common);
        words.note(Some(&AskForApproval::OnFailure), None);
        words.note_json(r#"{"model_reasoning_effort":"max"}"#);
        let used = (AskForApproval::OnFailure, ReasoningEffort::Ultra);
        assert_eq!(both(&words), used);
        assert_eq!(words.policy(AskForApproval::Never), AskForApproval::Never);
        assert_eq!(words.effort(ReasoningEffort::Low), ReasoningEffort::Low);
        let made_up = Word::new("wow").map(ServiceTier::Unrecognized);
        assert_eq!(words.tier(made_up), None);
        words.note_tier(Some(made_up));
        assert_eq!(words.tier(made_up), made_up);
    }
}
