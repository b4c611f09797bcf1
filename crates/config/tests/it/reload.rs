//! A snapshot lasts as long as the files do.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use quipu_config::requirements::AllowedSandbox;
use quipu_config::{
    CloudError, CloudErrorKind, CloudLimits, Enablement, Feature, LoadRequest, Loader, Snapshot,
    Trust,
};

use crate::world::World;

fn load(loader: &Loader) -> Arc<Snapshot> {
    loader.load(&LoadRequest::default()).unwrap()
}

/// Makes everything look old, as it is most of the time.
fn settle(path: &Path) {
    let old = SystemTime::now() - Duration::from_secs(60);
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            settle(&entry);
        }
        fs::File::open(&entry).unwrap().set_modified(old).unwrap();
    }
}

#[test]
fn files_are_read_again_only_when_they_change() {
    let world = World::new();
    world.config("model = \"a\"\n");
    world.write("w/.git/HEAD", "x");
    settle(&world.path(""));
    let loader = world.loader();
    let first = load(&loader);
    assert!(Arc::ptr_eq(&first, &load(&loader)));

    world.config("model = \"b\"\n");
    let second = load(&loader);
    assert_eq!(second.model().model.as_deref(), Some("b"));
    assert_eq!(
        first.model().model.as_deref(),
        Some("a"),
        "a snapshot never changes"
    );
}

#[test]
fn a_change_within_the_clock_tick_is_seen() {
    let world = World::new();
    let loader = world.loader();
    for number in 0..50 {
        world.config(&format!("model = \"{number:02}\"\n"));
        assert_eq!(load(&loader).model().model, Some(format!("{number:02}")));
    }
}

#[test]
fn new_files_count_at_once() {
    let world = World::new();
    world.write("w/.git/HEAD", "x");
    settle(&world.path(""));
    let loader = world.loader();
    assert_eq!(load(&loader).model().model, None);
    world.write("w/.codex/config.toml", "model = \"project\"\n");
    assert_eq!(load(&loader).model().model, None, "not trusted");
    world.config("[projects.\"$D/w\"]\ntrust_level = \"trusted\"\n");
    let snapshot = load(&loader);
    assert_eq!(snapshot.model().model.as_deref(), Some("project"));
    assert_eq!(snapshot.trust(), Some(Trust::Trusted));
    world.write("e/managed_config.toml", "model = \"managed\"\n");
    assert_eq!(load(&loader).model().model.as_deref(), Some("managed"));
    world.write(
        "e/requirements.toml",
        "allowed_sandbox_modes = [\"read-only\"]\n",
    );
    assert!(load(&loader).requirements().sandbox_modes.is_some());
}

#[test]
fn switches_and_limits_of_the_process_count_at_once() {
    let world = World::new();
    settle(&world.path(""));
    let loader = world.loader();
    assert!(
        load(&loader)
            .features()
            .enabled(Feature::ToolCallMcpElicitation)
    );
    loader
        .set_enablement(&Enablement::from([(
            "tool_call_mcp_elicitation".to_owned(),
            false,
        )]))
        .unwrap();
    assert!(
        !load(&loader)
            .features()
            .enabled(Feature::ToolCallMcpElicitation)
    );
    let pinned = "[features]\ntool_call_mcp_elicitation = true\n".to_owned();
    loader.set_cloud_limits(CloudLimits::read(Some(pinned)).unwrap());
    assert!(
        load(&loader)
            .features()
            .enabled(Feature::ToolCallMcpElicitation)
    );
    for broken in ["broken", "[features]\nnone_such = true\n"] {
        assert_eq!(CloudLimits::read(Some(broken.to_owned())), None);
    }
    loader.set_cloud_limits(CloudLimits::Unavailable(CloudError {
        kind: CloudErrorKind::RequestFailed,
        detail: "not known".to_owned(),
        status: None,
    }));
    let error = loader.load(&LoadRequest::default()).unwrap_err();
    assert_eq!(error.to_string(), "not known");
    assert!(loader.load_without_cloud().is_ok());
    let strictest = loader.start_up().unwrap().snapshot;
    assert!(
        strictest
            .requirements()
            .allow_sandbox(AllowedSandbox::WorkspaceWrite)
            .is_err(),
        "what is not known is not lifted"
    );
}

