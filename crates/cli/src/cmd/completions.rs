//! `quipu completions` and `quipu man`: what packages install beside the program, made from its arguments.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

pub fn completions(mut command: Command, shell: Shell) -> Result<ExitCode, String> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "quipu", &mut script);
    match io::stdout().write_all(&script) {
        // A reader that has seen enough, such as `head`, is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.to_string()),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

/// Writes one page for the program and one for each of its subcommands.
pub fn man(command: Command, out: &Path) -> Result<ExitCode, String> {
    std::fs::create_dir_all(out)
        .and_then(|()| clap_mangen::generate_to(command, out))
        .map_err(|error| format!("cannot write to {}: {error}", out.display()))?;
    Ok(ExitCode::SUCCESS)
}
