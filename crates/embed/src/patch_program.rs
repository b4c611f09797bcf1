//! `apply_patch` as a program. Models call it in scripts as if it were installed; so this program is, under
//! that name, in the `PATH` of their commands. It runs where the command runs, in the same sandbox.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use quipu_patch::CommandOutput;
use quipu_server::Settings;

const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// The longest patch that is read.
const MAX_PATCH: u64 = quipu_patch::MAX_FILE_BYTES;

/// How wrong usage ends.
const USAGE: i32 = 2;

/// Applies a patch, if that is the name this process was started under; the code to exit with.
pub fn maybe_run() -> Option<i32> {
    let mut arguments = std::env::args_os();
    let program = arguments.next()?;
    let name = Path::new(&program).file_name()?;
    if !NAMES.iter().any(|known| name == *known) {
        return None;
    }
    let output = match (arguments.next(), arguments.next()) {
        (Some(patch), None) => match patch.into_string() {
            Ok(patch) => apply(&patch),
            Err(_) => failed(1, "Error: apply_patch requires a UTF-8 PATCH argument.\n"),
        },
        (Some(_), Some(_)) => failed(USAGE, "Error: apply_patch accepts exactly one argument.\n"),
        (None, _) => from_stdin(),
    };
    // A caller that does not read the output has the exit code.
    io::stdout().write_all(output.stdout.as_bytes()).ok();
    io::stderr().write_all(output.stderr.as_bytes()).ok();
    Some(output.exit_code)
}

fn from_stdin() -> CommandOutput {
    let mut patch = String::new();
    match io::stdin().take(MAX_PATCH).read_to_string(&mut patch) {
        Ok(0) => failed(
            USAGE,
            "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n",
        ),
        Ok(_) => apply(&patch),
        Err(error) => failed(
            1,
            &format!("Error: Failed to read PATCH from stdin.\n{error}\n"),
        ),
    }
}

fn apply(patch: &str) -> CommandOutput {
    match std::env::current_dir() {
        Ok(directory) => quipu_patch::run(patch, &directory),
        Err(error) => failed(
            1,
            &format!("Error: the working directory cannot be used: {error}\n"),
        ),
    }
}

fn failed(exit_code: i32, message: &str) -> CommandOutput {
    CommandOutput {
        exit_code,
        stdout: String::new(),
        stderr: message.to_owned(),
    }
}

/// Puts it into the `PATH` of a server's commands. Without it patches still have their own tool.
pub fn offer(settings: &mut Settings) {
    let home = settings.config.home().path().to_owned();
    let make = move || {
        let log = |error| tracing::info!(%error, "commands do not find apply_patch");
        directory(&home).map_err(log).ok()
    };
    settings.programs = LazyLock::new(Box::new(make));
}

/// The directory below `home` that has this program under those names. Programs in different places have
/// different directories, so that servers of one home do not take each other's away.
#[cfg(unix)]
fn directory(home: &Path) -> io::Result<PathBuf> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let program = std::env::current_exe()?;
    let mut place = DefaultHasher::new();
    program.hash(&mut place);
    // Commands look here first, so nobody else may put anything here.
    let below = Path::new("tmp/programs").join(format!("{:016x}", place.finish()));
    let directory = quipu_disk::private_dirs(home, &below)?;
    for name in NAMES {
        let link = directory.join(name);
        if std::fs::read_link(&link).is_ok_and(|target| target == program) {
            continue;
        }
        match std::fs::remove_file(&link) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => std::os::unix::fs::symlink(&program, &link)?,
        }
    }
    Ok(directory)
}

/// Where there are no links there is no such program either.
#[cfg(not(unix))]
fn directory(_home: &Path) -> io::Result<PathBuf> {
    Err(io::ErrorKind::Unsupported.into())
}
