//! The workflow file while the service runs: read again whenever it changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::OpenTracker;
use crate::config::Config;
use crate::env::Env;
use crate::tracker::Tracker;
use crate::workflow::{self, Workflow};

/// A workflow that can be used.
pub struct Loaded {
    pub config: Arc<Config>,
    pub tracker: Arc<dyn Tracker>,
}

/// Reads a workflow and checks all that is needed to poll and to start agents.
pub fn load(path: &Path, env: &Env, open: &OpenTracker) -> Result<Loaded, String> {
    let text = workflow::read(path).map_err(|error| error.to_string())?;
    parse(&text, env, open)
}

fn parse(text: &str, env: &Env, open: &OpenTracker) -> Result<Loaded, String> {
    let workflow = Workflow::parse(text).map_err(|error| error.to_string())?;
    let config = Config::new(&workflow, env).map_err(|error| error.to_string())?;
    let tracker = open(&config.tracker, env).map_err(|error| error.to_string())?;
    if let Err(error) = &config.prompt {
        tracing::error!(%error, "the prompt cannot be rendered; every attempt will fail");
    }
    Ok(Loaded {
        config: Arc::new(config),
        tracker,
    })
}

/// The file, and what it held when it was last read.
pub(super) struct WorkflowFile {
    path: PathBuf,
    last: Result<String, String>,
}

impl WorkflowFile {
    pub fn new(path: &Path) -> WorkflowFile {
        WorkflowFile {
            path: path.to_owned(),
            last: Err(String::new()),
        }
    }

    pub fn read_now(&mut self, env: &Env, open: &OpenTracker) -> Result<Loaded, String> {
        self.last = self.text();
        parse(self.last.as_ref().map_err(Clone::clone)?, env, open)
    }

    /// What the file says, if that is not what it said before.
    pub fn changed(&mut self, env: &Env, open: &OpenTracker) -> Option<Result<Loaded, String>> {
        let text = self.text();
        if text == self.last {
            return None;
        }
        self.last = text;
        Some(parse_result(self.last.as_ref(), env, open))
    }

    fn text(&self) -> Result<String, String> {
        workflow::read(&self.path).map_err(|error| error.to_string())
    }
}

fn parse_result(
    text: Result<&String, &String>,
    env: &Env,
    open: &OpenTracker,
) -> Result<Loaded, String> {
    parse(text.map_err(Clone::clone)?, env, open)
}
