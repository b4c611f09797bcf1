//! `quipu doctor`: looks at everything a run depends on and says what to do about each finding. Values that
//! could be secrets are never shown; the bundle can be attached to a bug report as it is.

mod bundle;
mod finding;
mod machine;
mod settings;

use std::fmt::Write as _;
use std::process::ExitCode;

use quipu_config::{Env, Overrides};
use serde_json::json;

use crate::args::{ConfigArgs, DoctorArgs};
use crate::cmd::{app_server, print};
use finding::{Finding, Status};
pub use settings::source;

pub fn run(args: DoctorArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let overrides = common.overrides(&args.config)?;
    let findings = examine(&overrides);
    if let Some(file) = &args.bundle {
        let config = app_server::unchecked(Env::from_process(), overrides).ok();
        bundle::write(file, &findings, config.as_ref())?;
        eprintln!("Wrote {}. Read it before you share it.", file.display());
    }
    match args.json {
        true => print::lines([json!({ "findings": findings }).to_string()])?,
        false => print::lines(text(&findings).lines().map(str::to_owned))?,
    };
    let failed = findings.iter().any(|it| it.status == Status::Error);
    Ok(match failed {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// Everything that was looked at, whether or not something is wrong with it.
fn examine(overrides: &Overrides) -> Vec<Finding> {
    let mut findings = vec![machine::version()];
    let sandbox = match app_server::unchecked(Env::from_process(), overrides.clone()) {
        Ok(config) => {
            let home = config.home().path().to_owned();
            findings.extend(machine::home(&home));
            findings.extend(settings::configuration(&config));
            let sandbox = machine::sandbox(Some(&config));
            findings.extend(settings::live(config));
            sandbox
        }
        Err(error) => {
            let fix = "Set QUIPU_HOME to a directory that this user can write to.";
            findings.push(Finding::error("home", error).fix(fix));
            machine::sandbox(None)
        }
    };
    findings.push(sandbox);
    findings.push(machine::git());
    findings.extend(machine::limits());
    findings.push(machine::proxy(&Env::from_process()));
    findings
}

/// The findings for a terminal or a report: one line each, the remedy below it.
fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for it in findings {
        let mark = it.status.mark();
        let (area, summary) = (it.area, &it.summary);
        // Writing to a string cannot fail.
        writeln!(text, "{mark} {area:<14} {summary}").ok();
        for detail in &it.details {
            writeln!(text, "  {:<14} {detail}", "").ok();
        }
        if let Some(fix) = &it.fix {
            let mut lines = fix.lines();
            let first = lines.next().unwrap_or_default();
            writeln!(text, "  {:<14} → {first}", "").ok();
            for line in lines {
                writeln!(text, "  {:<14}   {line}", "").ok();
            }
        }
    }
    let count = |status| findings.iter().filter(|it| it.status == status).count();
    let (errors, warnings) = (count(Status::Error), count(Status::Warning));
    // Writing to a string cannot fail.
    match (errors, warnings) {
        (0, 0) => writeln!(text, "\nNo problems found."),
        _ => writeln!(text, "\n{errors} error(s), {warnings} warning(s)."),
    }
    .ok();
    text
}
