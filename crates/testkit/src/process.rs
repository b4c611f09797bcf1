//! A server as a real process, with a home of its own and nothing of the tester's environment.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use quipu_rpc::Connection;
use quipu_rpc::websocket;
pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use crate::client::{PATIENCE, within};

/// The longest message that a test reads.
const MESSAGE_LIMIT: usize = 256 << 20;

/// A process to be started.
pub struct Launch {
    command: Command,
    home: TempDir,
    reads_stderr: bool,
}

impl Launch {
    /// The program at `exe`, with a fresh home directory.
    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test, killed on drop"
    )]
    pub fn new(exe: impl AsRef<Path>) -> Launch {
        let home = tempfile::tempdir().expect("a directory can be made");
        let mut command = Command::new(exe.as_ref());
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("QUIPU_HOME", home.path().join("quipu"))
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        Launch {
            command,
            home,
            reads_stderr: true,
        }
    }

    /// The same program under another name, as an installation would link it.
    pub fn named(exe: impl AsRef<Path>, name: &str) -> Launch {
        let Launch { home, .. } = Launch::new(&exe);
        let link = home.path().join(name);
        symlink(exe.as_ref(), &link).expect("a link can be made");
        let mut launch = Launch::new(link);
        launch
            .command
            .current_dir(home.path())
            .env("HOME", home.path())
            .env("QUIPU_HOME", home.path().join("quipu"));
        Launch { home, ..launch }
    }

    pub fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Launch {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Launch {
        self.command.env(name, value);
        self
    }

    pub fn without_env(mut self, name: &str) -> Launch {
        self.command.env_remove(name);
        self
    }

    /// Runs it in another directory.
    pub fn directory_at(mut self, directory: &Path) -> Launch {
        self.command.current_dir(directory).env("HOME", directory);
        self
    }

    /// Runs it as another user, which only root may. Its pipes become that user's, as if the same user had
    /// started it.
    pub fn user(mut self, id: u32) -> Launch {
        let give_up_rights = move || {
            // SAFETY: calls of the kernel that take numbers only, or no memory at all.
            let done = unsafe {
                (0..=2).all(|pipe| libc::fchown(pipe, id, id) == 0)
                    && libc::setgroups(0, std::ptr::null()) == 0
                    && libc::setgid(id) == 0
                    && libc::setuid(id) == 0
            };
            done.then_some(()).ok_or_else(io::Error::last_os_error)
        };
        // SAFETY: it only calls the kernel, which is allowed between fork and exec.
        unsafe { self.command.pre_exec(give_up_rights) };
        self
    }

    /// Limits a resource of the process and all that it starts, such as `libc::RLIMIT_FSIZE`.
    pub fn limit(mut self, resource: libc::__rlimit_resource_t, most: u64) -> Launch {
        let limit = libc::rlimit {
            rlim_cur: most,
            rlim_max: most,
        };
        let set = move || {
            // SAFETY: the kernel reads a structure that lives through the call.
            let done = unsafe { libc::setrlimit(resource, &raw const limit) };
            (done == 0)
                .then_some(())
                .ok_or_else(io::Error::last_os_error)
        };
        // SAFETY: it only calls the kernel, which is allowed between fork and exec.
        unsafe { self.command.pre_exec(set) };
        self
    }

    /// Passes a listening socket to it, as service managers do: the descriptor is its first beyond standard error. The
    /// shell that starts it says so in the environment, which only the process itself can.
    pub fn with_socket(exe: impl AsRef<Path>, socket: OwnedFd) -> Launch {
        let script = r#"LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@""#;
        let mut launch = Launch::new("/bin/sh");
        launch.command.args(["-c", script]).arg(exe.as_ref());
        let pass = move || {
            // SAFETY: a call of the kernel that takes numbers only.
            let done = unsafe { libc::dup2(socket.as_raw_fd(), 3) };
            (done == 3)
                .then_some(())
                .ok_or_else(io::Error::last_os_error)
        };
        // SAFETY: it only calls the kernel, which is allowed between fork and exec.
        unsafe { launch.command.pre_exec(pass) };
        launch
    }

    /// Leaves standard error in its pipe.
    pub fn stderr_unread(self) -> Launch {
        Launch {
            reads_stderr: false,
            ..self
        }
    }

    /// The directory in which the process runs and that holds its home.
    pub fn directory(&self) -> &Path {
        self.home.path()
    }

    pub fn start(mut self) -> ServerProcess {
        let mut child = self.command.spawn().expect("the program can be started");
        let (said, heard) = watch::channel(String::new());
        let stderr = child.stderr.take().expect("it is piped");
        let unread = if self.reads_stderr {
            let mut lines = BufReader::new(stderr).lines();
            tokio::spawn(async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    said.send_modify(|text| text.extend([&line, "\n"]));
                }
            });
            None
        } else {
            Some(stderr)
        };
        ServerProcess {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: heard,
            _unread: unread,
            child,
            home: self.home,
        }
    }
}

