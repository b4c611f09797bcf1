//! `quipu store`: the database of the threads, its tables, and threads that move in and out.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use quipu_config::{Env, Loader};
use quipu_postgres::{Address, Counts, Options, Postgres};

use super::{app_server, print};
use crate::args::ConfigArgs;

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Make the tables of the database, or bring them to the version of this program
    Migrate(LocationArgs),
    /// Check that the database can be reached and that everything in it is whole
    Check(LocationArgs),
    /// Copy the threads of a home directory into the database
    Import(TransferArgs),
    /// Copy the threads of the database into a home directory
    Export(TransferArgs),
}

#[derive(Debug, Args)]
pub struct LocationArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct TransferArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The home directory, if not that of this program
    #[arg(value_name = "DIR")]
    home: Option<PathBuf>,
}

pub fn run(command: StoreCommand, common: &ConfigArgs) -> Result<ExitCode, String> {
    match command {
        StoreCommand::Migrate(args) => migrate(&open(&args.config, common)?.1),
        StoreCommand::Check(args) => check(&open(&args.config, common)?.1),
        StoreCommand::Import(args) => {
            let (config, store) = open(&args.config, common)?;
            let home = args.home.unwrap_or_else(|| config.home().path().to_owned());
            let counts = store.import(&home).map_err(|error| error.to_string())?;
            print::lines([format!(
                "imported from {}: {}",
                home.display(),
                words(&counts)
            )])
        }
        StoreCommand::Export(args) => {
            let (config, store) = open(&args.config, common)?;
            let home = args.home.unwrap_or_else(|| config.home().path().to_owned());
            let counts = store.export(&home).map_err(|error| error.to_string())?;
            print::lines([format!(
                "exported to {}: {}",
                home.display(),
                words(&counts)
            )])
        }
    }
}

fn open(given: &ConfigArgs, common: &ConfigArgs) -> Result<(Loader, Arc<Postgres>), String> {
    let config = app_server::unchecked(Env::from_process(), common.overrides(given)?)?;
    let snapshot = config
        .load_or_defaults()
        .map_err(|error| error.to_string())?;
    let store = snapshot.storage(config.env()).store.ok_or(
        "threads are files in the home directory; name a database with `--store postgres://…` or `[store] url`",
    )?;
    let address: Address = store.url.parse().map_err(|error| format!("{error}"))?;
    let address = address.or_password(store.password.as_deref());
    let store = Postgres::new(config.home().path(), Ok(address), Options::default());
    Ok((config, store))
}

fn migrate(store: &Postgres) -> Result<ExitCode, String> {
    let (before, after) = store.migrate().map_err(|error| error.to_string())?;
    print::lines([match before == after {
        true => format!("the tables have version {after} already"),
        false => format!("the tables have version {after} now, before {before}"),
    }])
}

fn check(store: &Postgres) -> Result<ExitCode, String> {
    let report = store.check().map_err(|error| error.to_string())?;
    let mut lines = vec![
        format!("PostgreSQL {}", report.server),
        format!("threads: {} and {} archived", report.live, report.archived),
        format!("bytes of rollouts: {}", report.bytes),
        format!("threads that are being written to: {}", report.leases),
    ];
    if !report.has_search_index {
        lines.push(
            "searching reads every thread: the extension pg_trgm was not available when the tables were made"
                .to_owned(),
        );
    }
    for path in &report.damaged {
        lines.push(format!("damaged: {path}"));
    }
    print::lines(lines)?;
    Ok(match report.damaged.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn words(counts: &Counts) -> String {
    format!(
        "{} rollouts ({} bytes), {} that were there already, {} names and git facts, {} texts beside them",
        counts.copied, counts.bytes, counts.same, counts.labels, counts.kept
    )
}
