//! What an agent changed, as a patch and, if the workflow wants it, as a branch. Where the workspace is a repository,
//! git says what changed; elsewhere the agent's own reports do.
//!
//! Every git command runs in a sandbox without network: an agent that may write to its repository could make the
//! repository's settings name programs to run.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_sandbox::{Command, Exit, Network, Policy, Stream, WorkspaceWrite};

use crate::orchestrator::Job;
use crate::record::Places;
use crate::workspace;

/// How long one command may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest patch.
const MAX_PATCH: usize = 32 << 20;

/// Puts what the workspace holds now into an index of its own; the repository's stays as it is.
const STAGE: &str = r#"
set -e
objects=$(git rev-parse --path-format=absolute --git-path objects)
index=$(git rev-parse --path-format=absolute --git-path index)
if [ -f "$index" ]; then cp "$index" "$SCRATCH/index"; fi
export GIT_INDEX_FILE="$SCRATCH/index"
"#;

/// Writes no object to the repository.
const PATCH: &str = r#"
mkdir -p "$SCRATCH/objects"
export GIT_OBJECT_DIRECTORY="$SCRATCH/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
git add -A
exec git diff --cached --binary --no-ext-diff --no-textconv "$BASE"
"#;

/// Commits what the workspace holds, if it differs, and names the commit.
const BRANCH: &str = r#"
git add -A
tree=$(git write-tree)
if [ "$tree" = "$(git rev-parse "$BASE^{tree}")" ]; then exit 0; fi
commit=$(git commit-tree "$tree" -p HEAD -m "$MESSAGE")
git update-ref "refs/heads/$BRANCH" "$commit"
echo "$commit"
"#;

/// Takes the branch over into another repository.
const FETCH: &str =
    r#"exec git fetch --quiet "$WORKSPACE" "+refs/heads/$BRANCH:refs/heads/$BRANCH""#;

/// The workspace before the agent worked in it.
#[derive(Default)]
pub struct Before {
    /// The commit that changes are counted from; nothing if the workspace is not a repository with commits.
    base: Option<String>,
}

/// What was kept.
#[derive(Debug, Default)]
pub struct Kept {
    pub patch: bool,
    pub branch: Option<String>,
}

impl Before {
    pub async fn look(workspace: &Path) -> Before {
        if !workspace.join(".git").exists() {
            return Before::default();
        }
        let script = "exec git rev-parse --verify --quiet HEAD";
        let base = Git::new(workspace).run(script, &[]).await;
        let base = base.inspect_err(|error| tracing::warn!(error, "git cannot be run"));
        Before {
            base: base
                .ok()
                .map(|it| it.trim().to_owned())
                .filter(|it| !it.is_empty()),
        }
    }

    /// Stores what changed since.
    pub async fn keep(
        self,
        job: &Job,
        workspace: &Path,
        reported: &str,
        places: &Places,
    ) -> Result<Kept, String> {
        let identifier = &job.record.identifier;
        let (patch, branch) = match &self.base {
            None => (reported.to_owned(), None),
            Some(base) => {
                let patch = patch(workspace, base).await?;
                let branch = match &job.config.result.branch_prefix {
                    Some(prefix) if !patch.is_empty() => {
                        let name = format!("{prefix}{}", workspace::key(identifier));
                        branch(job, workspace, base, name).await?
                    }
                    _ => None,
                };
                (patch, branch)
            }
        };
        let path = places.patch(identifier, job.number());
        let stored = !patch.is_empty();
        if stored {
            let store = move || -> io::Result<()> {
                quipu_disk::Target::lock(&path)?.replace(patch.as_bytes())
            };
            let stored = tokio::task::spawn_blocking(store).await;
            let stored = stored.map_err(|error| error.to_string())?;
            stored.map_err(|error| format!("cannot store the patch: {error}"))?;
        }
        Ok(Kept {
            patch: stored,
            branch,
        })
    }
}

