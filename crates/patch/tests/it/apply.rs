//! Applying to real files: what is kept, what is refused, and what is said.

use std::fs;
use std::path::PathBuf;

use quipu_patch::{Plan, prepare};

use crate::workspace::{Workspace, patch};

fn plan(workspace: &Workspace, operations: &str) -> Plan {
    prepare(&patch(operations), &workspace.root).unwrap()
}

fn refusal(workspace: &Workspace, operations: &str) -> String {
    let error = prepare(&patch(operations), &workspace.root)
        .unwrap_err()
        .to_string();
    error.replace(workspace.root.to_str().unwrap(), "$CWD")
}

const UPDATE_F: &str = "*** Update File: f\n-a\n+A";

#[test]
fn planning_writes_nothing_and_applying_leaves_nothing_behind() {
    let workspace = Workspace::with([("f", "a\n"), ("old/g", "b\n"), ("h", "c\n")]);
    let before = workspace.files();
    let operations = "*** Add File: new/n\n+1\n*** Update File: f\n-a\n+A\n*** Update File: old/g\n*** Move to: x/y/g\n-b\n+B\n*** Delete File: h";
    let plan = plan(&workspace, operations);
    assert_eq!(workspace.files(), before);
    let targets: Vec<PathBuf> = plan.targets().map(|it| it.path.to_owned()).collect();
    assert_eq!(
        targets,
        ["new/n", "f", "old/g", "x/y/g", "h"].map(|path| workspace.path(path))
    );
    let report = plan.apply().unwrap();
    let text = "Success. Updated the following files:\nA new/n\nM f\nM x/y/g\nD h\n";
    assert_eq!(report.to_string(), text);
    let files: Vec<(String, String)> = workspace.files().into_iter().collect();
    let expected = [("f", "A\n"), ("new/n", "1\n"), ("x/y/g", "B\n")];
    assert_eq!(
        files,
        expected.map(|(path, text)| (path.to_owned(), text.to_owned()))
    );
}

#[test]
fn a_file_changed_meanwhile_stops_everything() {
    for (operations, meanwhile) in [
        (
            "*** Add File: n\n+1\n*** Update File: f\n-a\n+A",
            Some("other\n"),
        ),
        ("*** Add File: n\n+1\n*** Update File: f\n-a\n+A", None),
        ("*** Add File: n\n+1\n*** Delete File: f", Some("other\n")),
        (
            "*** Add File: n\n+1\n*** Update File: f\n*** Move to: g\n-a\n+A",
            Some("other\n"),
        ),
    ] {
        let workspace = Workspace::with([("f", "a\n")]);
        let plan = plan(&workspace, operations);
        match meanwhile {
            Some(text) => workspace.write("f", text),
            None => fs::remove_file(workspace.path("f")).unwrap(),
        }
        let now = workspace.files();
        let error = plan.apply().unwrap_err();
        assert!(error.is_stale() && !error.is_partial());
        let text = "f was changed while the patch waited to be applied\nNothing was written.\n";
        assert_eq!(error.to_string(), text);
        assert_eq!(workspace.files(), now);
    }
}

#[test]
fn a_file_that_appeared_meanwhile_is_not_overwritten() {
    let workspace = Workspace::with([]);
    let plan = plan(&workspace, "*** Add File: n\n+1");
    workspace.write("n", "mine");
    assert!(plan.apply().unwrap_err().is_stale());
    assert_eq!(workspace.files()["n"], "mine");
}

#[test]
fn something_that_came_in_the_way_stops_everything() {
    let workspace = Workspace::with([("f", "a\n")]);
    let plan = plan(
        &workspace,
        "*** Update File: f\n-a\n+A\n*** Add File: d/n\n+1",
    );
    workspace.write("d", "in the way");
    let text = plan.apply().unwrap_err().to_string();
    let expected =
        "Failed to write file d/n: Not a directory (os error 20)\nNothing was written.\n";
    assert_eq!(text, expected);
    assert_eq!(workspace.files()["f"], "a\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_failure_half_way_says_what_was_done() {
    let workspace = Workspace::with([("f", "a\n")]);
    let impossible = "/proc/no-such-file";
    let operations = format!("*** Add File: n\n+1\n{UPDATE_F}\n*** Add File: {impossible}\n+1");
    let error = plan(&workspace, &operations).apply().unwrap_err();
    assert!(error.is_partial() && !error.is_stale());
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("Failed to write file {impossible}: ")),
        "{text}"
    );
    assert!(
        text.ends_with("\nWritten before the failure:\nA n\nM f\n"),
        "{text}"
    );
}