/// A started process. It is killed when dropped.
pub struct ServerProcess {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    stderr: watch::Receiver<String>,
    _unread: Option<ChildStderr>,
    child: Child,
    home: TempDir,
}

impl ServerProcess {
    /// Its standard input and output. Both can be taken once.
    pub fn stdio(&mut self) -> Connection {
        let stdin = self.stdin.take().expect("standard input is taken once");
        let stdout = self.stdout.take().expect("standard output is taken once");
        Connection::lines(stdout, stdin, MESSAGE_LIMIT)
    }

    /// The websocket address, once the process says it.
    pub async fn url(&mut self) -> String {
        let text = self.said("listening on: ").await;
        let address = text.split("listening on: ").nth(1).unwrap_or_default();
        address.lines().next().unwrap_or_default().to_owned()
    }

    /// A new websocket connection, with headers.
    pub async fn websocket(&mut self, headers: &[(&str, &str)]) -> Connection {
        let url = self.url().await;
        let connected = websocket::connect(&url, headers, MESSAGE_LIMIT, PATIENCE).await;
        connected.expect("the server accepts websockets")
    }

    /// Waits until standard error holds this text, and returns all of it.
    pub async fn said(&mut self, text: &str) -> String {
        let heard = self.stderr.wait_for(|all| all.contains(text));
        let all = within(text, heard).await.map(|all| all.clone());
        all.unwrap_or_else(|_| panic!("{text} was not said: {}", *self.stderr.borrow()))
    }

    /// Standard error so far; after the end, all of it.
    pub fn stderr(&self) -> String {
        self.stderr.borrow().clone()
    }

    pub fn pid(&self) -> i32 {
        let pid = self.child.id().expect("the process runs");
        i32::try_from(pid).expect("process ids are positive integers")
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid()).expect("the process runs");
        kill_process(pid, signal).expect("it can be signalled");
    }

    /// Waits for the end, and until standard error is read.
    pub async fn exit(&mut self) -> ExitStatus {
        let status = within("the end of the process", self.child.wait()).await;
        // The sender is dropped at the end of standard error.
        while self.stderr.changed().await.is_ok() {}
        status.expect("a child can be waited for")
    }

    /// The directory in which the process runs and that holds its home.
    pub fn directory(&self) -> &Path {
        self.home.path()
    }

    /// Resident memory in KiB.
    pub fn memory(&self) -> u64 {
        self.kibibytes("VmRSS:")
    }

    /// The most resident memory so far, in KiB.
    pub fn peak_memory(&self) -> u64 {
        self.kibibytes("VmHWM:")
    }

    fn kibibytes(&self, which: &str) -> u64 {
        let status: PathBuf = format!("/proc/{}/status", self.pid()).into();
        let text = std::fs::read_to_string(status).expect("the process runs");
        let line = text.lines().find_map(|line| line.strip_prefix(which));
        let figure = line.and_then(|line| line.split_whitespace().next());
        figure
            .and_then(|it| it.parse().ok())
            .expect("the system tells memory")
    }
}
