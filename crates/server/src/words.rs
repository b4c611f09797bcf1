//! Words that only some versions of the protocol know. Clients fail on a value that they do not know, so such a word is
//! used only towards a client that used it first; others get the nearest word that all versions have.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_wire::{AskForApproval, CollaborationMode, Json, ReasoningEffort, ServiceTier};
use serde::Deserialize as _;
use serde_json::Value;

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

    /// Takes note of the words in a setting that a client sent, and in those below it.
    pub fn note_setting(&self, key: &str, value: &Value) {
        let key = key.rsplit('.').next().unwrap_or(key);
        match (key, value) {
            (_, Value::Object(settings)) => {
                for (key, value) in settings {
                    self.note_setting(key, value);
                }
            }
            ("approval_policy", value) => {
                self.note(AskForApproval::deserialize(value).ok().as_ref(), None);
            }
            ("model_reasoning_effort" | "plan_mode_reasoning_effort", value) => {
                self.note(None, ReasoningEffort::deserialize(value).ok());
            }
            ("service_tier", value) => {
                self.note_tier(Some(ServiceTier::deserialize(value).ok()));
            }
            _ => {}
        }
    }

    /// Takes note of the words in the settings of a request.
    pub fn note_config(&self, config: Option<&BTreeMap<String, Json>>) {
        for (key, value) in config.into_iter().flatten() {
            self.note_json(key, value);
        }
    }

    /// Takes note of the words in a setting that a client sent as JSON.
    pub fn note_json(&self, key: &str, value: &Json) {
        if let Ok(value) = serde_json::from_str(value.get()) {
            self.note_setting(key, &value);
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
        tier.filter(|tier| *tier != ServiceTier::Default)
            .filter(|tier| !is_new(tier) || self.new_tiers.load(Ordering::Relaxed))
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
    use serde_json::json;

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
        words.note_setting(
            "profiles.p",
            &json!({ "model_reasoning_effort": "galactic" }),
        );
        let used = (AskForApproval::OnFailure, ReasoningEffort::Ultra);
        assert_eq!(both(&words), used);
        assert_eq!(words.policy(AskForApproval::Never), AskForApproval::Never);
        assert_eq!(words.effort(ReasoningEffort::Low), ReasoningEffort::Low);
        let made_up = Word::new("wow").map(ServiceTier::Unrecognized);
        assert_eq!(words.tier(made_up), None);
        words.note_setting("model", &json!("wow"));
        assert_eq!(words.tier(made_up), None);
        words.note_setting("service_tier", &json!("wow"));
        assert_eq!(words.tier(made_up), made_up);
    }
}
