//! Working with git inside a sandbox.

use std::{fs, path::Path};

use quipu_sandbox::{Enforcement, Exit, Grants, Policy, Rules, WorkspaceWrite};

use crate::lab::{BACKENDS, Finished, Scratch, finish};

const IDENTITY: &str = "git -c user.name=n -c user.email=e@example.org";

async fn git(scratch: &Scratch, script: &str, enforcement: Enforcement) -> Finished {
    let mut command = scratch.shell(script, enforcement);
    command
        .env
        .push(("HOME".into(), scratch.outside.clone().into()));
    finish(command).await
}

/// Makes `outside` a repository and `workspace` a worktree of it.
async fn linked() -> Scratch {
    let scratch = Scratch::new();
    let outside = scratch.outside.display();
    let workspace = scratch.workspace.display();
    let script = format!(
        "cd {outside} && git init -q -b main && {IDENTITY} commit -q --allow-empty -m first && \
         rmdir {workspace} && git worktree add -q {workspace} -b work"
    );
    let mut command = crate::lab::shell(&script, &scratch.outside, Policy::FullAccess);
    command
        .env
        .push(("HOME".into(), scratch.outside.clone().into()));
    let done = finish(command).await;
    assert_eq!(done.exit, Exit::Code(0), "{done:?}");
    scratch
}

#[tokio::test]
async fn a_linked_worktree_can_commit() {
    for enforcement in BACKENDS {
        let scratch = linked().await;
        let script = format!(
            "echo text > new.txt && git add new.txt && {IDENTITY} commit -q -m second && \
             git log --format=%s && git status --porcelain"
        );
        let done = git(&scratch, &script, enforcement).await;
        assert_eq!(done.stdout, "second\nfirst\n", "{enforcement:?} {done:?}");
    }
}

#[tokio::test]
async fn a_linked_worktree_cannot_steer_git() {
    for enforcement in BACKENDS {
        let scratch = linked().await;
        let repository = scratch.outside.join(".git");
        let own = repository.join("worktrees/workspace");
        for path in [
            repository.join("hooks/pre-commit"),
            repository.join("config"),
            repository.join("description"),
            own.join("commondir"),
            own.join("gitdir"),
            own.join("config.worktree"),
            scratch.workspace.join(".git"),
        ] {
            let before = fs::read(&path).unwrap_or_default();
            let path_text = path.display();
            let script = format!(
                "echo evil >> {path_text}; rm -f {path_text}; echo evil > x; mv -f x {path_text}; \
                 ln -sf /evil {path_text}"
            );
            git(&scratch, &script, enforcement).await;
            assert_eq!(
                fs::read(&path).unwrap_or_default(),
                before,
                "{enforcement:?} {path_text}"
            );
        }
    }
}

#[tokio::test]
async fn a_forged_link_opens_nothing() {
    let scratch = Scratch::new();
    let victim = scratch.outside.join("worktrees/x");
    fs::create_dir_all(&victim).unwrap();
    fs::create_dir(scratch.outside.join("objects")).unwrap();
    fs::write(
        scratch.workspace.join(".git"),
        format!("gitdir: {}\n", victim.display()),
    )
    .unwrap();
    let can_write = |path: &Path| {
        let policy = Policy::WorkspaceWrite(scratch.policy());
        Rules::resolve(&policy, &Grants::default())
            .unwrap()
            .can_write(path)
    };
    assert!(!can_write(&victim.join("index")), "no link back");
    fs::write(victim.join("gitdir"), "/somewhere/else/.git").unwrap();
    assert!(
        !can_write(&victim.join("index")),
        "the link back leads elsewhere"
    );
    assert!(!can_write(&scratch.outside.join("objects/x")));
    let back = scratch.workspace.join(".git");
    fs::write(victim.join("gitdir"), back.display().to_string()).unwrap();
    assert!(can_write(&victim.join("index")), "a mutual link");
    assert!(can_write(&scratch.outside.join("objects/x")));
    assert!(!can_write(&victim.join("commondir")));
    assert!(!can_write(&scratch.outside.join("config")));
    assert!(!can_write(&back));
}

#[tokio::test]
async fn an_ordinary_repository_is_read_only() {
    for enforcement in BACKENDS {
        let scratch = Scratch::new();
        let mut command = crate::lab::shell(
            &format!("git init -q && {IDENTITY} commit -q --allow-empty -m first"),
            &scratch.workspace,
            Policy::FullAccess,
        );
        command
            .env
            .push(("HOME".into(), scratch.outside.clone().into()));
        assert_eq!(finish(command).await.exit, Exit::Code(0));
        let read = git(&scratch, "git log --format=%s", enforcement).await;
        assert_eq!(read.stdout, "first\n", "{read:?}");
        let commit = format!("{IDENTITY} commit -q --allow-empty -m second");
        let write = git(&scratch, &commit, enforcement).await;
        assert_ne!(write.exit, Exit::Code(0));
        let opened = WorkspaceWrite {
            writable_roots: vec![scratch.workspace.join(".git")],
            ..scratch.policy()
        };
        let mut command =
            crate::lab::shell(&commit, &scratch.workspace, Policy::WorkspaceWrite(opened));
        command.enforcement = enforcement;
        command
            .env
            .push(("HOME".into(), scratch.outside.clone().into()));
        let done = finish(command).await;
        assert_eq!(
            done.exit,
            Exit::Code(0),
            "named by itself it is open: {done:?}"
        );
    }
}

#[tokio::test]
async fn a_repository_in_another_writable_directory_cannot_be_steered() {
    for enforcement in BACKENDS {
        let scratch = linked().await;
        let repository = scratch.outside.join(".git");
        let around = scratch.outside.parent().unwrap();
        let policy = WorkspaceWrite {
            writable_roots: vec![around.to_path_buf()],
            ..scratch.policy()
        };
        let script = format!(
            "echo evil > {0}/hooks/pre-commit; echo evil >> {0}/config; mv {0} {0}.away; \
             echo text > new.txt && git add new.txt && {IDENTITY} commit -q -m second && \
             git log --format=%s",
            repository.display()
        );
        let mut command = scratch.shell(&script, enforcement);
        command.policy = Policy::WorkspaceWrite(policy);
        command
            .env
            .push(("HOME".into(), scratch.outside.clone().into()));
        let done = finish(command).await;
        assert_eq!(done.stdout, "second\nfirst\n", "{enforcement:?} {done:?}");
        assert!(!repository.join("hooks/pre-commit").exists());
        let config = fs::read_to_string(repository.join("config")).unwrap();
        assert!(!config.contains("evil"), "{enforcement:?} {done:?}");
    }
}
