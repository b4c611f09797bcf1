//! Turns a policy into an enforced process: namespaces, Landlock, seccomp, process groups, PTY.
//!
//! [`spawn`] is the only way to start a process. Each command gets a small supervisor process (see
//! [`maybe_run_helper`]) that builds the jail, runs the command in it and holds one end of a socket.
//! When the other end closes, because the command is killed, its handle dropped, or the whole server
//! killed, the supervisor kills every descendant of the command. On Windows a job object does that.
//!
//! What the kernel cannot enforce is refused ([`SpawnError::CannotEnforce`]), never run bare.

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux has a sandbox yet")
)]

mod capabilities;
mod chunk;
mod command;
mod descendants;
mod error;
mod gate;
mod policy;
mod process;
mod real_path;
mod stopping;

#[cfg(unix)]
mod fd;
#[cfg(unix)]
mod git;
#[cfg(unix)]
mod helper;
#[cfg(unix)]
mod lifeline;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod no_groups;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(unix)]
mod output;
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
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(unix)]
mod zygote;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use capabilities::{Capabilities, capabilities};
pub use chunk::{Chunk, Stream};
pub use command::{Command, Enforcement, Linger, Stdio, WindowSize};
pub use descendants::descendants;
pub use error::SpawnError;
pub use gate::Gate;
pub use policy::{GATE_PORT, Grants, Hidden, Network, Policy, Readable, WorkspaceWrite};
pub use process::{Exit, Process, Spawned, StdinError};
pub use real_path::real_path;
pub use stopping::end_all;
pub use system::{Output, Rules, maybe_run_helper, spawn};

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
