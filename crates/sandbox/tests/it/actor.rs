//! This program in other roles: a loader hook turns it into an attacker or a stubborn process when
//! the environment says so, so that no other tools are needed inside a sandbox.

use std::{
    ffi::OsString,
    io,
    os::fd::AsRawFd,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use quipu_sandbox::Command;

use crate::{escape, lab::program, ownership};

/// Which role to play.
pub const ROLE: &str = "QUIPU_TEST_ROLE";

/// The exit code of an actor whose deed was prevented.
const PREVENTED: i32 = 7;

#[used]
#[unsafe(link_section = ".init_array")]
static PLAY: extern "C" fn() = play;

/// The process that started this one or the one it was forked from.
static SUPERVISOR: AtomicU32 = AtomicU32::new(0);

/// The supervisor of the command that this process belongs to.
pub fn supervisor() -> u32 {
    SUPERVISOR.load(Ordering::Relaxed)
}

extern "C" fn play() {
    let Some(role) = std::env::var_os(ROLE) else {
        return;
    };
    SUPERVISOR.store(std::os::unix::process::parent_id(), Ordering::Relaxed);
    let role = role.to_string_lossy();
    let deed = escape::attack(&role).or_else(|| ownership::deed(&role));
    let code = match deed.map(|deed| deed()) {
        Some(Ok(())) => 0,
        Some(Err(error)) => {
            say(&format!("{error}\n"));
            PREVENTED
        }
        None => 99,
    };
    std::process::exit(code);
}

/// Writes to stdout without the standard library's buffers, which are not set up this early.
pub fn say(text: &str) {
    // SAFETY: writes from a valid buffer.
    unsafe { libc::write(io::stdout().as_raw_fd(), text.as_ptr().cast(), text.len()) };
}

/// Gives a command to play a role.
pub fn cast(role: &str, properties: &[(&str, &Path)], command: Command) -> Command {
    let mut env: Vec<(OsString, OsString)> = vec![(ROLE.into(), role.into())];
    env.extend(
        properties
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    Command {
        argv: vec![program().into()],
        env,
        ..command
    }
}
