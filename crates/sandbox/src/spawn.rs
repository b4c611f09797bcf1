//! Starting a command: streams, jail, helper, first report.

use std::{
    ffi::{CString, OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::Path,
};

use parking_lot::Mutex as SyncMutex;
use tokio::{
    net::TcpListener,
    sync::{Mutex, watch},
};

use crate::{
    Command, Linger, Network, Output, Process, Rules, SpawnError, Spawned, Stdio, Stream,
    capabilities::{self, Backend},
    fd::StdFds,
    gate::Gate,
    lifeline::{Lifeline, StartError},
    output::{AsyncFile, async_file},
    process::State,
    pty::Pty,
    report::{Failure, Step},
    spec::{Jail, Spec},
    stopping,
};

/// Where programs are looked up if nobody says.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Starts a command. It returns once the program runs, or with the reason why nothing runs.
///
/// The policy is enforced by the kernel or the command is refused. Dropping the returned future
/// leaves nothing behind.
pub async fn spawn(command: Command) -> Result<Spawned, SpawnError> {
    if stopping::is_stopping() {
        return Err(SpawnError::Stopping);
    }
    let jail = match Rules::for_command(&command.policy, &command.grants)? {
        None => None,
        Some(rules) => {
            let backend = capabilities::choose(command.enforcement).await?;
            if rules.network == Network::Gate && matches!(backend, Backend::Landlock { .. }) {
                return Err(no_gate());
            }
            Some(Jail { backend, rules })
        }
    };
    let spec = describe(&command, jail)?;
    let streams = Streams::open(command.stdio).map_err(|source| SpawnError::Start {
        what: "standard streams",
        source,
    })?;
    let mut lifeline =
        Lifeline::start(&spec, streams.theirs)
            .await
            .map_err(|error| match error {
                StartError::Failed(failure) => explain(&failure, &command),
                StartError::Spawn(error) => error,
            })?;
    let (state_sender, state) = watch::channel(State::default());
    let killer = lifeline.killer();
    let gate = lifeline.gate.take().map(listener).transpose();
    let gate = gate.map_err(|source| SpawnError::Start {
        what: "network gate",
        source,
    })?;
    let gate = gate.map(|listener| Gate::new(listener, state.clone()));
    tokio::spawn(lifeline.watch(state_sender, killer.clone()));
    Ok(Spawned {
        process: Process {
            stdin: Mutex::new(streams.stdin),
            terminal: streams.terminal,
            state: state.clone(),
            killer,
            gate: SyncMutex::new(gate),
        },
        output: Output::new(streams.output, state),
    })
}

/// A listener that was made inside the command's network.
fn listener(fd: OwnedFd) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::from(fd);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

fn no_gate() -> SpawnError {
    SpawnError::CannotEnforce {
        reason: "the network is managed, which needs namespaces".to_owned(),
        fix: "Allow unprivileged user namespaces on this machine, or switch the network off."
            .to_owned(),
    }
}

fn describe(command: &Command, jail: Option<Jail>) -> Result<Spec, SpawnError> {
    let program = command.argv.first().ok_or(SpawnError::EmptyCommand)?;
    let argv = command.argv.iter().map(|word| c_string(word, "command"));
    let env = command.env.iter().map(|(name, value)| {
        let mut variable = name.clone();
        variable.push("=");
        variable.push(value);
        c_string(&variable, "environment")
    });
    let env_path = command
        .env
        .iter()
        .rfind(|(name, _)| name == "PATH")
        .map(|(_, path)| path);
    let path = command.search_path.as_ref().or(env_path);
    let cwd = std::path::absolute(&command.cwd).map_err(|source| SpawnError::BadCwd {
        cwd: command.cwd.clone(),
        source,
    })?;
    Ok(Spec {
        argv: argv.collect::<Result<_, _>>()?,
        programs: candidates(
            program,
            path.map_or(OsStr::new(DEFAULT_PATH), OsString::as_os_str),
        )?,
        env: env.collect::<Result<_, _>>()?,
        cwd: c_string(cwd.as_os_str(), "directory")?,
        tty: matches!(command.stdio, Stdio::Pty(_)),
        linger: match command.linger {
            Linger::Keep => None,
            Linger::Kill(time) => Some(u32::try_from(time.as_millis()).unwrap_or(u32::MAX)),
        },
        jail,
    })
}

/// The files that a program's name may stand for, in the order of the search path.
fn candidates(program: &OsStr, path: &OsStr) -> Result<Vec<CString>, SpawnError> {
    if program.is_empty() || program.as_bytes().contains(&b'/') {
        return Ok(vec![c_string(program, "command")?]);
    }
    // An empty part means the current directory, which is never what is wanted here.
    let directories = path
        .as_bytes()
        .split(|byte| *byte == b':')
        .filter(|directory| !directory.is_empty());
    let found = directories
        .map(|directory| {
            let path = Path::new(OsStr::from_bytes(directory)).join(program);
            c_string(path.as_os_str(), "command")
        })
        .collect::<Result<Vec<_>, _>>()?;
    if found.is_empty() {
        return Err(SpawnError::BadProgram {
            program: program.to_string_lossy().into_owned(),
            source: io::ErrorKind::NotFound.into(),
        });
    }
    Ok(found)
}

fn c_string(text: &OsStr, what: &'static str) -> Result<CString, SpawnError> {
    CString::new(text.to_owned().into_vec()).map_err(|_| SpawnError::ZeroByte { what })
}

fn explain(failure: &Failure, command: &Command) -> SpawnError {
    let source = failure.error();
    match failure.step {
        Step::Cwd => SpawnError::BadCwd {
            cwd: command.cwd.clone(),
            source,
        },
        Step::Program => SpawnError::BadProgram {
            program: command.argv.first().map_or_else(String::new, |program| {
                program.to_string_lossy().into_owned()
            }),
            source,
        },
        _ => SpawnError::Setup {
            step: failure.describe(),
            source,
        },
    }
}

/// Both ends of the standard streams.
struct Streams {
    theirs: StdFds,
    stdin: Option<AsyncFile>,
    terminal: Option<AsyncFile>,
    output: Vec<(Stream, AsyncFile)>,
}

impl Streams {
    fn open(stdio: Stdio) -> io::Result<Self> {
        if let Stdio::Pty(size) = stdio {
            return Self::open_pty(Pty::open(size)?);
        }
        if stdio == Stdio::Null {
            return Self::open_null();
        }
        let (stdin, our_stdin) = if stdio == Stdio::Pipes {
            let (reader, writer) = io::pipe()?;
            (reader.into(), Some(async_file(writer.into())?))
        } else {
            (File::open("/dev/null")?.into(), None)
        };
        let (our_stdout, stdout) = io::pipe()?;
        let (our_stderr, stderr) = io::pipe()?;
        Ok(Self {
            theirs: [stdin, stdout.into(), stderr.into()],
            stdin: our_stdin,
            terminal: None,
            output: vec![
                (Stream::Stdout, async_file(our_stdout.into())?),
                (Stream::Stderr, async_file(our_stderr.into())?),
            ],
        })
    }

    fn open_null() -> io::Result<Self> {
        let null = File::options().read(true).write(true).open("/dev/null")?;
        Ok(Self {
            theirs: [
                null.try_clone()?.into(),
                null.try_clone()?.into(),
                null.into(),
            ],
            stdin: None,
            terminal: None,
            output: Vec::new(),
        })
    }

    fn open_pty(pty: Pty) -> io::Result<Self> {
        let master = async_file(pty.master)?;
        let terminal = pty.terminal;
        Ok(Self {
            theirs: [terminal.try_clone()?, terminal.try_clone()?, terminal],
            stdin: Some(master.clone()),
            terminal: Some(master.clone()),
            output: vec![(Stream::Stdout, master)],
        })
    }
}
