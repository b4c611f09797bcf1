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
    /// The prompt. If omitted or `-`, read from stdin. If both are given, piped input is appended in a
    /// `<stdin>` block
    pub prompt: Option<String>,
    /// Sandbox policy for commands of the model
    #[arg(short, long, value_name = "SANDBOX_MODE")]
    pub sandbox: Option<Sandbox>,
    /// Profile of config.toml to use
    #[arg(short, long, value_name = "CONFIG_PROFILE")]
    pub profile: Option<String>,
    /// Directory to work in
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Additional writable directory
    #[arg(long, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,
    /// Use a model server on this machine
    #[arg(long)]
    pub oss: bool,
    /// Local model server (implies --oss): ollama, lmstudio, llamacpp or vllm
    #[arg(long, value_name = "OSS_PROVIDER")]
    pub local_provider: Option<String>,
    /// File with a JSON Schema that the last message must follow
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,
    /// When to color output
    #[arg(long, value_enum, default_value_t)]
    pub color: Color,
}

/// What every kind of run takes, before or after the name of the kind.
#[derive(Debug, Default, ClapArgs)]
pub struct RunArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Image to send with the prompt; repeat it or separate several with commas
    #[arg(short, long = "image", value_name = "FILE", value_delimiter = ',')]
    pub images: Vec<PathBuf>,
    /// Model to use
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Let commands write to the workspace; never ask
    #[arg(long)]
    pub full_auto: bool,
    /// Run commands without any sandbox. Only for machines that are isolated by other means
    #[arg(long, alias = "yolo", conflicts_with = "full_auto")]
    pub dangerously_bypass_approvals_and_sandbox: bool,
    /// Also run outside a Git repository
    #[arg(long)]
    pub skip_git_repo_check: bool,
    /// Store nothing on disk
    #[arg(long)]
    pub ephemeral: bool,
    /// Print events to stdout as JSON Lines
    #[arg(long, alias = "experimental-json")]
    pub json: bool,
    /// File to write the last message to
    #[arg(short = 'o', long = "output-last-message", value_name = "FILE")]
    pub last_message: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ExecCommand {
    /// Continue an earlier session
    Resume(Box<ResumeArgs>),
    /// Review changes in the repository
    Review(Box<ReviewArgs>),
}

#[derive(Debug, ClapArgs)]
pub struct ResumeArgs {
    /// Id or name of the session; `quipu threads` lists them
    pub session: Option<String>,
    /// The next prompt. If omitted or `-`, read from stdin
    pub prompt: Option<String>,
    /// Continue the latest session of this directory
    #[arg(long)]
    pub last: bool,
    /// With --last: of any directory
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, ClapArgs)]
pub struct ReviewArgs {
    /// Review instructions, instead of a set of changes. If `-`, read from stdin
    #[arg(conflicts_with_all = ["uncommitted", "base", "commit"])]
    pub prompt: Option<String>,
    /// Review staged, unstaged and untracked changes
    #[arg(long, conflicts_with_all = ["base", "commit"])]
    pub uncommitted: bool,
    /// Review the difference from a branch
    #[arg(long, value_name = "BRANCH", conflicts_with = "commit")]
    pub base: Option<String>,
    /// Review the changes of a commit
    #[arg(long, value_name = "SHA")]
    pub commit: Option<String>,
    /// Title of the commit, for display
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

impl ExecArgs {
    /// Whether events are printed as JSON lines.
    pub fn json(&self) -> bool {
        let later = match &self.command {
            None => false,
            Some(ExecCommand::Resume(resume)) => resume.run.json,
            Some(ExecCommand::Review(review)) => review.run.json,
        };
        self.run.json || later
    }
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
