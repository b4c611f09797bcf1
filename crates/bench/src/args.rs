//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::Result;
use crate::fetch::Published;
use crate::ground::Subject;
use crate::rows::{self, Row};

/// Measures app-servers side by side. It installs nothing unless told to fetch, and leaves nothing else behind.
#[derive(Debug, Parser)]
#[command(name = "quipu-bench")]
pub struct Args {
    /// The Quipu binary [default: the one beside this program]
    #[arg(long, value_name = "PATH")]
    quipu: Option<PathBuf>,
    /// Another server to measure in the same run; ratios are to the first one
    #[arg(long = "peer", value_name = "NAME=BINARY", value_parser = peer)]
    peers: Vec<Subject>,
    /// A published server to measure too; npm gets it into a cache directory
    #[arg(long, value_name = "codex@VERSION")]
    fetch_peer: Vec<Published>,
    /// Only these rows
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    rows: Vec<String>,
    /// How often each row is measured
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// One round with a tenth of all counts and sizes: shows that it works, measures little
    #[arg(long)]
    pub quick: bool,
    /// Also write all samples to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also draw the result into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Also put the table on this page, in the place of the one there
    #[arg(long, value_name = "FILE", conflicts_with = "load")]
    pub page: Option<PathBuf>,
    /// Show a result that `--json` wrote, and measure nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "kind"])]
    pub from: Option<PathBuf>,
    /// Run the websocket load test instead of the table
    #[arg(long, group = "kind")]
    pub load: bool,
    /// Give each server the same work every second for so long, and watch its memory and CPU
    #[arg(long, value_name = "MINUTES", group = "kind", value_parser = minutes)]
    pub soak: Option<Duration>,
    /// With `--soak`: turns of all kinds, forks, interrupts, archives, settings, and clients that come and go
    #[arg(long, requires = "soak")]
    pub mixed: bool,
    /// Measure the service `quipu runner` with 0, 50 and 500 agents instead of the table
    #[arg(long, group = "kind")]
    pub runner: bool,
    /// Measure threads in PostgreSQL beside threads in files instead of the table; needs Debian's `postgresql`
    #[arg(long, group = "kind")]
    pub store: bool,
    /// Measure how cost grows with size instead of the table
    #[arg(long, group = "kind")]
    pub curves: bool,
}

impl Args {
    pub fn rounds(&self) -> u16 {
        self.rounds.unwrap_or(if self.quick { 1 } else { 5 })
    }

    /// Quipu first, then the peers as given, then those that were fetched.
    pub fn subjects(&self) -> Result<Vec<Subject>> {
        let quipu = match &self.quipu {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("quipu"),
        };
        let quipu = Subject::new("quipu", quipu);
        let mut subjects: Vec<_> = [quipu].into_iter().chain(self.peers.clone()).collect();
        for published in &self.fetch_peer {
            subjects.push(published.fetch()?);
        }
        for subject in &mut subjects {
            // Servers run in directories of their own.
            subject.program = std::path::absolute(&subject.program)?;
        }
        match subjects.iter().find(|it| !it.program.is_file()) {
            Some(missing) => Err(format!(
                "{} is no file; build it with `cargo build --release -p quipu-cli`, or give another path",
                missing.program.display()
            )
            .into()),
            None => Ok(subjects),
        }
    }

    /// Whether a row was asked for by name.
    pub fn names(&self, row: &dyn Row) -> bool {
        self.rows.iter().any(|it| it == row.name())
    }

    /// The rows asked for, in the table's order.
    pub fn rows(&self) -> Result<Vec<&'static dyn Row>> {
        let all = &rows::ALL;
        let is_known = |name: &String| all.iter().any(|row| row.name() == name);
        if let Some(unknown) = self.rows.iter().find(|name| !is_known(name)) {
            let names: Vec<_> = all.iter().map(|row| row.name()).collect();
            return Err(format!("no row {unknown}; there are {}", names.join(", ")).into());
        }
        let is_wanted = |row: &&dyn Row| self.rows.is_empty() || self.names(*row);
        Ok(all.iter().copied().filter(is_wanted).collect())
    }
}

fn peer(text: &str) -> Result<Subject> {
    match text.split_once('=') {
        Some((name, program)) if !name.is_empty() => Ok(Subject::new(name, program)),
        _ => Err("give a peer as NAME=BINARY".into()),
    }
}

fn minutes(text: &str) -> Result<Duration> {
    match text.parse::<f64>() {
        Ok(minutes) if (0.0..=1e5).contains(&minutes) => {
            Ok(Duration::from_secs_f64(minutes * 60.0))
        }
        _ => Err("give a number of minutes".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from([&["quipu-bench"], args].concat())
    }

    #[test]
    fn a_soak_may_be_shorter_than_a_minute() {
        let args = parse(&["--soak", "0.5"]).unwrap();
        assert_eq!(args.soak, Some(Duration::from_secs(30)));
        for bad in ["ten", "-1", "NaN", "inf"] {
            assert!(parse(&["--soak", bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn one_run_does_one_thing() {
        assert!(parse(&["--curves", "--soak", "10"]).is_err());
        assert!(parse(&["--from", "a", "--curves"]).is_err());
        assert!(parse(&["--from", "a", "--svg", "b"]).is_ok());
    }

    #[test]
    fn programs_are_found_from_any_directory() {
        let args = parse(&["--quipu", "Cargo.toml", "--peer", "a=src/main.rs"]).unwrap();
        let subjects = args.subjects().unwrap();
        assert!(subjects.iter().all(|it| it.program.is_absolute()));
        let missing = parse(&["--quipu", "none"]).unwrap().subjects();
        assert!(missing.unwrap_err().to_string().contains("is no file"));
    }

    #[test]
    fn peers_have_names() {
        assert!(parse(&["--peer", "a=/b"]).is_ok());
        assert!(parse(&["--peer", "/b"]).is_err());
    }
}
