//! Turns a policy into an enforced process: namespaces, Landlock, seccomp, process groups, PTY.
//!
//! [`spawn`] is the only way to start a process. Each command gets a small supervisor process (see
//! [`maybe_run_helper`]) that builds the jail, runs the command in it and holds one end of a socket.
//! When the other end closes, because the command is killed, its handle dropped, or the whole server
//! killed, the supervisor kills every descendant of the command.
//!
//! What the kernel cannot enforce is refused ([`SpawnError::CannotEnforce`]), never run bare.

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux has a sandbox yet")
)]

mod capabilities;
mod command;
mod error;
mod policy;
mod real_path;

#[cfg(unix)]
mod fd;
#[cfg(unix)]
mod gate;
#[cfg(unix)]
mod git;
#[cfg(unix)]
mod helper;
#[cfg(unix)]
mod lifeline;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod output;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod roots;
#[cfg(unix)]
mod rules;
#[cfg(unix)]
mod spawn;
#[cfg(unix)]
mod spec;
#[cfg(not(unix))]
mod unsupported;
#[cfg(unix)]
mod zygote;

pub use capabilities::{Capabilities, capabilities};
pub use command::{Command, Enforcement, Linger, Stdio, WindowSize};
pub use error::SpawnError;
#[cfg(unix)]
pub use gate::Gate;
#[cfg(unix)]
pub use helper::maybe_run_helper;
#[cfg(unix)]
pub use lifeline::end_all;
#[cfg(unix)]
pub use output::{Chunk, Output, Stream};
pub use policy::{GATE_PORT, Grants, Network, Policy, Readable, WorkspaceWrite};
#[cfg(unix)]
pub use process::{Exit, Process, Spawned, StdinError};
pub use real_path::real_path;
#[cfg(unix)]
pub use rules::Rules;
#[cfg(unix)]
pub use spawn::spawn;
#[cfg(not(unix))]
pub use unsupported::{
    Chunk, Exit, Gate, Output, Process, Rules, Spawned, StdinError, Stream, end_all,
    maybe_run_helper, spawn,
};

/// Makes a test binary able to start commands: put it once at the top of the test's main file.
///
/// Test binaries have no `main` of their own to call [`maybe_run_helper`] from, so this runs it
/// from the list of functions that the loader calls before `main`.
#[macro_export]
macro_rules! run_helper_in_tests {
    () => {
        #[used]
        #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
        #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
        static RUN_HELPER: extern "C" fn() = {
            extern "C" fn run_helper() {
                $crate::maybe_run_helper();
            }
            run_helper
        };
    };
}
