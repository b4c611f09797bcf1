//! Workers over SSH, with a real server on loopback. Skipped, and saying so, where `sshd` is not installed.

mod service;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use quipu_runner::hook::HookError;
use quipu_runner::session::{EventKind, Launch, Limits, SessionOptions};
use quipu_runner::ssh::Host;
use quipu_testkit::process_table;
use quipu_testkit::wait::found;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::session::support::{Lab, start, within};

/// An `sshd` of the test's own: keys, port, configuration.
struct Machine {
    directory: TempDir,
    port: u16,
    _server: Child,
}

const SSHD: &str = "/usr/sbin/sshd";

#[expect(
    clippy::disallowed_methods,
    reason = "the server of the test, killed on drop"
)]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

impl Machine {
    /// Nothing if there is no `sshd`.
    async fn start() -> Option<Machine> {
        if !Path::new(SSHD).exists() {
            eprintln!("skipped: {SSHD} is not installed");
            return None;
        }
        // Where it gives up its rights; a package makes it at boot.
        std::fs::create_dir_all("/run/sshd").ok();
        let directory = TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        for name in ["host", "user"] {
            let made = command("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &path(name)])
                .status()
                .await;
            assert!(made.unwrap().success());
        }
        std::fs::copy(path("user.pub"), path("authorized")).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n\
             SetEnv TRACKER_SECRET=leaked HARMLESS=there PATH={}:/usr/bin:/bin\n",
            path("host"),
            path("authorized"),
            path("bin"),
        );
        std::fs::write(path("sshd_config"), settings).unwrap();
        let client = format!(
            "IdentityFile {}\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n\
             PermitLocalCommand yes\nLocalCommand echo x >> {}\n",
            path("user"),
            path("connections"),
        );
        std::fs::write(path("ssh_config"), client).unwrap();
        let server = command(SSHD)
            .args(["-D", "-e", "-f", &path("sshd_config")])
            .spawn()
            .unwrap();
        let connect = async || {
            let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
            stream.ok()
        };
        found("sshd", connect).await;
        Some(Machine {
            directory,
            port,
            _server: server,
        })
    }

    fn host(&self) -> Host {
        self.at(&format!("127.0.0.1:{}", self.port))
    }

    fn at(&self, host: &str) -> Host {
        Host::new(host, Some(self.directory.path().join("ssh_config"))).unwrap()
    }

    /// How often it was connected to.
    fn connections(&self) -> usize {
        let text = std::fs::read_to_string(self.directory.path().join("connections"));
        text.unwrap_or_default().lines().count()
    }

    fn options(&self, lab: &Lab, command: &str) -> SessionOptions {
        lab.with(Launch::Ssh {
            host: self.host(),
            command: command.to_owned(),
        })
    }
}

#[tokio::test]
async fn a_session_over_ssh_runs_in_the_workspace_there_without_the_tracker_s_secrets() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let lab = Lab::new(
        "pwd > where; echo \"[$TRACKER_SECRET] [$HARMLESS] [$GIVEN]\" > variables; greet; turn 3 t; completed t; stay",
    );
    let options = SessionOptions {
        environment: vec![
            ("TRACKER_SECRET".into(), None),
            ("GIVEN".into(), Some("it's \"here\"".into())),
        ],
        // The host sets it, and another variable besides.
        ..machine.options(&lab, "exec bash ./server.sh")
    };
    lab.run_with(options).await.unwrap();
    let workspace = lab.path().canonicalize().unwrap();
    let read = |name: &str| std::fs::read_to_string(lab.path().join(name)).unwrap();
    assert_eq!(read("where").trim(), workspace.to_str().unwrap());
    assert_eq!(read("variables"), "[] [there] [it's \"here\"]\n");
    assert_eq!(
        lab.sent("thread/start")["cwd"],
        lab.path().to_str().unwrap()
    );
}

#[tokio::test]
async fn hosts_workspaces_and_commands_that_fail_are_distinguished() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let lab = Lab::new("greet; stay");
    let unreachable = lab.with(Launch::Ssh {
        host: machine.at("127.0.0.1:1"),
        command: "true".to_owned(),
    });
    let error = start(unreachable).await.err().unwrap();
    assert_eq!(error.code(), "host_unavailable", "{error}");
    let missing = SessionOptions {
        workspace: "/no/such/workspace".into(),
        ..machine.options(&lab, "exec bash ./server.sh")
    };
    let error = start(missing).await.err().unwrap();
    assert_eq!(error.code(), "invalid_workspace_cwd", "{error}");
    let error = start(machine.options(&lab, "no-such-server app-server"))
        .await
        .err()
        .unwrap();
    assert_eq!(error.code(), "codex_not_found", "{error}");
    let error = start(machine.options(&lab, "exit 3")).await.err().unwrap();
    assert_eq!(error.code(), "port_exit", "{error}");
}

