//! What a client is told about the configuration right after it has introduced itself.

use quipu_policy::rules::RulesProblem;
use quipu_wire::{ConfigWarningNotification, TextPosition, TextRange};

use crate::Server;

/// The warnings, in the order in which clients get them: first what makes the settings unusable, then
/// rules files that are left out, then the rest. The files are read anew for every client.
pub(crate) fn read(server: &Server) -> Vec<ConfigWarningNotification> {
    let start_up = match server.settings.config.start_up() {
        Ok(start_up) => start_up,
        Err(error) => {
            tracing::error!(%error, "the configuration cannot be read");
            return Vec::new();
        }
    };
    let folders = server.rules_folders(&start_up.snapshot);
    let rules = quipu_policy::rules::load(&folders);
    let invalid = start_up.invalid.into_iter();
    let warnings: Vec<_> = invalid
        .chain(rules.problems.iter().map(left_out))
        .chain(start_up.warnings)
        .collect();
    for warning in &warnings {
        let (summary, details) = (&warning.summary, warning.details.as_deref());
        tracing::error!(details, "{summary}");
    }
    warnings
}

fn left_out(problem: &RulesProblem) -> ConfigWarningNotification {
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
