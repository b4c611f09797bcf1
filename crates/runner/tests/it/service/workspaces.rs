//! 17.2 Workspace manager and safety, through a running service.

use std::fs;
use std::os::unix::fs::symlink;

use quipu_runner::workspace::{self, WorkspaceError};
use quipu_testkit::process_table;
use tempfile::TempDir;

use super::support::{DONE, Lab, ended_well, failed_with};

#[test]
fn workspaces_are_created_reused_and_removed() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("deep/root");
    let first = workspace::create(&root, "A-1").unwrap();
    assert!(first.created_now && first.path.ends_with("deep/root/A-1"));
    fs::write(first.path.join("half"), "").unwrap();
    // The service ended before its hook did.
    let first = workspace::create(&root, "A-1").unwrap();
    assert!(first.created_now && !first.path.join("half").exists());
    workspace::finish(&root, "A-1").unwrap();
    fs::write(first.path.join("kept"), "").unwrap();
    let second = workspace::create(&root, "A-1").unwrap();
    assert!(!second.created_now && second.path == first.path);
    assert!(second.path.join("kept").exists());
    workspace::remove(&root, "A-1").unwrap();
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    workspace::remove(&root, "A-1").unwrap();
}

#[test]
fn what_is_not_a_directory_of_the_root_is_refused() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("root");
    fs::create_dir_all(&root).unwrap();
    let outside = directory.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(root.join("file"), "").unwrap();
    symlink(&outside, root.join("link")).unwrap();
    for name in ["file", "link"] {
        let error = workspace::create(&root, name).unwrap_err();
        assert!(
            matches!(error, WorkspaceError::NotADirectory { .. }),
            "{name}: {error}"
        );
        workspace::remove(&root, name).unwrap();
    }
    assert!(outside.exists(), "a link is removed, not what it leads to");
    let error = workspace::contained(&root, &outside).unwrap_err();
    assert!(matches!(error, WorkspaceError::Outside { .. }));
    let key = workspace::key("../outside");
    assert!(
        workspace::create(&root, "../outside")
            .unwrap()
            .path
            .ends_with(key)
    );
}

#[tokio::test]
async fn hooks_run_around_the_life_of_a_workspace() {
    let hooks = r#"
hooks:
  after_create: echo "create $RUNNER_ISSUE_IDENTIFIER" >> ../../hooks
  before_run: echo "before $PWD" >> ../../hooks
  after_run: echo after >> ../../hooks; exit 7
  before_remove: echo remove >> ../../hooks; exit 7
"#;
    let lab = Lab::new(DONE, hooks);
    lab.issue("A");
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    let said = fs::read_to_string(lab.path().join("hooks")).unwrap();
    let before = format!("before {}", lab.workspace("A").display());
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        ["create A", &before, "after", "remove"]
    );
    assert!(!lab.workspace("A").exists(), "the issue is done");
    let trace = lab.trace("A");
    let start = trace
        .iter()
        .find(|it| it["method"] == "thread/start")
        .unwrap();
    assert_eq!(
        start["params"]["cwd"],
        lab.workspace("A").display().to_string()
    );
}

#[tokio::test]
async fn after_create_runs_only_on_new_workspaces_and_again_after_it_failed() {
    let hooks = "hooks: { after_create: \"echo x >> ../../made; [ $(wc -l < ../../made) -gt 1 ]\" }\nagent: { max_retry_backoff_ms: 50 }";
    let lab = Lab::new("finish completed; [ $turn -gt 1 ] && state Review", hooks);
    lab.issue("A");
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    let made = fs::read_to_string(lab.path().join("made")).unwrap();
    assert_eq!(made.lines().count(), 2, "once in vain, once for good");
    let record = lab.record("A");
    assert_eq!(record["attempts"][0]["status"], "failed");
    assert!(
        record["attempts"][0]["error"]
            .as_str()
            .unwrap()
            .contains("hook_failed")
    );
    assert!(
        lab.workspace("A").exists(),
        "an issue that is not done keeps its workspace"
    );
}

