//! Requests that clients of the first protocol version still make. The official server was asked the same
//! about the same repositories and rollouts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use quipu_testkit::client::Client;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::stage::{Stage, run};

#[expect(
    clippy::disallowed_methods,
    reason = "a test of git needs repositories"
)]
fn git(directory: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{arguments:?}: {said}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn commit(directory: &Path, file: &str) {
    fs::write(directory.join(file), format!("{file}\n")).unwrap();
    git(directory, &["add", "."]);
    git(directory, &["commit", "-qm", file]);
}

/// Repositories, and a server that looks at them.
struct Desk {
    lab: Lab,
    client: Client,
}

impl Desk {
    async fn new() -> Desk {
        let path = std::env::var("PATH").unwrap();
        let lab = Lab::with(&[("PATH", &path)], "");
        let client = lab.client().await;
        Desk { lab, client }
    }

    /// A repository with one commit, which `origin` has too.
    fn repository(&self, name: &str, branch: &str) -> PathBuf {
        let directory = self.lab.directory.path().join(name);
        let remote = directory.with_extension("git");
        fs::create_dir(&directory).unwrap();
        git(&directory, &["init", "-q", "-b", branch]);
        commit(&directory, "a.txt");
        let bare = ["init", "-q", "--bare", "-b", branch];
        git(
            &directory,
            &[&bare[..], &[remote.to_str().unwrap()]].concat(),
        );
        git(
            &directory,
            &["remote", "add", "origin", remote.to_str().unwrap()],
        );
        git(&directory, &["push", "-q", "origin", branch]);
        directory
    }

    async fn ask(&self, cwd: &Path) -> Result<(String, String), String> {
        let params = json!({ "cwd": cwd });
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        match self.client.call_raw("gitDiffToRemote", &params).await {
            Ok(found) => Ok((text(&found["sha"]), text(&found["diff"]))),
            Err(error) => Err(error.message),
        }
    }

    /// The base is this revision, and these files differ from it.
    async fn expect(&self, directory: &Path, base: &str, files: &[&str]) {
        let (sha, diff) = self.ask(directory).await.unwrap();
        assert_eq!(sha, git(directory, &["rev-parse", base]), "{base}");
        let changed = diff
            .lines()
            .filter_map(|line| line.strip_prefix("diff --git a/"));
        let changed = changed.map(|line| line.split_once(" b/").unwrap().1);
        assert_eq!(changed.collect::<Vec<_>>(), files, "{diff}");
    }

    async fn refused(&self, directory: &Path) {
        let text = format!("failed to compute git diff to remote for cwd: {directory:?}");
        assert_eq!(self.ask(directory).await, Err(text));
    }
}

#[tokio::test]
async fn what_the_remote_lacks_is_shown() {
    let desk = Desk::new().await;
    let directory = desk.repository("r", "main");
    desk.expect(&directory, "HEAD", &[]).await;
    fs::write(directory.join("a.txt"), "changed\n").unwrap();
    desk.expect(&directory, "HEAD", &["a.txt"]).await;
    git(&directory, &["add", "."]);
    desk.expect(&directory, "HEAD", &["a.txt"]).await;
    git(&directory, &["commit", "-qm", "2"]);
    desk.expect(&directory, "origin/main", &["a.txt"]).await;
    fs::write(directory.join(".gitignore"), "ignored\n").unwrap();
    fs::create_dir(directory.join("sub")).unwrap();
    for file in ["ignored", "new file", "sub/below", "-dash"] {
        fs::write(directory.join(file), "x\n").unwrap();
    }
    fs::write(directory.join("binary"), [0, 1, 2]).unwrap();
    let untracked = [
        "a.txt",
        "-dash",
        ".gitignore",
        "binary",
        "new file",
        "sub/below",
    ];
    desk.expect(&directory, "origin/main", &untracked).await;
    let (_, diff) = desk.ask(&directory).await.unwrap();
    assert!(diff.contains("GIT binary patch\nliteral 3\n"), "{diff}");
    assert!(
        diff.contains("+++ b/sub/below\n@@ -0,0 +1 @@\n+x\n"),
        "{diff}"
    );
    // Files that Git does not know are those below the directory, and are named from there.
    let below = directory.join("sub");
    desk.expect(&below, "origin/main", &["a.txt", "below"])
        .await;
    // What is no UTF-8 is shown as well as can be; the official server shows nothing at all.
    fs::write(directory.join("binary"), b"\xe9\n").unwrap();
    git(&directory, &["add", "."]);
    assert!(
        desk.ask(&directory)
            .await
            .unwrap()
            .1
            .contains("+\u{fffd}\n")
    );
}

#[tokio::test]
async fn the_branch_of_the_same_name_counts_then_one_that_has_it_all_then_the_main_one() {
    let desk = Desk::new().await;
    let directory = desk.repository("r", "main");
    git(&directory, &["checkout", "-q", "-b", "topic"]);
    commit(&directory, "one");
    desk.expect(&directory, "origin/main", &["one"]).await;
    git(&directory, &["push", "-q", "origin", "HEAD:other"]);
    desk.expect(&directory, "origin/other", &[]).await;
    commit(&directory, "two");
    desk.expect(&directory, "origin/main", &["one", "two"])
        .await;
    git(
        &directory,
        &["push", "-q", "origin", "HEAD~1:refs/heads/topic"],
    );
    git(&directory, &["push", "-q", "origin", "HEAD:main"]);
    desk.expect(&directory, "origin/topic", &["two"]).await;
    git(&directory, &["checkout", "-q", "--detach"]);
    desk.expect(&directory, "origin/main", &[]).await;
    // Commits of others that are not here are shown as missing.
    git(&directory, &["checkout", "-q", "main"]);
    desk.expect(&directory, "origin/main", &["one", "two"])
        .await;
    // The first remote that knows the branch counts: `origin`, then the others by name.
    let fork = desk.lab.directory.path().join("fork.git");
    git(
        &directory,
        &["init", "-q", "--bare", fork.to_str().unwrap()],
    );
    git(
        &directory,
        &["remote", "add", "fork", fork.to_str().unwrap()],
    );
    git(&directory, &["push", "-q", "fork", "main"]);
    desk.expect(&directory, "origin/main", &["one", "two"])
        .await;
    git(&directory, &["remote", "rename", "origin", "zorigin"]);
    desk.expect(&directory, "fork/main", &[]).await;
}

#[tokio::test]
async fn the_main_branch_is_found_without_asking_the_remote() {
    let desk = Desk::new().await;
    for branch in ["master", "trunk"] {
        let directory = desk.repository(branch, branch);
        git(&directory, &["remote", "set-url", "origin", "/nowhere.git"]);
        git(&directory, &["checkout", "-q", "-b", "topic"]);
        commit(&directory, "one");
        desk.expect(&directory, &format!("origin/{branch}"), &["one"])
            .await;
    }
    let directory = desk.repository("told", "main");
    git(&directory, &["push", "-q", "origin", "HEAD:stable"]);
    git(&directory, &["remote", "set-head", "origin", "stable"]);
    commit(&directory, "one");
    git(&directory, &["push", "-q", "origin", "main"]);
    git(&directory, &["checkout", "-q", "-b", "topic"]);
    commit(&directory, "two");
    desk.expect(&directory, "origin/stable", &["one", "two"])
        .await;
}

#[tokio::test]
async fn without_a_remote_there_is_nothing_to_compare_with() {
    let desk = Desk::new().await;
    let outside = desk.lab.directory.path().to_owned();
    desk.refused(&outside).await;
    desk.refused(&outside.join("missing")).await;
    let directory = desk.repository("r", "main");
    desk.refused(&directory.join("a.txt")).await;
    desk.refused(&directory.join(".git")).await;
    desk.refused(&directory.with_extension("git")).await;
    git(
        &directory,
        &["update-ref", "-d", "refs/remotes/origin/main"],
    );
    desk.refused(&directory).await;
    git(&directory, &["remote", "remove", "origin"]);
    desk.refused(&directory).await;
    let fresh = outside.join("fresh");
    fs::create_dir(&fresh).unwrap();
    git(&fresh, &["init", "-q", "-b", "main"]);
    let remote = directory.with_extension("git");
    git(
        &fresh,
        &["remote", "add", "origin", remote.to_str().unwrap()],
    );
    git(&fresh, &["fetch", "-q", "origin"]);
    desk.refused(&fresh).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_summed_up_by_id_and_by_file() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hi" })]);
    run(&mut client, &thread, "hello there").await;
    let by_id = json!({ "conversationId": thread });
    let mut found = client.call("getConversationSummary", by_id).await;
    let path = PathBuf::from(found["summary"]["path"].as_str().unwrap());
    let began = found["summary"]["timestamp"].take();
    // By the id in whole seconds, by the file as the file says it.
    assert_eq!(began.as_str().unwrap().len(), "2026-11-15T16:33:14Z".len());
    let rollout = fs::read_to_string(&path).unwrap();
    let head: Value = serde_json::from_str(rollout.lines().next().unwrap()).unwrap();
    let expected = json!({
        "conversationId": thread, "path": path, "preview": "hello there", "timestamp": null,
        "updatedAt": found["summary"]["updatedAt"], "modelProvider": "scripted",
        "cwd": head["payload"]["cwd"], "cliVersion": head["payload"]["cli_version"],
        "source": "vscode", "gitInfo": null,
    });
    assert_eq!(found["summary"], expected);

    // Wherever the file lies and whatever it is called.
    let copy = stage.directory().join("copy.jsonl");
    fs::copy(&path, &copy).unwrap();
    let relative = path.strip_prefix(stage.home()).unwrap();
    for (asked, shown) in [(copy.as_path(), copy.as_path()), (relative, path.as_path())] {
        let by_file = json!({ "rolloutPath": asked });
        let mut found = client.call("getConversationSummary", by_file).await;
        let mut expected = expected.clone();
        expected["path"] = json!(shown);
        expected["timestamp"] = head["payload"]["timestamp"].clone();
        expected["updatedAt"] = found["summary"]["updatedAt"].take();
        found["summary"]["updatedAt"] = expected["updatedAt"].clone();
        assert_eq!(found["summary"], expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_conversation_is_reported() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let directory = stage.directory().join("files");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("empty"), "").unwrap();
    fs::write(directory.join("words"), "not json\n").unwrap();
    let pipe = directory.join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    for (file, reason) in [
        (
            "missing",
            "No such file or directory (os error 2)".to_owned(),
        ),
        ("", "Is a directory (os error 21)".to_owned()),
        (
            "empty",
            format!("rollout at {} is empty", directory.join("empty").display()),
        ),
        (
            "words",
            format!("rollout at {} is empty", directory.join("words").display()),
        ),
        ("pipe", "not a regular file".to_owned()),
    ] {
        let path = directory.join(file);
        let by_file = json!({ "rolloutPath": path });
        let text = format!(
            "failed to load conversation summary from {}: {reason}",
            path.display()
        );
        assert_eq!(
            client.refused("getConversationSummary", by_file).await,
            text
        );
    }
    let nobody = "0199a213-81c0-7800-8aa1-bbab2a035a53";
    let union = "Invalid request: data did not match any variant of untagged enum GetConversationSummaryParams";
    for (params, text) in [
        (
            json!({ "conversationId": nobody }),
            &*format!("no rollout found for conversation id {nobody}"),
        ),
        (json!({ "conversationId": "x" }), union),
        (json!({ "conversationId": 3 }), union),
        (json!({}), union),
    ] {
        assert_eq!(client.refused("getConversationSummary", params).await, text);
    }
}