#[test]
fn impossible_places_are_refused_before_anything_is_written() {
    let workspace = Workspace::with([("f", "a\n"), ("dir/x", "")]);
    workspace.write("binary", [0xff, 0xfe]);
    let before = workspace.files();
    let prefix = "apply_patch verification failed: Failed to";
    for (operations, message) in [
        (
            "*** Update File: dir\n-a\n+A",
            "read file to update $CWD/dir: Is a directory (os error 21)",
        ),
        (
            "*** Delete File: dir",
            "read $CWD/dir: Is a directory (os error 21)",
        ),
        (
            "*** Add File: dir\n+1",
            "write file $CWD/dir: Is a directory (os error 21)",
        ),
        (
            "*** Add File: f/x\n+1",
            "create parent directories for $CWD/f/x: Not a directory (os error 20)",
        ),
        (
            "*** Add File: n\n+1\n*** Add File: n/x\n+1",
            "create parent directories for $CWD/n/x: not a directory",
        ),
        (
            "*** Update File: f\n*** Move to: f/x\n a",
            "create parent directories for $CWD/f/x: Not a directory (os error 20)",
        ),
        (
            "*** Update File: binary\n-a\n+A",
            "read file to update $CWD/binary: stream did not contain valid UTF-8",
        ),
        (
            "*** Delete File: binary",
            "read $CWD/binary: stream did not contain valid UTF-8",
        ),
        (
            "*** Add File: n\n+1\n*** Update File: gone\n-a\n+A",
            "read file to update $CWD/gone: No such file or directory (os error 2)",
        ),
    ] {
        assert_eq!(
            refusal(&workspace, operations),
            format!("{prefix} {message}")
        );
    }
    assert_eq!(workspace.files(), before);
}

#[test]
fn a_binary_file_can_be_overwritten() {
    let workspace = Workspace::with([]);
    workspace.write("f", [0xff]);
    plan(&workspace, "*** Add File: f\n+text").apply().unwrap();
    assert_eq!(workspace.files()["f"], "text\n");
}

