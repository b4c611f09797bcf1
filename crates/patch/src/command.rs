//! The `apply_patch` command: what it prints and how it ends, for a process that was started under
//! that name.

use std::path::Path;

use crate::parse::{ParseError, Patch};
use crate::plan::Plan;

/// How a run of the command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    pub exit_code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Applies the patch `text` to the files under `cwd`, which must be absolute.
pub fn run(text: &str, cwd: &Path) -> CommandOutput {
    match apply(text, cwd) {
        Ok(stdout) => CommandOutput {
            exit_code: 0,
            stdout,
            stderr: String::new(),
        },
        Err(stderr) => CommandOutput {
            exit_code: 1,
            stdout: String::new(),
            stderr,
        },
    }
}

fn apply(text: &str, cwd: &Path) -> Result<String, String> {
    let patch = Patch::parse(text).map_err(|error| match &error {
        ParseError::Line { line, problem } => {
            format!("Invalid patch hunk on line {line}: {problem}\n")
        }
        ParseError::MissingBegin | ParseError::MissingEnd => {
            format!("Invalid patch: {}\n", error.detail())
        }
    })?;
    if patch.operations.is_empty() {
        return Err("No files were modified.\n".to_owned());
    }
    let plan =
        Plan::new(&patch, cwd).map_err(|error| format!("{}\n", error.message(&error.written)))?;
    let report = plan.apply().map_err(|error| error.to_string())?;
    Ok(report.to_string())
}
