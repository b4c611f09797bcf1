//! Starting a command: it is made, put into its job, and only then let run.

use std::{
    ffi::OsStr,
    io,
    os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle},
    path::PathBuf,
    process::Stdio as Streams,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex as SyncMutex;
use tokio::{
    process::{Child, Command as Starter},
    sync::{Mutex, watch},
    time,
};
use windows_sys::Win32::{
    Foundation::INVALID_HANDLE_VALUE,
    System::{
        Diagnostics::ToolHelp::{
            CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
        },
        Threading::{
            CREATE_NO_WINDOW, CREATE_SUSPENDED, OpenThread, ResumeThread, THREAD_SUSPEND_RESUME,
        },
    },
};

use super::{
    Killer,
    job::{self, Job, check},
    output::{Output, Pipe},
    program,
};
use crate::{
    Command, Exit, Linger, Process, SpawnError, Spawned, Stdio, Stream, capabilities,
    process::State, stopping, system,
};

/// How often to look whether descendants are left once the command itself has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Starts a command. It returns once the program runs, or with the reason why nothing runs.
///
/// A policy that would have to be enforced is refused.
pub async fn spawn(command: Command) -> Result<Spawned, SpawnError> {
    if stopping::is_stopping() {
        return Err(SpawnError::Stopping);
    }
    if command.policy.is_enforced() {
        return Err(capabilities::only_on_linux());
    }
    if matches!(command.stdio, Stdio::Pty(_)) {
        return Err(SpawnError::Start {
            what: "a terminal",
            source: io::Error::new(
                io::ErrorKind::Unsupported,
                "there are none on Windows yet; run the command without one",
            ),
        });
    }
    let mut starter = prepare(&command)?;
    let failed = |what| move |source| SpawnError::Start { what, source };
    job::join_ours().map_err(failed("this program's job"))?;
    let job = Arc::new(Job::new().map_err(failed("a job"))?);
    let mut child = starter.spawn().map_err(|source| SpawnError::BadProgram {
        program: name(&command),
        source,
    })?;
    if let Err(source) = begin(&child, &job) {
        // It may have ended by itself.
        child.start_kill().ok();
        return Err(failed("its first thread")(source));
    }
    Ok(watched(child, job, command.linger))
}

/// The command as the standard library starts it, which knows how to quote arguments here.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the place that starts processes"
)]
fn prepare(command: &Command) -> Result<Starter, SpawnError> {
    let (name_given, arguments) = command.argv.split_first().ok_or(SpawnError::EmptyCommand)?;
    check_text(command)?;
    let cwd = directory(command)?;
    let env_path = command
        .env
        .iter()
        .rfind(|(name, _)| name.eq_ignore_ascii_case("PATH"))
        .map(|(_, path)| path);
    let search_path = command.search_path.as_ref().or(env_path);
    let found = program::find(name_given, &cwd, search_path.map(|path| path.as_os_str()));
    let found = found.ok_or_else(|| SpawnError::BadProgram {
        program: name(command),
        source: io::Error::new(io::ErrorKind::NotFound, "program not found"),
    })?;
    let output = || match command.stdio {
        Stdio::Null => Streams::null(),
        Stdio::NullStdin | Stdio::Pipes | Stdio::Pty(_) => Streams::piped(),
    };
    let mut starter = Starter::new(found);
    starter
        .args(arguments)
        .current_dir(cwd)
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .stdin(match command.stdio {
            Stdio::Pipes => Streams::piped(),
            Stdio::NullStdin | Stdio::Null | Stdio::Pty(_) => Streams::null(),
        })
        .stdout(output())
        .stderr(output())
        .creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW);
    Ok(starter)
}

fn name(command: &Command) -> String {
    let program = command
        .argv
        .first()
        .map(|program| program.to_string_lossy());
    program.unwrap_or_default().into_owned()
}