async fn patch(workspace: &Path, base: &str) -> Result<String, String> {
    let script = format!("{STAGE}{PATCH}");
    Git::new(workspace).run(&script, &[("BASE", base)]).await
}

async fn branch(
    job: &Job,
    workspace: &Path,
    base: &str,
    name: String,
) -> Result<Option<String>, String> {
    let git = Git::new(workspace);
    let directory = git.run(
        "exec git rev-parse --path-format=absolute --git-common-dir",
        &[],
    );
    let directory = PathBuf::from(directory.await?.trim());
    let message = format!("{}: {}", job.issue.identifier, job.issue.title);
    let variables = [("BASE", base), ("BRANCH", &name), ("MESSAGE", &message)];
    let script = format!("{STAGE}{BRANCH}");
    let made = Git::new(workspace)
        .writing(directory)
        .run(&script, &variables)
        .await?;
    if made.trim().is_empty() {
        return Ok(None);
    }
    if let Some(repository) = &job.config.result.repository {
        let script = "exec git rev-parse --path-format=absolute --git-common-dir";
        let directory = Git::new(repository).run(script, &[]).await?;
        let from = workspace.display().to_string();
        let variables = [("WORKSPACE", from.as_str()), ("BRANCH", &name)];
        let git = Git::new(repository).writing(PathBuf::from(directory.trim()));
        git.run(FETCH, &variables).await?;
    }
    Ok(Some(name))
}

/// Shell scripts that run git in a directory.
struct Git<'a> {
    directory: &'a Path,
    writable: Vec<PathBuf>,
}

impl<'a> Git<'a> {
    fn new(directory: &'a Path) -> Git<'a> {
        Git {
            directory,
            writable: Vec::new(),
        }
    }

    /// Lets it write to a repository.
    fn writing(mut self, repository: PathBuf) -> Git<'a> {
        self.writable.push(repository);
        self
    }

    /// What a script says on its standard output.
    async fn run(&self, script: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut policy = WorkspaceWrite::new(scratch.path());
        policy.writable_roots.clone_from(&self.writable);
        policy.network = Network::Off;
        let argv = ["sh", "-c", script];
        let mut command = Command::new(argv, self.directory, Policy::WorkspaceWrite(policy));
        let inherited = std::env::vars_os();
        let git = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("GIT_");
        command.env = inherited.filter(|(name, _)| !git(name)).collect();
        let own = [
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_AUTHOR_NAME", "Quipu runner"),
            ("GIT_AUTHOR_EMAIL", "runner@localhost"),
            ("GIT_COMMITTER_NAME", "Quipu runner"),
            ("GIT_COMMITTER_EMAIL", "runner@localhost"),
        ];
        let all = own.iter().chain(variables);
        command
            .env
            .extend(all.map(|(name, value)| (name.into(), value.into())));
        command.env.push(("SCRATCH".into(), scratch.path().into()));
        let done = tokio::time::timeout(PATIENCE, finish(command)).await;
        done.unwrap_or_else(|_| Err(format!("git took longer than {} s", PATIENCE.as_secs())))
    }
}

async fn finish(command: Command) -> Result<String, String> {
    let spawned = quipu_sandbox::spawn(command).await;
    let mut spawned = spawned.map_err(|error| error.to_string())?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    while let Some(chunk) = spawned.output.next().await {
        match chunk.stream {
            Stream::Stdout => out.extend_from_slice(&chunk.bytes),
            Stream::Stderr if err.len() < 4096 => err.extend_from_slice(&chunk.bytes),
            Stream::Stderr => {}
        }
        if out.len() > MAX_PATCH {
            return Err(format!("the changes have more than {MAX_PATCH} bytes"));
        }
    }
    match spawned.process.wait().await {
        Exit::Code(0) => Ok(String::from_utf8_lossy(&out).into_owned()),
        exit => Err(format!(
            "git ended with {exit:?}: {}",
            String::from_utf8_lossy(&err).trim()
        )),
    }
}
