//! What one command does to the directories that the next one's policy names.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use quipu_sandbox::{
    Command, Enforcement, Grants, Policy, Readable, Rules, SpawnError, WorkspaceWrite, spawn,
};

use crate::lab::{BACKENDS, Scratch, finish, is_in_role, shell, test_process, user_id};

/// All mechanisms, with the Landlock that leaves the most to the supervisor.
const WAYS: [Enforcement; 3] = [BACKENDS[0], BACKENDS[1], Enforcement::OldLandlock(1)];

fn command(script: &str, policy: &WorkspaceWrite, enforcement: Enforcement) -> Command {
    let workspace = policy.workspace.clone();
    Command {
        enforcement,
        ..shell(script, &workspace, Policy::WorkspaceWrite(policy.clone()))
    }
}

fn can_write(policy: &WorkspaceWrite, path: &Path) -> bool {
    Rules::resolve(&Policy::WorkspaceWrite(policy.clone()), &Grants::default())
        .unwrap()
        .can_write(path)
}

/// Tries to put a link to `outside` in the place of a directory, by all means.
fn swap(directory: &Path, outside: &Path) -> String {
    let (directory, outside) = (directory.display(), outside.display());
    format!(
        "mv {directory} {directory}.away; ln -s {outside} {directory}.link; mv -T {directory}.link {directory}; \
         rmdir {directory}; ln -sT {outside} {directory}; true"
    )
}

/// Runs a test again in a process that has started no commands yet.
fn repeat_alone(test: &str, env: &[(&str, &Path)]) {
    let mut process = test_process(test, user_id());
    let done = process.envs(env.iter().copied()).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        said.contains("1 passed"),
        "{test} is not the name of a test"
    );
}

