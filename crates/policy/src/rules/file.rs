//! One rules file: from its text to its rules, checked against the examples it gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quipu_starlark::{Fault, Position};

use super::Rules;
use super::network::NetworkRule;
use super::prefix::PrefixRule;

use crate::command_line::display;

/// Larger files are refused.
pub(super) const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Three times what the deepest files need in a build without optimisation.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// A rules file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}:{}: {message}", path.display(), at.line, at.column)]
pub struct InvalidFile {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub at: Position,
    /// What is wrong.
    pub message: String,
}

/// What the calls of one file have declared.
#[derive(Debug, Default)]
pub(super) struct FileRules {
    prefix: Vec<(PrefixRule, Examples)>,
    pub network: Vec<NetworkRule>,
    pub executables: BTreeMap<String, Vec<String>>,
}

/// The examples that come with a rule.
#[derive(Debug)]
pub(super) struct Examples {
    pub matching: Vec<Vec<String>>,
    pub not_matching: Vec<Vec<String>>,
    pub call: Position,
}

impl FileRules {
    pub(super) fn push_prefix(&mut self, rule: PrefixRule, examples: Examples) {
        self.prefix.push((rule, examples));
    }
}

/// Reads the text of the file at `path`.
pub(super) fn parse(path: &Path, source: &str) -> Result<Rules, InvalidFile> {
    let located = |fault: Fault| InvalidFile {
        path: path.to_owned(),
        at: fault.at,
        message: fault.message,
    };
    if source.len() > MAX_FILE_BYTES {
        let at = Position { line: 1, column: 1 };
        return Err(located(Fault::new(at, "the file is larger than 1 MiB")));
    }
    let declared = run(source).map_err(located)?;
    checked(declared).map_err(located)
}

/// Runs the file on a thread of its own: as deep as a file may nest, it needs more of a stack than
/// the caller may have left.
fn run(source: &str) -> Result<FileRules, Fault> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("rules".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || {
                let mut rules = FileRules::default();
                quipu_starlark::run(source, &mut rules).map(|()| rules)
            });
        let thread = thread.map_err(|error| {
            let at = Position { line: 1, column: 1 };
            Fault::new(at, format!("the file cannot be run: {error}"))
        })?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The rules, if each does what its examples say.
fn checked(declared: FileRules) -> Result<Rules, Fault> {
    let mut rules = Rules {
        prefix: Vec::with_capacity(declared.prefix.len()),
        network: declared.network,
        executables: declared.executables,
    };
    for (rule, examples) in declared.prefix {
        let alone = Rules {
            prefix: vec![rule.clone()],
            network: Vec::new(),
            executables: rules.executables.clone(),
        };
        let matched = |example: &&Vec<String>| alone.covers_example(example);
        if let Some(example) = examples.matching.iter().find(|e| !matched(e)) {
            let message = format!("the rule does not match its example `{}`", display(example));
            return Err(Fault::new(examples.call, message));
        }
        if let Some(example) = examples.not_matching.iter().find(matched) {
            let message = format!(
                "the rule matches `{}`, which it should not",
                display(example)
            );
            return Err(Fault::new(examples.call, message));
        }
        rules.prefix.push(rule);
    }
    Ok(rules)
}
