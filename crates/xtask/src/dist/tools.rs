//! The programs that packing needs, and the files it writes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Outcome;

/// Fails unless every program is here; each comes with how a person gets it.
pub fn require(programs: &[(&str, &str)]) -> Outcome {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = |name: &str| std::env::split_paths(&path).any(|it| it.join(name).is_file());
    let missing: Vec<String> = programs
        .iter()
        .filter(|(name, _)| !is_here(name))
        .map(|(name, hint)| format!("{name} (install {hint})"))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("missing: {}", missing.join(", "))),
    }
}

/// Runs a program, its output going to ours.
pub fn run(directory: &Path, program: &str, args: &[&str], env: &[(&str, &str)]) -> Outcome {
    let status = command(directory, program, args)
        .envs(env.iter().copied())
        .status()
        .map_err(|error| format!("cannot start `{program}`: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{program} {}` failed ({status})", args.join(" "))),
    }
}

/// What a program prints, without the last line's end.
pub fn output(directory: &Path, program: &str, args: &[&str]) -> Outcome<String> {
    let output = command(directory, program, args)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start `{program}`: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`{program} {}` failed ({})",
            args.join(" "),
            output.status
        ));
    }
    let text = String::from_utf8(output.stdout);
    let text = text.map_err(|_| format!("`{program}` does not print text"))?;
    Ok(text.trim_end().to_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore ends before its children matter"
)]
fn command(directory: &Path, program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(directory);
    command
}

/// An empty directory.
pub fn fresh(directory: &Path) -> Outcome {
    remove(directory)?;
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))
}

pub fn remove(directory: &Path) -> Outcome {
    match directory.exists() {
        true => fs::remove_dir_all(directory)
            .map_err(|error| format!("{}: {error}", directory.display())),
        false => Ok(()),
    }
}

pub fn write(file: &Path, text: &str) -> Outcome {
    fs::write(file, text)
        .and_then(|()| set_mode(file, 0o644))
        .map_err(|error| format!("{}: {error}", file.display()))
}

/// Gives all directories of a package the mode that they have in it, whatever the mask of the user is.
pub fn settle(directory: &Path) -> Outcome {
    let said = |error: std::io::Error| format!("{}: {error}", directory.display());
    set_mode(directory, 0o755).map_err(said)?;
    for entry in fs::read_dir(directory).map_err(said)? {
        let path = entry.map_err(said)?.path();
        if path.is_dir() {
            settle(&path)?;
        }
    }
    Ok(())
}

pub fn read(file: &Path) -> Outcome<String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Copies a file and sets its mode; directories on the way are made.
pub fn place(from: &Path, to: &Path, mode: u32) -> Outcome {
    let said = |error: std::io::Error| format!("{} to {}: {error}", from.display(), to.display());
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory).map_err(said)?;
    }
    fs::copy(from, to).map_err(said)?;
    set_mode(to, mode).map_err(said)
}

#[cfg(unix)]
fn set_mode(file: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_file: &Path, _mode: u32) -> std::io::Result<()> {
    Ok(())
}

/// The files of a directory, by name.
pub fn files(directory: &Path) -> Outcome<Vec<String>> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|it| it.path().is_file())
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}
