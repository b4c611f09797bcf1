//! The diff of a turn when other things than patches happen to files, and its limits.

use std::fs;

use quipu_patch::{TurnDiff, prepare};
use serde::Deserialize;

use crate::workspace::{Workspace, fixture, patch};

/// Applies the operations in a git work tree and returns the workspace and the turn.
fn turn(workspace: &Workspace, operations: &str) -> TurnDiff {
    workspace.write(".git/HEAD", "");
    let mut turn = TurnDiff::new(&workspace.root);
    let plan = prepare(&patch(operations), &workspace.root).unwrap();
    turn.track(&plan);
    plan.apply().unwrap();
    turn
}

const UPDATE_F: &str = "*** Update File: f\n-a\n+A";

#[derive(Deserialize)]
struct Pair {
    old: String,
    new: String,
    /// What a `fileChange` item showed.
    hunks: String,
    /// What the diff of the turn showed after the file headers.
    turn: String,
}

#[test]
fn hunks_are_grouped_as_the_reference_groups_them() {
    for Pair {
        old,
        new,
        hunks,
        turn: expected,
    } in fixture("diffs.jsonl")
    {
        let workspace = Workspace::with([("f", &old)]);
        let lines = |mark: &str, text: &str| -> String {
            text.lines().map(|line| format!("{mark}{line}\n")).collect()
        };
        let operation = format!(
            "*** Update File: f\n{}{}",
            lines("-", &old),
            lines("+", &new)
        );
        let plan = prepare(&patch(operation.trim_end_matches('\n')), &workspace.root).unwrap();
        assert_eq!(plan.changes()[0].diff(), hunks);
        let diff = turn(&workspace, operation.trim_end_matches('\n')).unified();
        assert_eq!(diff.find("@@").map_or("", |start| &diff[start..]), expected);
    }
}

#[test]
fn what_others_do_to_touched_files_is_in_the_diff() {
    let workspace = Workspace::with([("f", "a\n"), ("other", "")]);
    let mut turn = turn(&workspace, UPDATE_F);
    workspace.write("f", "A\nmore\n");
    workspace.write("other", "changed\n");
    let diff = "diff --git a/f b/f\nindex 78981922613b2afb6025042ff6bd878ac1994e85..cb1ef64a4e24309951c8a5c8242f70eaf9e9855c\n--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n+A\n+more\n";
    assert_eq!(turn.unified(), diff);
    fs::remove_file(workspace.path("f")).unwrap();
    let diff = "diff --git a/f b/f\ndeleted file mode 100644\nindex 78981922613b2afb6025042ff6bd878ac1994e85..0000000000000000000000000000000000000000\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    assert_eq!(turn.unified(), diff);
    workspace.write("f", [0xff]);
    assert!(
        turn.unified()
            .ends_with("--- a/f\n+++ b/f\nBinary files differ\n")
    );
    workspace.write("f", "a\n");
    assert_eq!(turn.unified(), "");
}

#[test]
fn large_files_are_only_said_to_differ() {
    let long = "x".repeat(9 * 1024 * 1024);
    let workspace = Workspace::with([("f", &format!("a\n{long}\n")), ("g", "a\n")]);
    let mut turn = turn(
        &workspace,
        "*** Update File: f\n-a\n+A\n*** Update File: g\n-a\n+A",
    );
    let diff = turn.unified();
    assert!(
        diff.contains("--- a/f\n+++ b/f\nFiles differ, too large to show\ndiff --git a/g b/g\n")
    );
    assert!(diff.len() < 1000);
}

#[test]
fn swapped_files_are_two_renames() {
    let workspace = Workspace::with([("f", "f\n"), ("g", "g\n")]);
    let moved = |from: &str, to: &str, old: &str| {
        format!("*** Update File: {from}\n*** Move to: {to}\n-{old}\n+{old}{old}\n")
    };
    let swap = moved("f", "x", "f") + &moved("g", "f", "g") + &moved("x", "g", "ff");
    let diff = turn(&workspace, &swap).unified();
    assert!(
        diff.starts_with("diff --git a/g b/f\n") && diff.contains("\ndiff --git a/f b/g\n"),
        "{diff}"
    );
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn modes_are_shown_with_a_change_of_content() {
        let workspace = Workspace::with([("f", "a\n")]);
        let mut turn = turn(&workspace, UPDATE_F);
        fs::set_permissions(workspace.path("f"), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(
            turn.unified()
                .starts_with("diff --git a/f b/f\nold mode 100644\nnew mode 100755\nindex ")
        );
        workspace.write("f", "a\n");
        assert_eq!(turn.unified(), "");
    }

    #[test]
    fn links_are_followed_when_written_and_shown_when_removed() {
        let workspace = Workspace::with([("f", "a\n")]);
        symlink("f", workspace.path("link")).unwrap();
        let diff = turn(&workspace, "*** Update File: link\n-a\n+A").unified();
        assert!(diff.starts_with("diff --git a/f b/f\nindex "), "{diff}");
        let diff = turn(&workspace, "*** Delete File: link").unified();
        assert_eq!(
            diff,
            "diff --git a/link b/link\ndeleted file mode 120000\nindex 4d1ae35ba2c8ec712fa2a379db44ad639ca277bd..0000000000000000000000000000000000000000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-f\n\\ No newline at end of file\n"
        );
    }
}
