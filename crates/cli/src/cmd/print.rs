//! Lists on standard output.

use std::io::{self, Write as _};
use std::process::ExitCode;

/// Prints lines. A reader that has seen enough, such as `head`, is not an error.
pub fn lines(lines: impl IntoIterator<Item = String>) -> Result<ExitCode, String> {
    let mut stdout = io::stdout().lock();
    for line in lines {
        match writeln!(stdout, "{line}") {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            written => written.map_err(|error| error.to_string())?,
        }
    }
    Ok(ExitCode::SUCCESS)
}
