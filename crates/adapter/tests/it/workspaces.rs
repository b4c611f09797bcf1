//! What gets into a workspace, and what does not.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use quipu_adapter::{Mount, Workspace, WorkspaceError};
use tempfile::TempDir;

/// `root/repo` with files, and a secret beside it.
fn host() -> TempDir {
    let host = tempfile::tempdir().unwrap();
    let repo = host.path().join("root/repo");
    fs::create_dir_all(repo.join("src/deep")).unwrap();
    fs::write(repo.join("readme.md"), "readme").unwrap();
    fs::write(repo.join("src/main.rs"), "fn main() {}").unwrap();
    fs::write(repo.join("src/deep/big.bin"), vec![0; 4096]).unwrap();
    fs::write(host.path().join("secret"), "secret").unwrap();
    host
}

#[test]
fn mounts_are_copied_as_globs_say() {
    let host = host();
    let repo = host.path().join("root/repo");
    fs::set_permissions(repo.join("src/main.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../readme.md", repo.join("src/link.md")).unwrap();
    let mount = Mount::new(&repo, "repo")
        .include("**/*.rs")
        .include("**/*.md")
        .exclude("src/deep");
    let workspace = Workspace::builder()
        .allow_root(host.path().join("root"))
        .mount(mount)
        .build()
        .unwrap();
    let copy = workspace.path().join("repo");
    assert_eq!(
        fs::read_to_string(copy.join("src/main.rs")).unwrap(),
        "fn main() {}"
    );
    assert_eq!(
        fs::metadata(copy.join("src/main.rs"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o755
    );
    assert_eq!(
        fs::read_to_string(copy.join("src/link.md")).unwrap(),
        "readme"
    );
    assert!(
        fs::canonicalize(copy.join("src/link.md"))
            .unwrap()
            .starts_with(workspace.path())
    );
    assert!(!copy.join("src/deep").exists());
    let preview = &workspace.previews()[0];
    assert_eq!((preview.files, preview.bytes), (2, 18));
    let entries: Vec<_> = preview
        .entries
        .iter()
        .map(|it| it.to_str().unwrap())
        .collect();
    assert_eq!(entries, ["readme.md", "src/main.rs"]);
}

#[test]
fn nothing_outside_the_allowed_roots_is_copied() {
    let host = host();
    let (root, repo) = (host.path().join("root"), host.path().join("root/repo"));
    symlink(host.path(), root.join("out")).unwrap();
    let refused = |mount: Mount| {
        let error = Workspace::builder()
            .allow_root(&root)
            .mount(mount)
            .build()
            .unwrap_err();
        assert!(matches!(error, WorkspaceError::Security { .. }), "{error}");
    };
    refused(Mount::new(host.path().join("secret"), "a"));
    refused(Mount::new(root.join("../secret"), "a"));
    refused(Mount::new(root.join("out/secret"), "a"));
    refused(Mount::new(&repo, "../a"));
    refused(Mount::new(&repo, "/tmp/a"));
    refused(Mount::new(&root, "a"));
    symlink("../../../../secret", repo.join("src/deep/link")).unwrap();
    refused(Mount::new(&repo, "a"));
    // What is excluded is not looked at.
    let mount = Mount::new(&repo, "a").exclude("src/deep/link");
    Workspace::builder()
        .allow_root(&root)
        .mount(mount)
        .build()
        .unwrap();
    // Without an allowed root nothing is allowed.
    let error = Workspace::builder()
        .mount(Mount::new(&repo, "a"))
        .build()
        .unwrap_err();
    assert!(matches!(error, WorkspaceError::Security { .. }), "{error}");
}

#[test]
fn limits_hold_for_mounts_and_for_all() {
    let host = host();
    let repo = host.path().join("root/repo");
    let build = |mount_limit: u64, limit: u64| {
        let mount = Mount::new(&repo, "a").max_bytes(mount_limit);
        Workspace::builder()
            .allow_root(&repo)
            .mount(mount)
            .max_bytes(limit)
            .build()
    };
    let all = 4096 + 18;
    assert!(build(all, all).is_ok());
    for (mount_limit, limit) in [(all - 1, all), (all, all - 1)] {
        let error = build(mount_limit, limit).unwrap_err();
        assert!(
            matches!(error, WorkspaceError::BudgetExceeded { limit, .. } if limit == all - 1),
            "{error}"
        );
    }
    let twice = Workspace::builder().allow_root(&repo).max_bytes(all);
    let twice = twice
        .mount(Mount::new(&repo, "a"))
        .mount(Mount::new(&repo, "b"))
        .build();
    assert!(matches!(twice, Err(WorkspaceError::BudgetExceeded { .. })));
}

/// Workspaces that cannot be made leave nothing, however far they came. The test runs itself once more with a
/// directory for temporary files that is its own.
#[test]
#[expect(clippy::disallowed_methods, reason = "this test, once more")]
fn a_refused_workspace_leaves_nothing_behind() {
    const VARIABLE: &str = "QUIPU_ADAPTER_TEST_WORKSPACE";
    let Some(host) = std::env::var_os(VARIABLE) else {
        let (host, temporary) = (host(), tempfile::tempdir().unwrap());
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "workspaces::a_refused_workspace_leaves_nothing_behind",
            ])
            .env(VARIABLE, host.path())
            .env("TMPDIR", temporary.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        return;
    };
    let host = std::path::PathBuf::from(host);
    let build = |mount: Mount, limit: u64| {
        let workspace = Workspace::builder().allow_root(host.join("root"));
        let first = Mount::new(host.join("root/repo/readme.md"), "first.md");
        workspace.mount(first).mount(mount).max_bytes(limit).build()
    };
    let repo = host.join("root/repo");
    let refused = build(Mount::new(&repo, "../out"), 10_000);
    assert!(matches!(refused, Err(WorkspaceError::Security { .. })));
    let refused = build(Mount::new(&repo, "repo"), 1000);
    assert!(matches!(
        refused,
        Err(WorkspaceError::BudgetExceeded { .. })
    ));
    symlink("../../../secret", repo.join("src/link")).unwrap();
    let refused = build(Mount::new(&repo, "repo"), 10_000);
    assert!(matches!(refused, Err(WorkspaceError::Security { .. })));
}

#[test]
fn a_workspace_is_removed_once() {
    let workspace = Workspace::builder().build().unwrap();
    let path = workspace.path().to_owned();
    assert!(path.is_dir());
    workspace.cleanup().unwrap();
    assert!(!path.exists());
    workspace.cleanup().unwrap();
}

#[test]
fn the_fingerprint_is_of_what_it_is_made_of() {
    let host = host();
    let repo = host.path().join("root/repo");
    let (a, b) = (
        Mount::new(&repo, "a"),
        Mount::new(&repo, "b").exclude("x").exclude("y"),
    );
    let of = |mounts: [Mount; 2], limit: u64| {
        let builder = mounts
            .into_iter()
            .fold(Workspace::builder(), |it, mount| it.mount(mount));
        builder
            .allow_root(&repo)
            .max_bytes(limit)
            .build()
            .unwrap()
            .fingerprint()
            .to_owned()
    };
    let first = of([a.clone(), b.clone()], 100_000);
    let turned = Mount::new(&repo, "b").exclude("y").exclude("x");
    assert_eq!(first, of([turned, a.clone()], 100_000));
    assert_ne!(first, of([a.clone(), b.clone()], 100_001));
    assert_ne!(first, of([a, b.include("**")], 100_000));
}
