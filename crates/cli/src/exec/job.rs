//! What a run is to do, read from its command line.

use std::path::{Path, PathBuf};

use quipu_client::wire::{Json, ReviewTarget, SandboxMode};
use quipu_config::{Overrides, Table};
use serde_json::json;

use super::args::{ExecArgs, ExecCommand, ReviewArgs, RunArgs};
use super::local::Local;
use super::prompt;
use crate::args::ConfigArgs;

pub struct Job {
    pub thread: Which,
    pub work: Work,
    /// The directory to work in.
    pub cwd: PathBuf,
    pub model: Option<String>,
    pub sandbox: Option<SandboxMode>,
    pub ephemeral: bool,
    pub images: Vec<PathBuf>,
    pub output_schema: Option<Json>,
    pub last_message: Option<PathBuf>,
    /// Whether it may run outside a repository.
    pub anywhere: bool,
    pub json: bool,
    /// Directories that may be written to besides those that are configured.
    pub add_dirs: Vec<PathBuf>,
    /// That a model server of this machine is to be used, and which one.
    pub local: Option<Local>,
    /// The key to log in with, for this run alone.
    pub api_key: Option<String>,
    pub overrides: Overrides,
}

/// The thread to work in.
pub enum Which {
    New,
    /// By id or name.
    Stored(String),
    /// The latest of the directory, or of all.
    Latest {
        anywhere: bool,
    },
}

pub enum Work {
    Prompt(String),
    Review(ReviewTarget),
}

impl Job {
    pub fn new(args: ExecArgs, common: &ConfigArgs) -> Result<Job, String> {
        let cwd = cwd(args.cwd.as_deref())?;
        let output_schema = args.output_schema.as_deref().map(schema).transpose()?;
        let local = Local::asked_for(args.oss, args.local_provider);
        let (thread, work, run) = match args.command {
            None => (
                Which::New,
                Work::Prompt(prompt::new_run(args.prompt)?),
                args.run,
            ),
            Some(ExecCommand::Resume(resume)) => {
                let (thread, prompt) = match (resume.session, resume.last) {
                    // With `--last` a single word is the prompt.
                    (session, true) => {
                        let anywhere = resume.all;
                        (Which::Latest { anywhere }, resume.prompt.or(session))
                    }
                    (Some(session), false) => (Which::Stored(session), resume.prompt),
                    (None, false) => {
                        return Err("say which run to resume: its id, its name, or --last".into());
                    }
                };
                let work = Work::Prompt(prompt::next_run(prompt)?);
                (thread, work, args.run.with(resume.run))
            }
            Some(ExecCommand::Review(mut review)) => {
                let run = args.run.with(std::mem::take(&mut review.run));
                (Which::New, Work::Review(target(*review)?), run)
            }
        };
        let mut overrides = common.overrides(&run.config)?;
        if let Some(profile) = args.profile {
            let profile = Table::from_iter([("profile".to_owned(), json!(profile))]);
            overrides
                .add_json(&profile)
                .map_err(|error| error.to_string())?;
        }
        for directory in &args.add_dir {
            check_directory(&cwd.join(directory))?;
        }
        Ok(Job {
            thread,
            work,
            cwd,
            sandbox: sandbox(&run).or(args.sandbox.map(Into::into)),
            model: run.model,
            ephemeral: run.ephemeral,
            images: images(run.images)?,
            output_schema,
            last_message: run.last_message.map(writable).transpose()?,
            anywhere: run.skip_git_repo_check || run.dangerously_bypass_approvals_and_sandbox,
            json: run.json,
            add_dirs: args.add_dir,
            local,
            api_key: None,
            overrides,
        })
    }
}

/// Absolute paths of images that can be sent.
fn images(given: Vec<PathBuf>) -> Result<Vec<PathBuf>, String> {
    let checked = given.into_iter().map(|path| {
        quipu_server::check_image(&path)?;
        std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()))
    });
    checked.collect()
}

/// A directory that does not exist may be a mistyped one, and commands could not write to it.
fn check_directory(path: &Path) -> Result<(), String> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(format!(
            "cannot make {} writable: not a directory",
            path.display()
        )),
        Err(error) => Err(format!("cannot make {} writable: {error}", path.display())),
    }
}

/// The file for the last message. That it cannot be written should not show after the work is done.
fn writable(path: PathBuf) -> Result<PathBuf, String> {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let problem = match parent {
        _ if path.is_dir() => "it is a directory".to_owned(),
        Some(parent) if !parent.is_dir() => {
            format!("the directory {} does not exist", parent.display())
        }
        _ => return Ok(path),
    };
    let path = path.display();
    Err(format!(
        "cannot write the last message to {path}: {problem}"
    ))
}

fn cwd(given: Option<&Path>) -> Result<PathBuf, String> {
    match given {
        Some(cwd) => cwd
            .canonicalize()
            .map_err(|error| format!("cannot work in {}: {error}", cwd.display())),
        None => std::env::current_dir()
            .map_err(|error| format!("cannot determine the current directory: {error}")),
    }
}

/// Flags that stand for several others.
fn sandbox(run: &RunArgs) -> Option<SandboxMode> {
    if run.dangerously_bypass_approvals_and_sandbox {
        Some(SandboxMode::DangerFullAccess)
    } else if run.full_auto {
        Some(SandboxMode::WorkspaceWrite)
    } else {
        None
    }
}

fn schema(path: &Path) -> Result<Json, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!(
            "Failed to read output schema file {}: {error}",
            path.display()
        )
    })?;
    serde_json::from_str(&text).map_err(|error| {
        format!(
            "Output schema file {} is not valid JSON: {error}",
            path.display()
        )
    })
}

fn target(review: ReviewArgs) -> Result<ReviewTarget, String> {
    if let Some(branch) = review.base {
        return Ok(ReviewTarget::BaseBranch { branch });
    }
    if let Some(sha) = review.commit {
        let title = review.title;
        return Ok(ReviewTarget::Commit { sha, title });
    }
    match review.prompt {
        Some(prompt) => {
            let instructions = prompt::next_run(Some(prompt))?;
            Ok(ReviewTarget::Custom { instructions })
        }
        None if review.uncommitted => Ok(ReviewTarget::UncommittedChanges),
        None => Err(
            "nothing selected for review; use --uncommitted, --base BRANCH, --commit SHA, or instructions"
                .into(),
        ),
    }
}
