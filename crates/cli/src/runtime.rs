//! The runtime of a process that serves, made so that a system with too little to give is met with a message.

use std::io;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Threads that do the server's work; what blocks has others.
pub const WORKERS: usize = 2;

/// Threads that a server has at least: its workers, one that keeps the pool alive, one that writes the log, and two
/// that wait for files.
const NEEDED: usize = WORKERS + 4;

/// How long a thread that blocked is kept for the next one. Many turns that end at once need many, and
/// each holds its stack.
const KEPT: Duration = Duration::from_millis(250);

/// Makes the runtime, or says what is missing. To be called before anything else starts a thread.
pub fn make() -> Result<Runtime, String> {
    can_have_threads().map_err(|error| {
        format!(
            "cannot start: the system does not give this process {NEEDED} threads ({error}); raise its limits on \
             processes (`ulimit -u`) and memory (`ulimit -v`), or those of its container"
        )
    })?;
    outlive_file_size_limit().map_err(|error| format!("cannot start: {error}"))?;
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .worker_threads(WORKERS)
        .thread_keep_alive(KEPT)
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    // While the pool has a thread, the runtime bears that the system gives no other; without one it panics.
    runtime.spawn_blocking(|| {
        loop {
            thread::park();
        }
    });
    Ok(runtime)
}

/// Starts as many threads as are needed and ends them again. The runtime itself panics, or waits for ever, where it
/// gets too few.
fn can_have_threads() -> io::Result<()> {
    let hold = Mutex::new(());
    thread::scope(|scope| {
        let _held = hold.lock();
        for _ in 0..NEEDED {
            // Each waits for the last one to be started, so that all of them are there at once.
            thread::Builder::new().spawn_scoped(scope, || drop(hold.lock()))?;
        }
        Ok(())
    })
}

/// Lets a write beyond the limit on file sizes fail like any other. Unless the signal is caught, it ends the process;
/// if it were ignored, commands would inherit that.
#[cfg(unix)]
fn outlive_file_size_limit() -> io::Result<()> {
    extern "C" fn go_on(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = go_on;
    // SAFETY: the handler does nothing, so it may run at any time; the structure is valid when it is zeroed, and lives
    // through the call.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut())
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// There is no such limit.
#[cfg(not(unix))]
fn outlive_file_size_limit() -> io::Result<()> {
    Ok(())
}