#[tokio::test]
async fn a_root_inside_another_stays_where_it_is() {
    for enforcement in WAYS {
        let scratch = Scratch::new();
        let [build, way] = ["build", "way"].map(|name| scratch.workspace.join(name));
        let deep = way.join("deep");
        fs::create_dir(&build).unwrap();
        fs::create_dir_all(&deep).unwrap();
        let policy = WorkspaceWrite {
            writable_roots: vec![build.clone(), deep.clone()],
            ..scratch.policy()
        };
        for directory in [&build, &deep, &way] {
            let done = finish(command(
                &swap(directory, &scratch.outside),
                &policy,
                enforcement,
            ))
            .await;
            assert!(
                !directory.is_symlink() && directory.is_dir(),
                "{enforcement:?} {done:?}"
            );
        }
        let script = format!(
            "echo x > build/new && mv build/new way/deep/ && touch {}/a",
            scratch.outside.display()
        );
        let done = finish(command(&script, &policy, enforcement)).await;
        assert!(deep.join("new").exists(), "{enforcement:?} {done:?}");
        assert_eq!(fs::read_dir(&scratch.outside).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn the_temporary_directory_stays_where_it_is() {
    if !is_in_role() {
        let scratch = Scratch::new();
        let directory = scratch.workspace.join("x/user");
        fs::create_dir_all(&directory).unwrap();
        let (around, outside) = (scratch.workspace.as_path(), scratch.outside.as_path());
        return repeat_alone(
            "roots::the_temporary_directory_stays_where_it_is",
            &[
                ("TMPDIR", &directory),
                ("AROUND", around),
                ("OUTSIDE", outside),
            ],
        );
    }
    let path = |name| PathBuf::from(std::env::var_os(name).unwrap());
    let (directory, outside) = (path("TMPDIR"), path("OUTSIDE"));
    for enforcement in WAYS {
        let policy = WorkspaceWrite {
            writable_roots: vec![directory.clone()],
            ..WorkspaceWrite::new(path("AROUND"))
        };
        let done = finish(command(&swap(&directory, &outside), &policy, enforcement)).await;
        assert!(
            !directory.is_symlink() && directory.is_dir(),
            "{enforcement:?} {done:?}"
        );
    }
}

#[tokio::test]
async fn a_directory_that_another_command_led_astray_is_refused() {
    for enforcement in WAYS {
        let scratch = Scratch::new();
        let around = &scratch.workspace;
        let [own, planted] = ["own", "planted"].map(|name| around.join(name));
        fs::create_dir(&own).unwrap();
        let of = |workspace: &Path| WorkspaceWrite {
            workspace: workspace.to_path_buf(),
            ..scratch.policy()
        };
        // A directory that was in use before, and one that nobody has named yet.
        finish(command("true", &of(&own), enforcement)).await;
        let script = format!(
            "mv own away; ln -s {0} own; ln -s {0} planted",
            scratch.outside.display()
        );
        finish(command(&script, &scratch.policy(), enforcement)).await;
        for link in [&own, &planted] {
            assert!(link.is_symlink());
            let inside_root = WorkspaceWrite {
                writable_roots: vec![link.clone()],
                ..of(&around.join("away"))
            };
            let only_readable = WorkspaceWrite {
                readable: Readable::Only {
                    roots: vec![link.clone()],
                    platform_defaults: true,
                },
                ..of(&around.join("away"))
            };
            for policy in [of(link), inside_root, only_readable] {
                let refused = spawn(command("touch a", &policy, enforcement)).await;
                let error = refused.err().unwrap();
                assert!(
                    matches!(&error, SpawnError::StrayRoot { link: found, .. } if found == link),
                    "{error}"
                );
                assert!(!can_write(&policy, &scratch.outside.join("a")));
            }
        }
        assert_eq!(fs::read_dir(&scratch.outside).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_link_that_was_there_before_is_followed() {
    if !is_in_role() {
        return repeat_alone("roots::a_link_that_was_there_before_is_followed", &[]);
    }
    for enforcement in WAYS {
        let scratch = Scratch::new();
        let (workspace, data) = (&scratch.workspace, &scratch.outside);
        let link = workspace.with_file_name("link");
        symlink(workspace, &link).unwrap();
        let inner = workspace.join("inner");
        symlink(data, &inner).unwrap();
        let policy = WorkspaceWrite {
            workspace: link,
            writable_roots: vec![inner.clone()],
            ..scratch.policy()
        };
        // The second time it lies where commands can make links, but it still leads to the same place.
        for name in ["first", "second"] {
            let script = format!("touch {name} inner/{name}");
            let done = finish(command(&script, &policy, enforcement)).await;
            assert!(workspace.join(name).exists(), "{enforcement:?} {done:?}");
            assert!(data.join(name).exists(), "{enforcement:?} {done:?}");
            assert!(can_write(&policy, &data.join(name)));
        }
        finish(command("ln -sfT / inner", &policy, enforcement)).await;
        let error = spawn(command("true", &policy, enforcement)).await.err();
        assert!(error.unwrap().to_string().contains("symbolic link"));
    }
}

#[tokio::test]
async fn no_configuration_can_be_made_up_around_the_workspace() {
    for enforcement in WAYS {
        let scratch = Scratch::new();
        let project = &scratch.workspace;
        let [directory, other] = ["a/b", "other"].map(|name| project.join(name));
        fs::create_dir_all(&directory).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::create_dir_all(project.join("a/b/c")).unwrap();
        let policy = WorkspaceWrite {
            workspace: directory,
            writable_roots: vec![project.clone(), other],
            ..scratch.policy()
        };
        let script = "for it in . .. ../.. ../../other; do \
                      mkdir -p $it/.codex; touch $it/.codex/config.toml; \
                      ln -sT c $it/.codex; mv -T c $it/.codex; done; ls -d c";
        let done = finish(command(script, &policy, enforcement)).await;
        assert_eq!(done.stdout, "c\n", "{enforcement:?} {done:?}");
        for directory in ["", "a", "a/b", "other"] {
            let made = project.join(directory).join(".codex");
            assert!(!can_write(&policy, &made), "{directory}");
            let count = fs::read_dir(&made).map_or(0, Iterator::count);
            assert!(!made.is_symlink() && count == 0, "{enforcement:?} {made:?}");
        }
    }
}

#[tokio::test]
async fn who_opens_everything_does_not_open_the_kernels_switches() {
    let everything = WorkspaceWrite::new("/");
    for path in ["/proc/sys/kernel/core_pattern", "/sys/kernel/uevent_helper"] {
        assert!(!can_write(&everything, Path::new(path)), "{path}");
    }
    let named = WorkspaceWrite {
        writable_roots: vec!["/sys".into()],
        ..everything
    };
    assert!(can_write(&named, Path::new("/sys/kernel/uevent_helper")));
}
