//! Where the model reads that it may write, where patches may write without a question, and where the sandbox lets
//! commands write: these must be the same directories.

use std::path::{Path, PathBuf};

use quipu_policy::writable::writable_roots;
use quipu_sandbox::{Grants, Rules};
use quipu_tools::{Guarded, Scope, sandbox_policy};
use quipu_wire::{AbsolutePath, SandboxPolicy};
use serde_json::json;

use crate::lab::{Lab, function, text};

/// Whether a patch adds a file there; nobody can be asked.
async fn patch_writes(lab: &Lab, scope: Scope, directory: &Path) -> bool {
    let file = directory.join(format!("patched-{}", std::process::id()));
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n",
        file.display()
    );
    let call = function("apply_patch", &json!({ "input": patch }).to_string());
    let finished = lab.run(scope, call).await;
    let written = file.exists();
    if written {
        std::fs::remove_file(&file).unwrap();
    }
    assert_eq!(
        text(&finished).starts_with("Exit code: 0"),
        written,
        "{finished:?}"
    );
    written
}

/// Whether the sandbox lets commands write there.
fn sandbox_writes(scope: &Scope, directory: &Path) -> bool {
    let guarded = Guarded {
        home: &scope.home,
        credentials: &[],
        denied: &[],
        trusted: &[],
    };
    let policy = sandbox_policy(&scope.sandbox, &scope.cwd, scope.tmpdir.as_deref(), guarded);
    let rules = Rules::resolve(&policy, &Grants::default());
    rules.is_some_and(|rules| rules.can_write(&directory.join("new")))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_patches_and_the_sandbox_agree() {
    // Not below `/tmp`, which is writable itself in some of the cases.
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let base = base.path().canonicalize().unwrap();
    let [workspace, extra, tmpdir, outside] =
        ["w", "extra", "t", "outside"].map(|name| base.join(name));
    for directory in [&workspace, &extra, &tmpdir, &outside, &workspace.join("t")] {
        std::fs::create_dir(directory).unwrap();
    }
    let policy = |exclude: bool| -> SandboxPolicy {
        let root = AbsolutePath::new(&extra).unwrap();
        serde_json::from_value(json!({
            "type": "workspaceWrite", "writableRoots": [root],
            "excludeTmpdirEnvVar": exclude, "excludeSlashTmp": exclude,
        }))
        .unwrap()
    };
    let read_only = || serde_json::from_value(json!({ "type": "readOnly" })).unwrap();
    let everywhere = [&workspace, &extra, &tmpdir, &outside, Path::new("/tmp")].map(Path::to_owned);
    let slash_tmp = PathBuf::from("/tmp");
    let cases: [(SandboxPolicy, Option<PathBuf>, Vec<&PathBuf>); 5] = [
        (
            policy(false),
            Some(tmpdir.clone()),
            vec![&workspace, &extra, &slash_tmp, &tmpdir],
        ),
        (policy(false), None, vec![&workspace, &extra, &slash_tmp]),
        // Relative to what, nobody knows.
        (
            policy(false),
            Some(PathBuf::from("../t")),
            vec![&workspace, &extra, &slash_tmp],
        ),
        (policy(true), Some(tmpdir.clone()), vec![&workspace, &extra]),
        (read_only(), Some(tmpdir.clone()), vec![]),
    ];
    let lab = Lab::new();
    for (sandbox, tmpdir, expected) in cases {
        let scope = Scope {
            sandbox,
            tmpdir,
            cwd: workspace.clone(),
            ..lab.scope()
        };
        let messages = writable_roots(&scope.sandbox, &scope.cwd, scope.tmpdir.as_deref());
        for directory in &everywhere {
            let case = format!(
                "{directory:?} with {:?} and {:?}",
                scope.sandbox, scope.tmpdir
            );
            let is_expected = expected.contains(&directory);
            assert_eq!(
                messages.contains(directory),
                is_expected,
                "the model: {case}"
            );
            assert_eq!(
                sandbox_writes(&scope, directory),
                is_expected,
                "the sandbox: {case}"
            );
            let patched = patch_writes(&lab, scope.clone(), directory).await;
            assert_eq!(patched, is_expected, "patches: {case}");
        }
    }
}
