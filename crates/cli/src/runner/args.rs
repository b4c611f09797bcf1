//! The command line of `quipu runner`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunnerArgs {
    #[command(subcommand)]
    pub command: Option<RunnerCommand>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Workflow to run [default: WORKFLOW.md]
    #[arg(value_name = "WORKFLOW.md")]
    pub workflow: Option<PathBuf>,
    /// Serve the dashboard and the HTTP API on this port of localhost; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Show what would be dispatched, and with which prompt, and exit
    #[arg(long, conflicts_with = "demo")]
    pub dry_run: bool,
    /// Show what the service does: three small issues, a scripted model, no network
    #[arg(long, conflicts_with = "workflow")]
    pub demo: bool,
    /// With --demo: end when the issues are done, also on a terminal
    #[arg(long, requires = "demo")]
    pub exit: bool,
}

#[derive(Debug, Subcommand)]
pub enum RunnerCommand {
    /// Show running and pending work, and its cost
    Status {
        #[command(flatten)]
        of: OfWorkflow,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show everything that was done for an issue: attempts, threads, cost, logs, patches
    Show {
        /// Identifier of the issue
        issue: String,
        #[command(flatten)]
        of: OfWorkflow,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Work on an issue now, also if it was cancelled
    Retry {
        /// Identifier of the issue
        issue: String,
        #[command(flatten)]
        of: OfWorkflow,
    },
    /// End the work on an issue and hold it until it is retried
    Cancel {
        /// Identifier of the issue
        issue: String,
        #[command(flatten)]
        of: OfWorkflow,
    },
}

#[derive(Debug, Args)]
pub struct OfWorkflow {
    /// Workflow of the service
    #[arg(long, value_name = "WORKFLOW.md", default_value = "WORKFLOW.md")]
    pub workflow: PathBuf,
}
