//! Opening an address in the user's browser.

use std::io;
use std::process::{Command, Stdio};

/// Asks the system to open an address. What it starts belongs to the user and outlives this program.
#[expect(
    clippy::disallowed_methods,
    reason = "the browser is the user's own and must not end with this program"
)]
pub fn open(address: &str) -> io::Result<()> {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut child = Command::new(program)
        .args(before)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It hands the address over and exits; somebody has to notice.
    std::thread::spawn(move || child.wait());
    Ok(())
}
