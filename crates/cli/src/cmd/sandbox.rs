//! `quipu sandbox`: says what keeps commands inside their policy on this machine. It is found out by building a
//! jail, as the server does, and not by looking at versions.

use std::io::Write as _;
use std::process::ExitCode;

/// Fails where nothing can, so that a script can ask.
pub fn run() -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let found = runtime
        .block_on(quipu_sandbox::capabilities())
        .map_err(|error| error.to_string())?;
    writeln!(std::io::stdout(), "{found}").map_err(|error| error.to_string())?;
    found.check().map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}
