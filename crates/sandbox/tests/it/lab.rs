//! What the tests share: commands, scratch directories, and a look at what is left running.

use std::{
    ffi::OsString,
    fs, io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    path::{Path, PathBuf},
    process::Output as StdOutput,
    sync::OnceLock,
    time::{Duration, Instant},
};

use quipu_sandbox::{
    Chunk, Command, Enforcement, Exit, Output, Policy, Spawned, Stream, WorkspaceWrite, spawn,
};
use tempfile::TempDir;

/// The user that owns nothing.
pub const NOBODY: u32 = 65534;

/// Both ways to enforce a policy.
pub const BACKENDS: [Enforcement; 2] = [Enforcement::Namespaces, Enforcement::Landlock];

/// Everything a command wrote, and how it ended.
#[derive(Debug)]
pub struct Finished {
    pub exit: Exit,
    pub stdout: String,
    pub stderr: String,
}

pub fn env() -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]
}

pub fn shell(script: &str, cwd: &Path, policy: Policy) -> Command {
    let mut command = Command::new(["/bin/sh", "-c", script], cwd, policy);
    command.env = env();
    command
}

pub async fn read_all(output: &mut Output) -> (String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    while let Some(Chunk { stream, bytes }) = output.next().await {
        match stream {
            Stream::Stdout => stdout.extend(bytes),
            Stream::Stderr => stderr.extend(bytes),
        }
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(stdout), text(stderr))
}

/// Reads output until it holds the text.
pub async fn read_until(output: &mut Output, text: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(text) {
        let chunk = output
            .next()
            .await
            .unwrap_or_else(|| panic!("no {text:?} in {seen:?}"));
        seen.push_str(&String::from_utf8_lossy(&chunk.bytes));
    }
    seen
}

pub async fn finish(command: Command) -> Finished {
    let Spawned {
        process,
        mut output,
    } = spawn(command).await.unwrap();
    let (stdout, stderr) = read_all(&mut output).await;
    process.gone().await;
    Finished {
        exit: process.wait().await,
        stdout,
        stderr,
    }
}

/// A directory to work in and one to keep out of.
pub struct Scratch {
    _base: TempDir,
    pub workspace: PathBuf,
    pub outside: PathBuf,
}

impl Scratch {
    pub fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        // Canonical, so that it can be compared with what processes see.
        let root = base.path().canonicalize().unwrap();
        let (workspace, outside) = (root.join("workspace"), root.join("outside"));
        fs::create_dir(&workspace).unwrap();
        fs::create_dir(&outside).unwrap();
        Self {
            _base: base,
            workspace,
            outside,
        }
    }

    /// Writes nowhere but in the workspace.
    pub fn policy(&self) -> WorkspaceWrite {
        WorkspaceWrite::new(&self.workspace)
    }

    pub fn shell(&self, script: &str, enforcement: Enforcement) -> Command {
        let policy = Policy::WorkspaceWrite(self.policy());
        Command {
            enforcement,
            ..shell(script, &self.workspace, policy)
        }
    }
}

/// A copy of this test program that every user can run.
pub fn program() -> &'static Path {
    static COPY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = COPY.get_or_init(|| {
        let directory = tempfile::Builder::new()
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .tempdir()
            .unwrap();
        let program = directory.path().canonicalize().unwrap().join("it");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        (directory, program)
    });
    program
}

/// Set for tests that stand for a server.
pub const IN_ROLE: &str = "QUIPU_TEST_IN_ROLE";

/// Whether this process was started to stand for a server; such tests do nothing by themselves.
pub fn is_in_role() -> bool {
    std::env::var_os(IN_ROLE).is_some()
}

/// Runs one test of this program in a process of its own, which belongs to `user`.
#[expect(
    clippy::disallowed_methods,
    reason = "the process stands for another server"
)]
pub fn test_process(test: &str, user: u32) -> std::process::Command {
    let mut command = std::process::Command::new(program());
    command
        .args([test, "--exact", "--nocapture"])
        .env(IN_ROLE, "yes")
        .current_dir("/");
    if user != user_id() {
        std::os::unix::process::CommandExt::uid(&mut command, user);
        std::os::unix::process::CommandExt::gid(&mut command, user);
    }
    command
}

/// Runs a test again as an ordinary user and returns what it says; nothing if this user cannot become
/// another.
pub fn repeat_as_nobody(test: &str, env: &[(&str, &Path)]) -> String {
    if user_id() != 0 {
        eprintln!("{test}: this user cannot become another, so only this user is tested");
        return String::new();
    }
    let StdOutput {
        status,
        stdout,
        stderr,
    } = test_process(test, NOBODY)
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        status.success(),
        "as nobody: {}\n{}",
        text(&stdout),
        text(&stderr)
    );
    assert!(
        text(&stdout).contains("1 passed"),
        "{test} is not the name of a test"
    );
    text(&stdout)
}

pub fn user_id() -> u32 {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() }
}

/// A system call with up to six arguments.
pub fn system_call(number: libc::c_long, arguments: &[usize]) -> io::Result<i64> {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    let [a, b, c, d, e, f] = all;
    // SAFETY: callers pass numbers, or addresses of values that live through the call.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Processes whose command line or environment holds a text, wherever they hide.
pub struct Marked(Vec<(u32, OwnedFd)>);

impl Marked {
    pub fn find(mark: &str) -> Self {
        let holds = |path: PathBuf| {
            let bytes = fs::read(path).unwrap_or_default();
            bytes
                .windows(mark.len())
                .any(|part| part == mark.as_bytes())
        };
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            if pid == std::process::id() {
                continue;
            }
            if let Some(fd) = pidfd(pid)
                && (holds(entry.path().join("cmdline")) || holds(entry.path().join("environ")))
            {
                found.push((pid, fd));
            }
        }
        Self(found)
    }

    /// One process, if it still exists.
    pub fn process(pid: u32) -> Self {
        Self(pidfd(pid).into_iter().map(|fd| (pid, fd)).collect())
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Fails unless all of them end within a second.
    pub fn assert_end(self) {
        let deadline = Instant::now() + Duration::from_secs(1);
        for (pid, fd) in self.0 {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut poll = libc::pollfd {
                fd: fd.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one valid entry.
            let ready = unsafe { libc::poll(&raw mut poll, 1, left.as_millis() as i32 + 1) };
            assert_eq!(ready, 1, "process {pid} is still alive");
        }
    }
}

fn pidfd(pid: u32) -> Option<OwnedFd> {
    let fd = system_call(libc::SYS_pidfd_open, &[pid as usize, 0]).ok()?;
    // SAFETY: the descriptor is new.
    Some(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// A text that no other process has.
pub fn new_mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "mark-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}