#[tokio::test]
async fn before_run_failure_and_timeout_abort_the_attempt_and_leave_no_process() {
    let mark = process_table::marker();
    let hooks = format!(
        "hooks: {{ before_run: \"if [ -e ../../slow ]; then sleep {mark}; fi; exit 3\", timeout_ms: 3000 }}\nagent: {{ max_retry_backoff_ms: 50 }}"
    );
    let lab = Lab::new(DONE, &hooks);
    lab.issue("A");
    let running = lab.start().await;
    running
        .until("a failure", |it| failed_with(it, "exit code 3"))
        .await;
    fs::write(lab.path().join("slow"), "").unwrap();
    running
        .until("a timeout", |it| failed_with(it, "hook_timeout"))
        .await;
    fs::remove_file(lab.path().join("slow")).unwrap();
    running.stop().await;
    assert!(lab.trace("A").is_empty(), "no agent was started");
    assert!(process_table::left(&mark).await.is_empty());
}

#[tokio::test]
async fn after_run_and_before_remove_that_hang_are_ended_and_change_nothing() {
    let mark = process_table::marker();
    let hooks = format!(
        "hooks: {{ after_run: \"echo after >> ../../hooks; sleep {mark}\", before_remove: \"echo remove >> ../../hooks; sleep {mark}\", timeout_ms: 3000 }}"
    );
    let lab = Lab::new("state Review; finish completed", &hooks);
    lab.issue("A");
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    assert!(ended_well(&lab.record("A")["attempts"][0]));
    assert!(lab.workspace("A").exists());
    // The sweep at the start removes it.
    lab.set_state("A", "Done");
    lab.start().await.stop().await;
    assert!(!lab.workspace("A").exists());
    let said = fs::read_to_string(lab.path().join("hooks")).unwrap();
    assert_eq!(said, "after\nremove\n");
    assert!(process_table::left(&mark).await.is_empty());
}

#[tokio::test]
async fn a_workspace_that_leads_outside_is_noticed_before_the_agent_is_started() {
    let hooks =
        "hooks: { before_run: \"cd .. && rm -r A && mkdir -p ../outside && ln -s ../outside A\" }";
    let lab = Lab::new(DONE, hooks);
    lab.issue("A");
    let running = lab.start().await;
    running
        .until("a refusal", |it| failed_with(it, "invalid_workspace_cwd"))
        .await;
    running.stop().await;
    assert!(lab.trace("A").is_empty(), "no agent was started");
    assert!(lab.path().join("outside").exists());
}

#[tokio::test]
async fn startup_removes_workspaces_of_issues_that_are_done() {
    let lab = Lab::new(DONE, "");
    lab.set_state("old", "Done");
    lab.set_state("open", "Review");
    for name in ["old", "open"] {
        fs::create_dir_all(lab.workspace(name)).unwrap();
    }
    let running = lab.start().await;
    assert!(!lab.workspace("old").exists());
    assert!(lab.workspace("open").exists());
    running.stop().await;
}

#[tokio::test]
async fn changes_are_kept_as_patch_and_branch() {
    let git = "export HOME=/none GIT_CONFIG_GLOBAL=/dev/null";
    let create = format!(
        "{git}; git init -q -b main . && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m base"
    );
    let front =
        format!("hooks: {{ after_create: \"{create}\" }}\nresult: {{ branch_prefix: agent/ }}");
    let lab = Lab::new(
        "echo new > file.txt; state Review; finish completed",
        &front,
    );
    lab.issue("A");
    let running = lab.start().await;
    running.until_completed(1).await;
    let details = running.details("A").await.unwrap();
    running.stop().await;
    let attempt = &details["tracked"]["attempts"][0];
    let patch = fs::read_to_string(attempt["patch"].as_str().expect("a patch")).unwrap();
    assert!(
        patch.contains("+++ b/file.txt") && patch.contains("+new"),
        "{patch}"
    );
    assert_eq!(attempt["branch"], "agent/A");
    assert!(lab.workspace("A").join(".git/refs/heads/agent/A").exists());
}
