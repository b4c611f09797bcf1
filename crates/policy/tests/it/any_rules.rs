//! What holds for any rules file whatever; shared with the fuzz target.

use std::path::Path;

use quipu_policy::bash::Command;
use quipu_policy::rules::{Decision, Place, PrefixRule, Rules};

/// Reads `data` as a rules file and uses what comes out.
pub fn check(data: &[u8]) {
    let source = String::from_utf8_lossy(data);
    let place = Place {
        cwd: Path::new("/project"),
        writable: &[],
    };
    match Rules::parse(Path::new("any.rules"), &source) {
        Err(error) => {
            let lines = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
            assert!(
                error.at.line >= 1 && error.at.line <= lines.saturating_add(1),
                "{error}"
            );
            assert!(error.at.column >= 1 && !error.message.is_empty(), "{error}");
        }
        Ok(mut rules) => {
            let argv = ["git", "push"].map(str::to_owned);
            let command = Command::verbatim(&argv);
            let before = rules.matches(&command, &place).len();
            let pattern = argv.iter().map(|word| vec![word.clone()]).collect();
            let forbidding = PrefixRule::new(pattern, Decision::Forbidden, None);
            rules.push_prefix(forbidding.expect("the pattern is not empty"));
            let after = rules.matches(&command, &place);
            assert!(after.len() >= before);
            assert!(
                after
                    .iter()
                    .any(|found| found.decision == Decision::Forbidden)
            );
        }
    }
}
