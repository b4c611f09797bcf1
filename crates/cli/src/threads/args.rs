//! The arguments of `quipu threads`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::ConfigArgs;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ThreadsArgs {
    #[command(subcommand)]
    pub command: Option<ThreadsCommand>,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Debug, Subcommand)]
pub enum ThreadsCommand {
    /// List stored sessions, the latest first
    List(ListArgs),
    /// Print a session
    Show(ShowArgs),
    /// List sessions whose first message has this text in it
    Search(SearchArgs),
    /// Write a session as Markdown, JSON, HTML, or as the file that `import` reads
    Export(ExportArgs),
    /// Store a session from a file of `export --format rollout`, under a new id
    Import(ImportArgs),
    /// Move sessions to the archive
    Archive(IdsArgs),
    /// Move sessions back from the archive
    Unarchive(IdsArgs),
    /// Delete sessions for good, archived or not
    Delete(DeleteArgs),
    /// Delete old sessions, or the oldest of too many
    Gc(GcArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Only those of this directory
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// How many to list
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    pub limit: u32,
    /// Archived sessions instead of the others
    #[arg(long)]
    pub archived: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Id or name of the session
    #[arg(value_name = "ID")]
    pub id: String,
    /// Print the session as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Text to look for; case counts
    #[arg(value_name = "TEXT")]
    pub text: String,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Id or name of the session
    #[arg(value_name = "ID")]
    pub id: String,
    #[arg(short, long, value_name = "FORMAT", default_value = "markdown")]
    pub format: Format,
    /// File to write; standard output if omitted
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[value(alias = "md")]
    Markdown,
    /// The thread with its turns, as the protocol has it
    Json,
    /// One page without scripts
    Html,
    /// The stored records, which `import` reads
    Rollout,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// File of `export --format rollout`, or a rollout of another home
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct DeleteArgs {
    #[command(flatten)]
    pub sessions: IdsArgs,
    /// Delete them; otherwise they are only shown
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("rule").args(["older_than", "max_size"]).required(true).multiple(true)))]
pub struct GcArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Delete sessions without a change for this long, such as `90d`, `12w` or `36h`
    #[arg(long, value_name = "AGE", value_parser = super::amounts::age)]
    pub older_than: Option<Duration>,
    /// Delete the oldest sessions until the rest takes no more than this, such as `5GiB` or `500MiB`
    #[arg(long, value_name = "SIZE", value_parser = super::amounts::size)]
    pub max_size: Option<u64>,
    /// Only archived sessions
    #[arg(long)]
    pub archived: bool,
    /// Delete them; otherwise they are only shown
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct IdsArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Ids or names of sessions
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
}
