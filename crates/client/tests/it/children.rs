//! Servers as child processes that misbehave: written in shell, so that they can.

use std::path::Path;
use std::time::Duration;

use quipu_client::{Cause, Client, ConnectError, Error, Options, Timeouts};
use quipu_testkit::wait::{found, until};
use tempfile::TempDir;

use crate::support::{connect, within};

/// Answers the handshake; `$directory` is where it works.
const GREET: &str = r#"
read -r hello
echo '{"id":0,"result":{"userAgent":"sh/0.118.0 (test)"}}'
read -r initialized
"#;

/// A child that greets and then does what the script says.
fn child(directory: &TempDir, script: &str) -> Options {
    Options::spawn("/bin/sh")
        .args(["-c", &format!("{GREET}{script}")])
        .cwd(directory.path())
        .timeouts(Timeouts {
            shutdown: Duration::from_millis(200),
            ..Timeouts::default()
        })
}

/// Waits until a file holds a process id, and returns it.
async fn pid(directory: &TempDir, name: &str) -> String {
    let path = directory.path().join(name);
    let read = async || {
        let text = std::fs::read_to_string(&path).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    };
    found("a process id", read).await
}

fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

async fn gone(pid: &str) {
    until("the end of a process", || !lives(pid)).await;
}

#[tokio::test]
async fn the_end_of_a_server_fails_all_calls_with_its_status_and_last_words() {
    let directory = TempDir::new().unwrap();
    let script = r#"
        read -r first; read -r second
        yes 0123456789abcde | head -c 20000 >&2
        echo 'out of luck' >&2
        exit 7
    "#;
    let client = connect(child(&directory, script)).await;
    let calls = [client.account_logout(), client.account_logout()];
    for call in calls {
        let error = within("the end", call).await.unwrap_err();
        let Error::Closed(Cause::ServerExited(exit)) = &error else {
            panic!("{error}");
        };
        assert_eq!(exit.status.code(), Some(7));
        assert_eq!(exit.stderr.len(), 8 * 1024);
        assert!(exit.stderr.ends_with("out of luck\n"));
        assert!(error.to_string().contains("exit status: 7"), "{error}");
    }
    assert!(matches!(client.closed().await, Cause::ServerExited(_)));
}

#[tokio::test]
async fn a_server_that_is_killed_is_reported_by_its_signal() {
    let directory = TempDir::new().unwrap();
    let client = connect(child(&directory, "read -r first; kill -9 $$")).await;
    let error = within("the end", client.account_logout())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("signal: 9"), "{error}");
}

#[tokio::test]
async fn programs_that_do_not_start_are_reported() {
    let missing = Client::connect(Options::spawn("/no/such/server")).await;
    let error = missing.unwrap_err();
    assert!(matches!(error, ConnectError::Spawn { .. }), "{error}");
    assert!(error.to_string().contains("/no/such/server"), "{error}");

    let dying = Options::spawn("/bin/sh").args(["-c", "echo 'bad config' >&2; exit 1"]);
    let error = within("the end", Client::connect(dying)).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("exit status: 1") && text.contains("bad config"),
        "{text}"
    );
}

#[tokio::test]
async fn a_relative_path_is_relative_to_this_process() {
    let directory = TempDir::new().unwrap();
    let depth = std::env::current_dir().unwrap().components().count();
    let shell = format!("{}bin/sh", "../".repeat(depth - 1));
    let options = Options::spawn(shell).args(["-c", &format!("{GREET}cat > /dev/null")]);
    let client = connect(options.cwd(directory.path())).await;
    within("leaving", client.disconnect()).await;
}

/// Starts what a server could leave behind: a child, one in a session of its own, and one whose parent
/// is gone.
const LITTER: &str = r#"
    sleep 1000 & echo $! > child
    setsid sh -c 'echo $$ > session; exec sleep 1000' &
    (setsid sh -c 'echo $$ > orphan; exec sleep 1000' &)
    env -i setsid sh -c 'echo $$ > bare; exec sleep 1000' &
"#;

#[tokio::test]
async fn leaving_ends_the_child_and_all_its_descendants() {
    let directory = TempDir::new().unwrap();
    // It ignores both the end of its input and requests to terminate.
    let script = format!("trap '' TERM; {LITTER} echo $$ > server; while :; do sleep 0.1; done");
    let client = connect(child(&directory, &script)).await;
    let mut pids = Vec::new();
    for name in ["server", "child", "session", "orphan", "bare"] {
        pids.push(pid(&directory, name).await);
    }
    within("leaving", client.disconnect()).await;
    for pid in pids {
        assert!(!lives(&pid));
    }
}

#[tokio::test]
async fn dropping_the_client_ends_the_child_and_all_its_descendants() {
    let directory = TempDir::new().unwrap();
    let script = format!("{LITTER} echo $$ > server; cat > /dev/null");
    let client = connect(child(&directory, &script)).await;
    let mut pids = Vec::new();
    for name in ["server", "child", "session", "orphan", "bare"] {
        pids.push(pid(&directory, name).await);
    }
    drop(client);
    for pid in pids {
        gone(&pid).await;
    }
}

#[tokio::test]
async fn what_a_dead_server_leaves_behind_is_ended() {
    let directory = TempDir::new().unwrap();
    let litter = LITTER.replace("env -i ", "");
    let script = format!("{litter} echo $$ > server; read -r first; exit 3");
    let client = connect(child(&directory, &script)).await;
    let mut pids = Vec::new();
    for name in ["child", "session", "orphan"] {
        pids.push(pid(&directory, name).await);
    }
    // Its output is still open in those that it left, which must not keep the end from being told.
    let error = within("the end", client.account_logout())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("exit status: 3"), "{error}");
    for pid in pids {
        assert!(!lives(&pid));
    }
}

#[test]
fn a_runtime_that_goes_down_ends_the_child() {
    let directory = TempDir::new().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let pid = runtime.block_on(async {
        let script = "sleep 1000 & echo $! > child; cat > /dev/null";
        let client = connect(child(&directory, script)).await;
        let pid = pid(&directory, "child").await;
        std::mem::forget(client);
        pid
    });
    runtime.shutdown_background();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(gone(&pid));
}
