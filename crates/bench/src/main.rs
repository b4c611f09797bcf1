//! Measures what a server of the protocol costs, Quipu beside any other one, on the same machine in the
//! same run. `docs/performance.md` tells how to read it.

mod args;
mod chart;
mod curves;
mod fetch;
mod files;
mod floor;
mod ground;
mod load;
mod mixed;
mod outcome;
mod plot;
mod report;
mod rows;
mod runner;
mod session;
mod soak;
mod stock;
mod store;
mod svg;
mod usage;

use std::error::Error;
use std::io::{self, Write as _};

use clap::Parser as _;
use tokio::net::TcpListener;

use crate::args::Args;
use crate::ground::{Ground, Subject};
use crate::outcome::Outcome;
use crate::report::{Measured, Report};
use crate::rows::Row;

/// Whatever ends a measurement early, in words.
type Failure = Box<dyn Error + Send + Sync>;
type Result<T, E = Failure> = std::result::Result<T, E>;

#[tokio::main]
async fn main() -> Result<()> {
    // As a task of the runtime it is woken on the thread that reads from the server, which costs less than
    // to wake the main thread. What the client costs is in the times of all servers.
    tokio::spawn(run(Args::parse())).await?
}

async fn run(args: Args) -> Result<()> {
    if let Some(path) = &args.from {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        return show(&Outcome::parse(&text)?, &args);
    }
    files::raise_limit();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let model = format!("http://{}/v1", listener.local_addr()?);
    tokio::spawn(quipu_testkit::model::serve(listener));
    let subjects = args.subjects()?;
    if args.load {
        return load::run(&subjects, &model, args.quick).await;
    }
    if args.runner {
        return runner::run(&subjects[0], args.quick).await;
    }
    let outcome = if let Some(time) = args.soak.filter(|_| args.mixed) {
        Outcome::Mixed(mixed::run(&subjects, &model, time).await?)
    } else if let Some(time) = args.soak {
        Outcome::Soak(soak::run(&subjects, &model, time).await?)
    } else if args.store {
        Outcome::Store(store::run(&subjects[0], &model, args.quick).await?)
    } else if args.curves {
        Outcome::Curves(curves::run(&subjects, &model, args.quick).await?)
    } else {
        Outcome::Table(table(&subjects, &model, &args).await?)
    };
    if let Some(path) = &args.json {
        std::fs::write(path, outcome.json()?)?;
    }
    show(&outcome, &args)
}

fn show(outcome: &Outcome, args: &Args) -> Result<()> {
    write!(io::stdout().lock(), "{}", outcome.text())?;
    if let Some(path) = &args.svg {
        std::fs::write(path, outcome.svg()?)?;
    }
    if let Some(path) = &args.page {
        let page = std::fs::read_to_string(path)?;
        std::fs::write(path, outcome.put_on(&page)?)?;
    }
    Ok(())
}

async fn table(subjects: &[Subject], model: &str, args: &Args) -> Result<Report> {
    let mut report = Report::new(subjects, args.rounds(), args.quick);
    for row in args.rows()? {
        if let Some(why) = row.lacks() {
            left_out(row, why, args)?;
            continue;
        }
        progress(row.name())?;
        report.add(measure(row, subjects, model, args).await?);
    }
    Ok(report)
}

/// All rounds of one row. The subjects take turns within a round, so that a busy minute of the machine
/// falls on all of them.
async fn measure<'a>(
    row: &'a dyn Row,
    subjects: &[Subject],
    model: &str,
    args: &Args,
) -> Result<Measured<'a>> {
    let subjects = match row.compares() {
        true => subjects,
        false => &subjects[..1],
    };
    let mut grounds = Vec::new();
    for subject in subjects {
        let ground = Ground::new(subject, model, args.quick)?;
        row.prepare(&ground)
            .await
            .map_err(|error| described(row, subject, &error))?;
        grounds.push(ground);
    }
    let mut measured = Measured::new(row.figures(), subjects.len());
    for _ in 0..args.rounds() {
        for (ground, samples) in grounds.iter().zip(measured.samples_mut()) {
            let values = row.run(ground).await;
            samples.push(values.map_err(|error| described(row, ground.subject(), &error))?);
        }
    }
    Ok(measured)
}

fn described(row: &dyn Row, subject: &Subject, error: &Failure) -> Failure {
    format!("{} on {}: {error}", row.name(), subject.name).into()
}

/// Says that a row is not measured, or fails if it was asked for.
fn left_out(row: &dyn Row, why: &str, args: &Args) -> Result<()> {
    match args.names(row) {
        true => Err(format!("cannot measure {}: {why}", row.name()).into()),
        false => {
            writeln!(io::stderr().lock(), "left out {}: {why}", row.name())?;
            Ok(())
        }
    }
}

fn progress(what: &str) -> io::Result<()> {
    writeln!(io::stderr().lock(), "measuring {what}")
}