#[test]
fn a_project_cannot_trust_itself() {
    let world = World::new();
    world.write("w/.git/HEAD", "x");
    let own = "[projects.\"$D/w\"]\ntrust_level = \"trusted\"\n";
    world.write("w/.codex/config.toml", own);
    world.write(
        "w/sub/.codex/config.toml",
        "[projects.\"$D/w/other\"]\ntrust_level = \"trusted\"\n",
    );
    world.config("[projects.\"$D/w/sub\"]\ntrust_level = \"trusted\"\n");
    let loader = world.loader();
    assert_eq!(load(&loader).trust(), None);
    let other = world.path("w/other");
    let request = LoadRequest {
        cwd: Some(&other),
        ..LoadRequest::default()
    };
    assert_eq!(loader.load(&request).unwrap().trust(), None);
}

/// Sandboxed commands can write below a project's root, so trust in the root does not cover what is there.
#[test]
fn settings_below_the_root_need_an_entry_of_their_own() {
    let world = World::new();
    world.write("w/.git/HEAD", "x");
    world.write("w/.codex/config.toml", "model = \"root\"\n");
    world.write("w/sub/.codex/config.toml", "model = \"sub\"\n");
    world.write("w/sub/.codex/agents/a.toml", "description = \"a\"\n");
    let trust = |place: &str| format!("[projects.\"$D/{place}\"]\ntrust_level = \"trusted\"\n");
    let sub = world.path("w/sub");
    let load = || {
        let request = LoadRequest {
            cwd: Some(&sub),
            ..LoadRequest::default()
        };
        world.loader().load(&request).unwrap()
    };
    world.config(&trust("w"));
    let snapshot = load();
    assert_eq!(snapshot.model().model.as_deref(), Some("root"));
    assert_eq!(snapshot.project().unwrap().trusted, [world.path("w")]);
    assert!(snapshot.agents().roles.is_empty());
    let reasons = snapshot
        .stack()
        .layers()
        .iter()
        .filter_map(|it| it.disabled_reason.as_deref());
    let reasons: Vec<_> = reasons.collect();
    assert_eq!(reasons.len(), 1);
    assert!(
        reasons[0].contains(&format!("add {} as a trusted", sub.display())),
        "{reasons:?}"
    );
    world.config(&format!("{}{}", trust("w"), trust("w/sub")));
    assert_eq!(load().model().model.as_deref(), Some("sub"));
}

/// Anybody can write a `.git` file that names a trusted repository; that the repository points back counts.
#[test]
fn a_worktree_is_trusted_if_its_repository_knows_it() {
    let world = World::new();
    world.write("main/.git/HEAD", "x");
    world.write("main/.git/worktrees/a/gitdir", "$D/w/.git\n");
    world.write("w/.codex/config.toml", "model = \"worktree\"\n");
    world.write("forged/.codex/config.toml", "model = \"forged\"\n");
    world.config("[projects.\"$D/main\"]\ntrust_level = \"trusted\"\n");
    for (place, expected) in [("w", Some("worktree")), ("forged", None)] {
        world.write(
            &format!("{place}/.git"),
            "gitdir: $D/main/.git/worktrees/a\n",
        );
        let cwd = world.path(place);
        let request = LoadRequest {
            cwd: Some(&cwd),
            ..LoadRequest::default()
        };
        let snapshot = world.loader().load(&request).unwrap();
        assert_eq!(snapshot.model().model.as_deref(), expected, "{place}");
        assert_eq!(
            snapshot.trusted_projects(),
            [world.path("main"), world.path("w")]
        );
    }
}