#[tokio::test]
async fn after_the_end_nothing_runs_on_the_host() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let mark = process_table::marker();
    // It ignores the end of its input and requests to terminate.
    let lab = Lab::new(&format!(
        "trap '' TERM; sleep {mark} & greet; turn 3 t; sleep {mark}"
    ));
    let options = SessionOptions {
        limits: Limits {
            turn_total: Some(Duration::from_millis(300)),
            response: Duration::from_secs(10),
            shutdown: Duration::from_millis(200),
            ..Limits::default()
        },
        ..machine.options(&lab, "exec bash ./server.sh")
    };
    let mut session = start(options).await.unwrap();
    process_table::appeared(&mark).await;
    let error = within("the end", session.run_turn("do it"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "turn_timeout", "{error}");
    let left = process_table::left(&mark).await;
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn what_left_the_session_of_its_server_ends_with_the_connection_too() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let mark = process_table::marker();
    let lab = Lab::new(&format!(
        "(setsid sleep {mark} </dev/null >/dev/null 2>&1 &); greet; turn 3 t; stay"
    ));
    let mut session = start(machine.options(&lab, "exec bash ./server.sh"))
        .await
        .unwrap();
    process_table::appeared(&mark).await;
    // It is nobody's child by now. The connection is cut without a word to the server.
    cut(machine.port);
    let error = within("the end", session.run_turn("do it"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "port_exit", "{error}");
    let left = process_table::left(&mark).await;
    assert!(left.is_empty(), "{left:?}");
}

/// Kills the `ssh` that is connected to a port.
fn cut(port: u16) {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let arguments: Vec<&[u8]> = arguments.split(|byte| *byte == 0).collect();
        let port = port.to_string();
        if arguments.first() == Some(&&b"ssh"[..]) && arguments.contains(&port.as_bytes()) {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    }
}

#[tokio::test]
async fn what_has_a_mark_is_ended_and_nothing_else() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let (mark, other) = (process_table::marker(), process_table::marker());
    let spawn = |name: &str, seconds: &str| {
        let mut sleeping = command("sleep");
        sleeping.arg(seconds).env("QUIPU_TEST_MARK", name);
        sleeping.spawn().unwrap()
    };
    let mut marked = spawn(&mark, &mark);
    let mut longer = spawn(&format!("{mark}0"), &other);
    let ended = machine.host();
    let ended = ended.end_marked("QUIPU_TEST_MARK", &mark);
    within("the end of the marked", ended).await.unwrap();
    assert!(!within("its end", marked.wait()).await.unwrap().success());
    assert!(longer.try_wait().unwrap().is_none());
}

#[tokio::test]
async fn workspaces_and_hooks_live_on_the_host() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let host = machine.host();
    let place = TempDir::new().unwrap();
    let root: PathBuf = place.path().join("it's a root");
    let made = within("a workspace", host.create_workspace(&root, "A/B"))
        .await
        .unwrap();
    assert!(made.created_now && made.path.starts_with(root.canonicalize().unwrap()));
    assert!(made.path.is_dir());
    std::fs::write(made.path.join("half"), "").unwrap();
    let again = within("a workspace", host.create_workspace(&root, "A/B"))
        .await
        .unwrap();
    assert!(again.created_now && !made.path.join("half").exists());
    within("its end", host.finish_workspace(&root, "A/B"))
        .await
        .unwrap();
    let again = within("a workspace", host.create_workspace(&root, "A/B"))
        .await
        .unwrap();
    assert!(!again.created_now);
    assert_eq!(again.path, made.path);

    let limit = Duration::from_secs(20);
    let variables = vec![("ISSUE".to_owned(), "it's".to_owned())];
    let script = "echo \"$ISSUE in $(basename \"$PWD\")\" > note";
    within(
        "a hook",
        host.hook("after_create", script, &made.path, &variables, limit),
    )
    .await
    .unwrap();
    let note = std::fs::read_to_string(made.path.join("note")).unwrap();
    assert_eq!(note, format!("it's in {}\n", made.key));
    let failing = host.hook(
        "before_run",
        "echo broken; exit 4",
        &made.path,
        &variables,
        limit,
    );
    let error = within("a hook", failing).await.unwrap_err();
    assert!(
        matches!(&error, HookError::Failed { output, .. } if output.contains("broken")),
        "{error}"
    );
    let odd = host.hook("before_run", "exit 255", &made.path, &variables, limit);
    let error = within("a hook", odd).await.unwrap_err();
    assert!(matches!(&error, HookError::Failed { .. }), "{error}");
    let gone = machine.at("127.0.0.1:1");
    let error = within("a host", gone.create_workspace(&root, "A/B")).await;
    assert!(matches!(error, Err(HookError::Unreachable { .. })));

    let mark = process_table::marker();
    let daemon = format!("setsid sleep {mark} </dev/null >/dev/null 2>&1 & exit 0");
    let done = host.hook("before_run", &daemon, &made.path, &variables, limit);
    within("a hook", done).await.unwrap();
    let left = process_table::left(&mark).await;
    assert!(left.is_empty(), "{left:?}");

    let mark = process_table::marker();
    let hanging = format!("sleep {mark}");
    let since = Instant::now();
    let hanging = host.hook(
        "before_run",
        &hanging,
        &made.path,
        &variables,
        Duration::from_millis(700),
    );
    assert!(within("a hook", hanging).await.is_err());
    assert!(since.elapsed() < Duration::from_secs(15));
    let left = process_table::left(&mark).await;
    assert!(left.is_empty(), "{left:?}");

    std::os::unix::fs::symlink("/etc", root.join("linked")).unwrap();
    let error = within("a workspace", host.create_workspace(&root, "linked"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("not a directory"), "{error}");
    within("removal", host.remove_workspace(&root, "A/B"))
        .await
        .unwrap();
    assert!(!made.path.exists());
    within("removal", host.remove_workspace(&root, "linked"))
        .await
        .unwrap();
    assert!(Path::new("/etc/passwd").exists());
    assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0);
    within("removal", host.remove_workspace(&root, "never there"))
        .await
        .unwrap();
}

#[tokio::test]
async fn what_a_session_over_ssh_says_is_followed_like_any_other() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let lab = Lab::new("echo 'from there' >&2; greet; turn 3 t; completed t; stay");
    lab.run_with(machine.options(&lab, "exec bash ./server.sh"))
        .await
        .unwrap();
    let lines = lab.events(EventKind::Stderr);
    assert!(
        lines.iter().any(|it| it.payload == "from there"),
        "{lines:?}"
    );
}
