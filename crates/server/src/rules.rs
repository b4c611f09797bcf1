//! The rules in force for a thread: where their files are, what an administrator adds, and what clients
//! hear of files that cannot be used.

use std::path::PathBuf;

use quipu_config::Snapshot;
use quipu_config::requirements::{Decision as Required, PrefixRule as RequiredRule};
use quipu_policy::rules::{Decision, LoadedRules, PatternError, PrefixRule, RulesProblem};
use quipu_wire::{ConfigWarningNotification, TextPosition, TextRange};

use crate::{Server, config_directories};

/// The rules of these settings, and the files that are left out.
pub(crate) fn load(server: &Server, snapshot: &Snapshot) -> LoadedRules {
    let mut loaded = quipu_policy::rules::load(&directories(server, snapshot));
    let required = snapshot.requirements().rules.iter();
    for rule in required.flat_map(|limit| &limit.value) {
        match required_rule(rule) {
            Ok(rule) => loaded.rules.push_prefix(rule),
            Err(error) => tracing::error!(%error, "invalid rule in requirements; ignored"),
        }
    }
    loaded
}

fn directories(server: &Server, snapshot: &Snapshot) -> Vec<PathBuf> {
    let directories = config_directories(server, snapshot).into_iter();
    directories
        .map(|directory| directory.join("rules"))
        .collect()
}

fn required_rule(rule: &RequiredRule) -> Result<PrefixRule, PatternError> {
    let words = rule.pattern.iter().map(|word| word.any_of.clone());
    let decision = match rule.decision {
        Required::Forbidden => Decision::Forbidden,
        // Those who write limits cannot allow anything by them.
        Required::Prompt | Required::Allow => Decision::Prompt,
    };
    PrefixRule::new(words.collect(), decision, rule.justification.clone())
}

/// What clients are notified of about a file that is not in force.
pub(crate) fn left_out(problem: &RulesProblem) -> ConfigWarningNotification {
    let (path, range) = match problem {
        RulesProblem::Invalid(invalid) => {
            let at = TextPosition {
                line: invalid.at.line as usize,
                column: invalid.at.column as usize,
            };
            let range = TextRange {
                start: at.clone(),
                end: at,
            };
            (&invalid.path, Some(range))
        }
        RulesProblem::Unreadable { path, .. } => (path, None),
    };
    ConfigWarningNotification {
        summary: "Error parsing rules; the rules of this file are not applied.".to_owned(),
        details: Some(problem.to_string()),
        path: Some(path.to_string_lossy().into_owned()),
        range,
    }
}
