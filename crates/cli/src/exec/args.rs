//! The command line of `quipu exec`. The flags are those of `codex exec`, which programs pass.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use quipu_client::wire::SandboxMode;

use crate::args::ConfigArgs;

#[derive(Debug, ClapArgs)]
#[command(subcommand_precedence_over_arg = true)]
pub struct ExecArgs {
    #[command(subcommand)]
    pub command: Option<ExecCommand>,
    #[command(flatten)]
    pub run: RunArgs,
    /// What to do. Without it, or as `-`, it is read from standard input; what is piped in beside it
    /// is appended as a `<stdin>` block.
    pub prompt: Option<String>,
    /// What commands of the model may touch.
    #[arg(short, long, value_name = "SANDBOX_MODE")]
    pub sandbox: Option<Sandbox>,
    /// The profile of config.toml to use.
    #[arg(short, long, value_name = "CONFIG_PROFILE")]
    pub profile: Option<String>,
    /// The folder to work in.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A folder besides that which may be written to.
    #[arg(long, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,
    /// Uses a model server on this machine.
    #[arg(long)]
    pub oss: bool,
    /// Which one, and that one is used at all: `ollama` (unless `oss_provider` is configured),
    /// `lmstudio` or `llamacpp`.
    #[arg(long, value_name = "OSS_PROVIDER")]
    pub local_provider: Option<String>,
    /// A file with the JSON Schema that the last message must follow.
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,
    /// Whether to colour what is told on the terminal.
    #[arg(long, value_enum, default_value_t)]
    pub color: Color,
}

/// What every kind of run takes, before or after the name of the kind.
#[derive(Debug, Default, ClapArgs)]
pub struct RunArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Images that go with the prompt.
    #[arg(short, long = "image", value_name = "FILE", num_args = 1.., value_delimiter = ',')]
    pub images: Vec<PathBuf>,
    /// The model to use.
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Lets commands write to the workspace, and never asks.
    #[arg(long)]
    pub full_auto: bool,
    /// Runs commands without any sandbox. Only where something else confines them.
    #[arg(long, alias = "yolo", conflicts_with = "full_auto")]
    pub dangerously_bypass_approvals_and_sandbox: bool,
    /// Runs outside a Git repository too.
    #[arg(long)]
    pub skip_git_repo_check: bool,
    /// Keeps nothing on disk.
    #[arg(long)]
    pub ephemeral: bool,
    /// Tells what happens as JSON lines on standard output.
    #[arg(long, alias = "experimental-json")]
    pub json: bool,
    /// A file to write the last message to.
    #[arg(short = 'o', long = "output-last-message", value_name = "FILE")]
    pub last_message: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ExecCommand {
    /// Goes on with an earlier run.
    Resume(Box<ResumeArgs>),
    /// Reviews changes of the repository.
    Review(Box<ReviewArgs>),
}

#[derive(Debug, ClapArgs)]
pub struct ResumeArgs {
    /// The run's id or its thread's name.
    pub session: Option<String>,
    /// What to do next; read from standard input without it or as `-`.
    pub prompt: Option<String>,
    /// Takes the latest run in this folder.
    #[arg(long)]
    pub last: bool,
    /// With `--last`: in any folder.
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, ClapArgs)]
pub struct ReviewArgs {
    /// What to look for, in place of a set of changes; read from standard input as `-`.
    #[arg(conflicts_with_all = ["uncommitted", "base", "commit"])]
    pub prompt: Option<String>,
    /// Staged, unstaged and untracked changes.
    #[arg(long, conflicts_with_all = ["base", "commit"])]
    pub uncommitted: bool,
    /// What differs from a branch.
    #[arg(long, value_name = "BRANCH", conflicts_with = "commit")]
    pub base: Option<String>,
    /// What a commit changed.
    #[arg(long, value_name = "SHA")]
    pub commit: Option<String>,
    /// The commit's title, to show.
    #[arg(long, value_name = "TITLE", requires = "commit")]
    pub title: Option<String>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

impl From<Sandbox> for SandboxMode {
    fn from(sandbox: Sandbox) -> SandboxMode {
        match sandbox {
            Sandbox::ReadOnly => SandboxMode::ReadOnly,
            Sandbox::WorkspaceWrite => SandboxMode::WorkspaceWrite,
            Sandbox::DangerFullAccess => SandboxMode::DangerFullAccess,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Always,
    Never,
    #[default]
    Auto,
}

impl RunArgs {
    /// These flags with those given after the name of the kind laid over them.
    pub fn with(mut self, later: RunArgs) -> RunArgs {
        self.config.extend(later.config);
        self.images.extend(later.images);
        RunArgs {
            config: self.config,
            images: self.images,
            model: later.model.or(self.model),
            full_auto: self.full_auto || later.full_auto,
            dangerously_bypass_approvals_and_sandbox: self.dangerously_bypass_approvals_and_sandbox
                || later.dangerously_bypass_approvals_and_sandbox,
            skip_git_repo_check: self.skip_git_repo_check || later.skip_git_repo_check,
            ephemeral: self.ephemeral || later.ephemeral,
            json: self.json || later.json,
            last_message: later.last_message.or(self.last_message),
        }
    }
}