/// Where the command starts, if that is a directory.
fn directory(command: &Command) -> Result<PathBuf, SpawnError> {
    let found = std::path::absolute(&command.cwd).and_then(|cwd| {
        if cwd.metadata()?.is_dir() {
            Ok(cwd)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    });
    found.map_err(|source| SpawnError::BadCwd {
        cwd: command.cwd.clone(),
        source,
    })
}

fn check_text(command: &Command) -> Result<(), SpawnError> {
    let has_zero = |text: &OsStr| text.as_encoded_bytes().contains(&0);
    let variables = command.env.iter().flat_map(|(name, value)| [name, value]);
    let what = if command.argv.iter().any(|word| has_zero(word)) {
        "command"
    } else if variables.into_iter().any(|text| has_zero(text)) {
        "environment"
    } else if has_zero(command.cwd.as_os_str()) {
        "directory"
    } else {
        return Ok(());
    };
    Err(SpawnError::ZeroByte { what })
}

/// Puts a process that has not run yet into its job, and lets it run.
fn begin(child: &Child, job: &Job) -> io::Result<()> {
    let (Some(handle), Some(id)) = (child.raw_handle(), child.id()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    // SAFETY: the child keeps its handle open while it is borrowed.
    job.add(unsafe { BorrowedHandle::borrow_raw(handle) })?;
    resume(id)
}

/// Lets the only thread of a process run.
fn resume(process: u32) -> io::Result<()> {
    // SAFETY: takes numbers only.
    let threads = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if threads == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was just made and nobody else has it.
    let threads = unsafe { OwnedHandle::from_raw_handle(threads) };
    let mut entry = THREADENTRY32 {
        dwSize: size_of::<THREADENTRY32>() as u32,
        ..Default::default()
    };
    // SAFETY: the entry is a local that knows its size. At the end of the list this fails.
    check(unsafe { Thread32First(threads.as_raw_handle(), &raw mut entry) })?;
    while entry.th32OwnerProcessID != process {
        // SAFETY: as above.
        check(unsafe { Thread32Next(threads.as_raw_handle(), &raw mut entry) })?;
    }
    // SAFETY: takes numbers only.
    let thread = unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID) };
    if thread.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was just made and nobody else has it.
    let thread = unsafe { OwnedHandle::from_raw_handle(thread) };
    // SAFETY: the handle is open and has the right to do this.
    match unsafe { ResumeThread(thread.as_raw_handle()) } {
        u32::MAX => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The handle and the output of a command that runs.
fn watched(mut child: Child, job: Arc<Job>, linger: Linger) -> Spawned {
    let pipes = [
        child
            .stdout
            .take()
            .map(|it| (Stream::Stdout, Box::new(it) as Pipe)),
        child
            .stderr
            .take()
            .map(|it| (Stream::Stderr, Box::new(it) as Pipe)),
    ];
    let (state_sender, state) = watch::channel(State::default());
    let process = Process {
        stdin: Mutex::new(child.stdin.take()),
        terminal: None,
        state,
        killer: Killer {
            job: Arc::clone(&job),
            supervisor: child.id().unwrap_or_default(),
        },
        gate: SyncMutex::new(None),
    };
    tokio::spawn(follow(child, job, linger, state_sender));
    Spawned {
        process,
        output: Output::new(pipes.into_iter().flatten().collect()),
    }
}

/// Follows a command to its end, and ends what it leaves behind.
async fn follow(mut child: Child, job: Arc<Job>, linger: Linger, state: watch::Sender<State>) {
    let status = tokio::select! {
        status = child.wait() => status,
        () = stopping::stopping() => {
            job.kill();
            child.wait().await
        }
    };
    let status = status.ok();
    let exit = status.and_then(|status| status.code()).map(Exit::Code);
    state.send_modify(|state| state.exit = Some(exit.unwrap_or(system::KILLED)));
    let deadline = match linger {
        Linger::Kill(time) => Instant::now().checked_add(time),
        Linger::Keep => None,
    };
    // If the job cannot be asked, nobody knows who is left, so nobody may be.
    while !job.is_empty().unwrap_or_else(|_| {
        job.kill();
        true
    }) {
        if stopping::is_stopping() || deadline.is_some_and(|at| Instant::now() >= at) {
            job.kill();
        }
        time::sleep(LOOK).await;
    }
    state.send_modify(|state| state.gone = true);
}