#[test]
fn a_huge_file_is_refused() {
    let workspace = Workspace::with([]);
    let file = fs::File::create(workspace.path("f")).unwrap();
    file.set_len(quipu_patch::MAX_FILE_BYTES + 1).unwrap();
    assert!(
        refusal(&workspace, UPDATE_F)
            .ends_with("larger than 67108864 bytes, the most that can be patched")
    );
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn mode(workspace: &Workspace, path: &str) -> u32 {
        fs::metadata(workspace.path(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o7777
    }

    fn set_mode(workspace: &Workspace, path: &str, mode: u32) {
        fs::set_permissions(workspace.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn permissions_are_kept() {
        let workspace = Workspace::with([("f", "a\n"), ("g", "a\n")]);
        set_mode(&workspace, "f", 0o750);
        set_mode(&workspace, "g", 0o601);
        plan(&workspace, "*** Update File: f\n-a\n+A\n*** Update File: g\n*** Move to: h\n a\n*** Add File: n\n+1")
            .apply()
            .unwrap();
        assert_eq!(mode(&workspace, "f"), 0o750);
        assert_eq!(mode(&workspace, "h"), 0o601);
        workspace.write("like n", "");
        assert_eq!(mode(&workspace, "n"), mode(&workspace, "like n"));
    }

    #[test]
    fn hard_links_are_kept() {
        let workspace = Workspace::with([("f", "a\n")]);
        fs::hard_link(workspace.path("f"), workspace.path("g")).unwrap();
        plan(&workspace, UPDATE_F).apply().unwrap();
        assert_eq!(workspace.files()["g"], "A\n");
    }

    #[test]
    fn links_are_written_through_and_removed_themselves() {
        let workspace = Workspace::with([("real/f", "a\n")]);
        symlink("real/f", workspace.path("link")).unwrap();
        symlink("real", workspace.path("dir")).unwrap();
        symlink("real/new", workspace.path("dangling")).unwrap();
        let update = plan(
            &workspace,
            "*** Update File: link\n-a\n+A\n*** Add File: dangling\n+1\n*** Add File: dir/g\n+2",
        );
        let targets: Vec<PathBuf> = update.targets().map(|it| it.path.to_owned()).collect();
        assert_eq!(
            targets,
            ["real/f", "real/new", "real/g"].map(|path| workspace.path(path))
        );
        update.apply().unwrap();
        assert!(workspace.path("link").is_symlink() && workspace.path("dangling").is_symlink());
        assert_eq!(workspace.files()["real/f"], "A\n");
        assert_eq!(workspace.files()["real/new"], "1\n");
        plan(
            &workspace,
            "*** Delete File: link\n*** Update File: dangling\n*** Move to: moved\n 1",
        )
        .apply()
        .unwrap();
        assert!(!workspace.path("link").exists() && !workspace.path("dangling").is_symlink());
        assert_eq!(workspace.files()["real/f"], "A\n");
        assert_eq!(workspace.files()["real/new"], "1\n");
        assert_eq!(workspace.files()["moved"], "1\n");
    }

    #[test]
    fn one_file_by_two_names_gets_both_edits() {
        let workspace = Workspace::with([("real/f", "a\nb\n")]);
        symlink("real", workspace.path("dir")).unwrap();
        plan(
            &workspace,
            "*** Update File: dir/f\n-a\n+A\n*** Update File: real/../real/f\n-b\n+B",
        )
        .apply()
        .unwrap();
        assert_eq!(workspace.files()["real/f"], "A\nB\n");
    }

    #[test]
    fn a_link_that_was_removed_leads_nowhere() {
        let workspace = Workspace::with([("f", "a\n")]);
        symlink("f", workspace.path("link")).unwrap();
        plan(&workspace, "*** Delete File: link\n*** Add File: link\n+1")
            .apply()
            .unwrap();
        assert_eq!(workspace.files()["f"], "a\n");
        assert_eq!(workspace.files()["link"], "1\n");
    }

    #[test]
    fn a_pipe_is_refused_without_waiting() {
        let workspace = Workspace::with([]);
        symlink("/dev/zero", workspace.path("f")).unwrap();
        assert!(refusal(&workspace, UPDATE_F).ends_with("$CWD/f: not a regular file"));
        assert!(refusal(&workspace, "*** Add File: f\n+1").ends_with("$CWD/f: not a regular file"));
    }

    /// Root may write everything, so these refusals can be seen only by others.
    fn is_root(workspace: &Workspace) -> bool {
        fs::metadata(&workspace.root).unwrap().uid() == 0
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let workspace = Workspace::with([("f", "a\n"), ("g", "a\n")]);
        set_mode(&workspace, "f", 0o444);
        let plan = plan(
            &workspace,
            "*** Update File: g\n-a\n+A\n*** Update File: f\n-a\n+A",
        );
        if is_root(&workspace) {
            plan.apply().unwrap();
            assert_eq!(mode(&workspace, "f"), 0o444);
            return;
        }
        let error = plan.apply().unwrap_err();
        let text =
            "Failed to write file f: Permission denied (os error 13)\nNothing was written.\n";
        assert_eq!(error.to_string(), text);
        assert_eq!(workspace.files()["g"], "a\n");
    }

    #[test]
    fn a_file_in_a_read_only_directory_is_rewritten_in_place() {
        let workspace = Workspace::with([("dir/f", "a\n")]);
        set_mode(&workspace, "dir", 0o555);
        plan(&workspace, "*** Update File: dir/f\n-a\n+A")
            .apply()
            .unwrap();
        set_mode(&workspace, "dir", 0o755);
        assert_eq!(workspace.files()["dir/f"], "A\n");
    }
}

/// A policy looked at the places that the plan names; a link that appears since must not lead elsewhere.
#[test]
#[cfg(target_os = "linux")]
fn a_link_that_appeared_meanwhile_leads_nowhere() {
    let link = |from: PathBuf, to: PathBuf| std::os::unix::fs::symlink(to, from).unwrap();
    for operations in [
        "*** Add File: d/n\n+1",
        "*** Add File: d/e/n\n+1",
        "*** Update File: d/f\n-a\n+A",
        "*** Delete File: d/f",
    ] {
        let workspace = Workspace::with([("d/f", "a\n"), ("outside/f", "a\n")]);
        let plan = plan(&workspace, operations);
        fs::rename(workspace.path("d"), workspace.path("aside")).unwrap();
        link(workspace.path("d"), workspace.path("outside"));
        plan.apply().unwrap_err();
        let outside: Vec<_> = fs::read_dir(workspace.path("outside")).unwrap().collect();
        assert_eq!(outside.len(), 1, "{operations}");
        let text = fs::read_to_string(workspace.path("outside/f")).unwrap();
        assert_eq!(text, "a\n", "{operations}");
    }
    let workspace = Workspace::with([("f", "a\n"), ("outside", "a\n")]);
    let plan = plan(&workspace, "*** Update File: f\n-a\n+A");
    fs::remove_file(workspace.path("f")).unwrap();
    link(workspace.path("f"), workspace.path("outside"));
    plan.apply().unwrap();
    assert!(!workspace.path("f").is_symlink());
    let text = fs::read_to_string(workspace.path("outside")).unwrap();
    assert_eq!(text, "a\n");
}
