//! The workflow file while the service runs: read again whenever it changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

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

/// A change counts when the file has stayed the same for so long: programs that do not replace a file in one step leave
/// it empty or half written for a moment, and that may be a workflow, too.
const SETTLED: Duration = Duration::from_millis(300);

/// What the file holds, and when it was written.
type Version = (Result<String, String>, Option<SystemTime>);

/// The file, and what it held when it was last taken over.
pub(super) struct WorkflowFile {
    path: PathBuf,
    last: Result<String, String>,
    /// What it holds since when, if that is something else.
    new: Option<(Version, Instant)>,
}

impl WorkflowFile {
    pub fn new(path: &Path) -> WorkflowFile {
        WorkflowFile {
            path: path.to_owned(),
            last: Err(String::new()),
            new: None,
        }
    }

    pub fn read_now(&mut self, env: &Env, open: &OpenTracker) -> Result<Loaded, String> {
        self.last = self.text();
        parse(self.last.as_ref().map_err(Clone::clone)?, env, open)
    }

    /// What the file says, if that is not what it said before and has not changed for a moment.
    pub fn changed(
        &mut self,
        now: Instant,
        env: &Env,
        open: &OpenTracker,
    ) -> Option<Result<Loaded, String>> {
        let written = fs::metadata(&self.path).and_then(|it| it.modified()).ok();
        let version = (self.text(), written);
        let new = self.new.take().filter(|it| it.0 == version);
        if version.0 == self.last {
            return None;
        }
        let since = new.map_or(now, |it| it.1);
        if now < since + SETTLED {
            self.new = Some((version, since));
            return None;
        }
        self.last = version.0;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_being_written_does_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("WORKFLOW.md");
        fs::create_dir(directory.path().join("issues")).unwrap();
        let env = Env::of_process(directory.path());
        let open: OpenTracker = Arc::new(crate::tracker::open);
        let put = |turns: u32| {
            let text = format!("---\nagent: {{ max_turns: {turns} }}\n---\n");
            fs::write(&path, text).unwrap();
        };
        put(1);
        let mut file = WorkflowFile::new(&path);
        file.read_now(&env, &open).ok().unwrap();
        let begin = Instant::now();
        let mut changed = |after: u64| {
            let now = begin + Duration::from_millis(after);
            let changed = file.changed(now, &env, &open)?;
            Some(changed.map(|it| it.config.agent.max_turns))
        };
        assert_eq!(changed(0), None);
        // Empty, it would be a workflow that has a default for everything.
        fs::write(&path, "").unwrap();
        assert_eq!(changed(1_000), None);
        let again = fs::File::options().write(true).open(&path).unwrap();
        again.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(changed(1_900), None, "it was emptied once more");
        put(2);
        assert_eq!(changed(2_000), None);
        assert_eq!(changed(2_299), None);
        assert_eq!(changed(2_300), Some(Ok(2)));
        assert_eq!(changed(9_000), None);
        // One that comes back in time has not changed.
        fs::remove_file(&path).unwrap();
        assert_eq!(changed(10_000), None);
        put(2);
        assert_eq!(changed(10_100), None);
        fs::remove_file(&path).unwrap();
        assert_eq!(changed(10_350), None);
        assert!(changed(10_650).unwrap().is_err());
    }
}
