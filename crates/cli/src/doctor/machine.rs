//! What the machine offers: home, disk, sandbox, git, limits, clock, proxies.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use quipu_config::{Env, Loader};

use super::finding::Finding;
use crate::cmd::sandbox::in_force;
use crate::version::ProgramName;

/// Free space below which a rollout may not find room.
const LITTLE_SPACE: u64 = 512 * 1024 * 1024;
/// Open files that a server with many clients, processes and MCP servers needs.
const FEW_FILES: u64 = 1024;
/// By how much the clock of the file system may differ from that of the process.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(5);

pub fn version() -> Finding {
    let name = ProgramName::of_this_process();
    let version = name.version();
    let version = version.lines().next().unwrap_or_default();
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Finding::ok(
        "version",
        format!(
            "{} {version} on {os} {arch} {}",
            name.as_str(),
            kernel.trim()
        ),
    )
}

/// The home directory, the space in it, its clock and the locks of running servers.
pub fn home(home: &Path) -> Vec<Finding> {
    let mut findings = vec![writable(home)];
    if let Some(space) = space(home) {
        findings.push(space);
    }
    findings.push(clock(home));
    findings.push(locks(home));
    findings
}

fn writable(home: &Path) -> Finding {
    let shown = home.display();
    if let Err(error) = tempfile::tempfile_in(home) {
        return Finding::error("home", format!("cannot write to {shown}: {error}"))
            .fix("Give this user write permission, or set QUIPU_HOME to another directory.");
    }
    match readable_by_others(home) {
        true => Finding::warning("home", format!("{shown} can be listed by other users"))
            .fix(format!("chmod 700 {shown}")),
        false => Finding::ok("home", format!("{shown} is writable")),
    }
}

#[cfg(unix)]
fn readable_by_others(home: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let found = fs::metadata(home);
    found.is_ok_and(|it| it.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn readable_by_others(_home: &Path) -> bool {
    false
}

#[cfg(unix)]
fn space(home: &Path) -> Option<Finding> {
    let found = rustix::fs::statvfs(home).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let summary = format!("{} MB free", free / (1024 * 1024));
    let finding = match free < LITTLE_SPACE || found.f_favail == 0 {
        true => Finding::warning("disk", format!("{summary} for the home directory"))
            .fix("Free some space, or remove old sessions: `quipu threads gc --help`."),
        false => Finding::ok("disk", summary),
    };
    Some(finding)
}

#[cfg(not(unix))]
fn space(_home: &Path) -> Option<Finding> {
    None
}

/// Leases and file times go wrong where the file system's clock is another one, as on network shares.
fn clock(home: &Path) -> Finding {
    let now = SystemTime::now();
    let written = tempfile::NamedTempFile::new_in(home)
        .and_then(|it| it.as_file().metadata()?.modified())
        .unwrap_or(now);
    let ahead = written.duration_since(now).unwrap_or_default();
    let behind = now.duration_since(written).unwrap_or_default();
    match ahead.max(behind) > CLOCK_DIFFERENCE {
        true => Finding::warning(
            "clock",
            "the clock of the home's file system differs from this machine's",
        )
        .fix("Synchronize both by NTP; sessions are listed by their file times."),
        false => Finding::ok(
            "clock",
            "the file system's clock agrees with this machine's",
        ),
    }
}

/// Threads that a running server is writing.
fn locks(home: &Path) -> Finding {
    let entries = fs::read_dir(home.join("thread-writer-locks"));
    let files = entries.into_iter().flatten().flatten();
    let held = files.filter(|it| File::open(it.path()).is_ok_and(|file| is_locked(&file)));
    match held.count() {
        0 => Finding::ok("locks", "no thread is being written by a running server"),
        count => Finding::ok(
            "locks",
            format!("{count} thread(s) are being written by a running server"),
        ),
    }
}

#[cfg(unix)]
fn is_locked(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    matches!(
        flock(file, FlockOperation::NonBlockingLockShared),
        Err(Errno::WOULDBLOCK)
    )
}

#[cfg(not(unix))]
fn is_locked(_file: &File) -> bool {
    false
}

/// Builds a jail and runs a command in it, as the server does.
pub fn sandbox(config: Option<&Loader>) -> Finding {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let found = match runtime {
        Ok(runtime) => runtime.block_on(in_force(config)),
        Err(error) => return Finding::error("sandbox", error.to_string()),
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => return Finding::error("sandbox", error),
    };
    let shown = found.to_string();
    let shown = shown.strip_prefix("sandbox: ").unwrap_or(&shown).to_owned();
    match found.check() {
        Ok(()) => Finding::ok("sandbox", shown),
        Err(error) => Finding::error("sandbox", shown).fix(error.to_string()),
    }
}

#[expect(clippy::disallowed_methods, reason = "git is run once and waited for")]
pub fn git() -> Finding {
    let output = std::process::Command::new("git").arg("--version").output();
    match output {
        Ok(output) if output.status.success() => {
            Finding::ok("git", String::from_utf8_lossy(&output.stdout).trim())
        }
        Ok(output) => Finding::warning("git", format!("`git --version` failed: {}", output.status))
            .fix("Repair git; reviews and diffs need it."),
        Err(error) => Finding::warning("git", format!("git cannot be run: {error}"))
            .fix("Install git; reviews, diffs and repository facts need it."),
    }
}

#[cfg(unix)]
pub fn limits() -> Vec<Finding> {
    use rustix::process::{Resource, getrlimit};
    let files = getrlimit(Resource::Nofile).current;
    let mut findings = vec![match files.filter(|&it| it < FEW_FILES) {
        Some(few) => Finding::warning("limits", format!("only {few} open files")).fix(format!(
            "ulimit -n {FEW_FILES} or more; each client, process and MCP server needs some."
        )),
        None => Finding::ok(
            "limits",
            match files {
                Some(count) => format!("{count} open files"),
                None => "open files are unlimited".to_owned(),
            },
        ),
    }];
    for (resource, name, fix) in [
        (
            Resource::Fsize,
            "file size",
            "ulimit -f unlimited; sessions are files that grow.",
        ),
        (
            Resource::As,
            "address space",
            "ulimit -v unlimited; memory is reserved long before it is used.",
        ),
    ] {
        if let Some(bytes) = getrlimit(resource).current {
            findings.push(
                Finding::warning("limits", format!("{name} is limited to {bytes} bytes")).fix(fix),
            );
        }
    }
    findings
}

#[cfg(not(unix))]
pub fn limits() -> Vec<Finding> {
    Vec::new()
}

/// Which proxies are used; addresses may hold a password, so only the names are shown.
pub fn proxy(env: &Env) -> Finding {
    const NAMES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
    let is_set = |name: &str| env.get(name).is_some_and(|it| !it.is_empty());
    let set: Vec<&str> = NAMES
        .into_iter()
        .filter(|name| is_set(name) || is_set(&name.to_lowercase()))
        .collect();
    match set.is_empty() {
        true => Finding::ok("network", "no proxy is set"),
        false => Finding::ok("network", format!("set: {}", set.join(", "))),
    }
}
