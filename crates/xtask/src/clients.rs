//! `cargo xtask clients`: clients of all ages, installed from their registries and run on one server with one home.
//! It needs the network and minutes, so it is not part of `ci`.

mod page;
mod stage;
mod table;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::cargo::Quipu;
use page::Report;
use stage::{Stage, output, program};
use table::{CLIENTS, Client, Source};

/// Where the scripts are.
const DRIVERS: &str = "crates/xtask/clients";

/// What the run needs besides Rust.
const PROGRAMS: &[&str] = &["node", "npm", "python3", "tmux", "git", "timeout"];

/// Seconds after which a driver is ended.
const LIMIT: &str = "300";

/// Runs the clients whose name, package or version contains one of the words, or all, and then writes the table into
/// the page.
pub fn run(root: &Path, words: &[&str]) -> Outcome {
    if let Some(missing) = PROGRAMS.iter().find(|it| !crate::npm::is_here(it)) {
        return Err(format!(
            "running clients needs `{missing}`, which is not here"
        ));
    }
    let chosen = |client: &&Client| {
        let text = format!("{} {}", client.name, client.package());
        words.is_empty() || words.iter().any(|word| text.contains(word))
    };
    let quipu = Quipu::ToBuild.program(root)?;
    let stage = Stage::start(&quipu)?;
    let mut rows = Vec::new();
    for (number, client) in CLIENTS.iter().filter(chosen).enumerate() {
        println!("{} {}", client.name, client.version);
        let directory = stage.client(number)?;
        let report = try_client(root, &stage, client, &directory);
        // The official program alone has half a gigabyte.
        drop(fs::remove_dir_all(&directory));
        if let Some(why) = &report.failure {
            println!("  {why}");
        }
        rows.push((client, report));
    }
    stage.end()?;
    let table = page::table(&rows);
    println!("\n{table}");
    if words.is_empty() {
        page::write(root, &table)?;
    }
    match rows.iter().filter(|(_, it)| it.failure.is_some()).count() {
        0 => Ok(()),
        failed => Err(format!("{failed} of {} clients failed", rows.len())),
    }
}

fn try_client(root: &Path, stage: &Stage, client: &Client, directory: &Path) -> Report {
    let driven = install(root, client, directory).and_then(|()| drive(stage, client, directory));
    driven.unwrap_or_else(|why| Report {
        steps: Vec::new(),
        failure: Some(why),
    })
}

/// Puts the package and the drivers into the client's directory, where the drivers find it.
fn install(root: &Path, client: &Client, directory: &Path) -> Outcome {
    let package = client.package();
    match client.source {
        Source::Npm(_) => {
            let mut npm = program("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--prefix"]);
            succeed(npm.arg(directory).arg(package).args(client.with))?;
        }
        Source::PyPi(_) => {
            let environment = directory.join("venv");
            succeed(program("python3").args(["-m", "venv"]).arg(&environment))?;
            let pip = |args: &[&str]| {
                let mut pip = program(environment.join("bin/pip"));
                succeed(pip.args(["install", "--quiet"]).args(args))
            };
            pip(&["--no-deps", &package])?;
            if !client.with.is_empty() {
                pip(client.with)?;
            }
        }
    }
    let scripts = fs::read_dir(root.join(DRIVERS));
    let scripts = scripts.map_err(|error| format!("cannot read {DRIVERS}: {error}"))?;
    for script in scripts.flatten() {
        fs::copy(script.path(), directory.join(script.file_name()))
            .map_err(|error| format!("cannot copy {}: {error}", script.path().display()))?;
    }
    Ok(())
}

fn succeed(command: &mut Command) -> Outcome {
    match output(command)? {
        (true, _) => Ok(()),
        (false, text) => Err(format!("installing failed: {}", text.trim())),
    }
}

fn drive(stage: &Stage, client: &Client, directory: &Path) -> Outcome<Report> {
    let interpreter = match client.source {
        Source::Npm(_) => "node".into(),
        Source::PyPi(_) => directory.join("venv/bin/python"),
    };
    let mut command = stage.command(Path::new("timeout"), directory);
    command.args(["--kill-after=5", LIMIT]).arg(interpreter);
    let (succeeded, text) = output(command.args(client.driver))?;
    Ok(report(succeeded, &text))
}

/// Reads the lines of JSON among what a driver printed.
fn report(succeeded: bool, text: &str) -> Report {
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let (mut steps, mut failure) = (Vec::new(), None);
    for line in lines {
        let Some(step) = line["step"].as_str() else {
            continue;
        };
        steps.push(step.to_owned());
        if line["ok"] != true {
            let detail = line["detail"].as_str().unwrap_or("no reason given");
            failure = Some(format!("{step}: {detail}"));
        }
    }
    let last = steps.last().map_or("the first step", String::as_str);
    if failure.is_none() && (!succeeded || steps.is_empty()) {
        failure = Some(format!("the driver ended after {last}: {}", text.trim()));
    }
    Report { steps, failure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_parses() {
        let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
        for client in CLIENTS {
            assert!(
                drivers.join(client.driver[0]).is_file(),
                "{}",
                client.driver[0]
            );
        }
        for entry in fs::read_dir(&drivers).unwrap() {
            let path = entry.unwrap().path();
            let (interpreter, check): (_, &[&str]) = match path.extension().unwrap().to_str() {
                Some("mjs") => ("node", &["--check"]),
                Some("py") => (
                    "python3",
                    &["-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"],
                ),
                other => panic!("{other:?} is no language of drivers"),
            };
            if !crate::npm::is_here(interpreter) {
                println!("SKIPPED: {}: there is no `{interpreter}`", path.display());
                continue;
            }
            let parsed = output(program(interpreter).args(check).arg(&path)).unwrap();
            assert!(parsed.0, "{}: {}", path.display(), parsed.1);
        }
    }

    #[test]
    fn a_driver_that_dies_is_a_failure() {
        let failure = |succeeded, text| report(succeeded, text).failure;
        let fine = "{\"step\":\"start\",\"ok\":true}\nnoise\n";
        assert_eq!(failure(true, fine), None);
        let bad = "{\"step\":\"start\",\"ok\":false,\"detail\":\"no\"}";
        assert_eq!(failure(false, bad).as_deref(), Some("start: no"));
        let died = failure(false, fine).unwrap();
        assert!(died.starts_with("the driver ended after start"), "{died}");
        assert!(failure(true, "").is_some());
    }
}
