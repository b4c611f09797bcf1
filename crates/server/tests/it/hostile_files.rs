//! Files that a command or another program left where the server looks by itself: pipes that nobody
//! writes to, files without an end, locks that are never let go. They cost their thread, at most.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FlockOperation, Mode, flock, mkfifoat};
use serde_json::json;

use crate::stage::{Stage, calls, run, say, status};

/// What a project's files can be. Reading any of them to its end never comes to one.
fn endless(path: &Path, pipe: bool) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if pipe {
        mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
    } else {
        symlink("/dev/zero", path).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_file_of_a_project_holds_up_its_thread() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let project = directory.path().join("project");
    let trusted = format!(
        "[projects.{:?}]\ntrust_level = \"trusted\"",
        project.to_str().unwrap()
    );
    let stage = Stage::at(directory, home, &trusted).await;
    let mut client = stage.client().await;
    for name in [
        ".git",
        ".git/HEAD",
        ".git/commondir",
        ".git/packed-refs",
        ".git/config",
        ".codex/config.toml",
        ".codex/rules/all.rules",
        ".agents/skills/one/SKILL.md",
        "AGENTS.md",
    ] {
        for pipe in [true, false] {
            fs::create_dir(&project).unwrap();
            if name != ".git" {
                fs::create_dir(project.join(".git")).unwrap();
                fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
                fs::remove_file(project.join(name)).ok();
            }
            endless(&project.join(name), pipe);
            let started = client
                .try_call("thread/start", json!({ "cwd": project }))
                .await;
            match started {
                Ok(started) => {
                    let thread = started["thread"]["id"].as_str().unwrap();
                    stage.play([json!({ "text": "fine" })]);
                    let messages = run(&mut client, thread, "how is it?").await;
                    assert_eq!(status(&messages), "completed", "{name}");
                }
                Err(error) => {
                    assert_eq!(name, ".codex/config.toml", "{error}");
                    let message = error["message"].as_str().unwrap();
                    assert!(message.contains("not a regular file"), "{message}");
                }
            }
            fs::remove_dir_all(&project).unwrap();
        }
    }
}

/// Locks a file or a directory as any program can that may read it.
fn locked(path: &Path) -> File {
    let file = File::open(path).unwrap();
    flock(&file, FlockOperation::LockExclusive).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rules_file_that_is_locked_holds_up_nobody_else() {
    let stage = Stage::new().await;
    let rules = stage.home().join("rules/default.rules");
    fs::create_dir_all(rules.parent().unwrap()).unwrap();
    fs::write(&rules, "").unwrap();
    let lock = locked(&rules);
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let asking = json!({ "approvalPolicy": "untrusted" });
        let (mut client, thread) = stage.thread_with(asking).await;
        stage.play([calls("exec_command", json!({ "cmd": "touch made" }))]);
        say(&mut client, &thread, "do it").await;
        let question = client
            .skip_to("item/commandExecution/requestApproval")
            .await;
        let amendment = json!({ "execpolicy_amendment": ["touch"] });
        let decision = json!({ "acceptWithExecpolicyAmendment": amendment });
        client
            .reply(&question["id"], json!({ "decision": decision }))
            .await;
        waiting.push(client);
    }
    let (mut other, thread) = stage.thread().await;
    stage.play([json!({ "text": "fine" })]);
    assert_eq!(
        status(&run(&mut other, &thread, "hello").await),
        "completed"
    );

    stage.play(vec![json!({ "text": "done" }); waiting.len()]);
    drop(lock);
    for mut client in waiting {
        assert_eq!(status(&client.until("turn/completed").await), "completed");
    }
    let saved = fs::read_to_string(&rules).unwrap();
    assert_eq!(
        saved,
        "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_is_locked_is_written_to_later() {
    let stage = Stage::new().await;
    let (mut editor, mut user) = (stage.client().await, stage.client().await);
    let lock = locked(stage.home());
    let edit = json!({ "keyPath": "model", "value": "other", "mergeStrategy": "replace" });
    let edited = editor.ask("config/value/write", edit.clone()).await;
    let key = json!({ "type": "apiKey", "apiKey": "a-key" });
    let logged_in = user.ask("account/login/start", key.clone()).await;
    // Others are served meanwhile.
    let listed = stage.client().await.call("thread/list", json!({})).await;
    assert_eq!(listed["data"], json!([]));
    for (client, request) in [(&mut editor, edited), (&mut user, logged_in)] {
        let error = client.answered(request).await.unwrap_err();
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("another program has kept it locked"),
            "{message}"
        );
    }
    drop(lock);
    editor.call("config/value/write", edit).await;
    user.call("account/login/start", key).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_that_is_not_a_file_is_refused() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let thread = "01a1e2b8-9c85-73be-9be9-516a3131e465";
    for is_pipe in [true, false] {
        let path = stage.directory().join(format!("{is_pipe}.jsonl"));
        endless(&path, is_pipe);
        for method in ["thread/resume", "thread/fork"] {
            let params = json!({ "threadId": thread, "path": path });
            let why = client.refused(method, params).await;
            assert!(why.contains("not a regular file"), "{method}: {why}");
        }
        let params = json!({ "rolloutPath": path });
        client.refused("getConversationSummary", params).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_beside_the_threads_may_be_anything() {
    for name in [
        "quipu_index_1.sqlite",
        "session_index.jsonl",
        "quipu_git_info.jsonl",
    ] {
        for is_pipe in [true, false] {
            let stage = Stage::new().await;
            let path = stage.home().join(name);
            match is_pipe {
                true => endless(&path, true),
                false => File::create(&path).unwrap().set_len(20 << 30).unwrap(),
            }
            let (mut client, thread) = stage.thread().await;
            stage.play([json!({ "text": "hello" })]);
            run(&mut client, &thread, "hello").await;
            let listed = client.call("thread/list", json!({})).await;
            assert_eq!(listed["data"][0]["id"], json!(thread), "{name} {is_pipe}");
            let named = json!({ "threadId": thread, "name": "a name" });
            // It may be refused, but it is answered.
            client.try_call("thread/name/set", named).await.ok();
        }
    }
}
