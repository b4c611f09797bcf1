//! Each consumer gets its settings, with defaults applied.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_config::settings::{
    AppToolHints, CredentialsStore, Exporter, Inherit, McpToolApproval, McpTransport, SkillSelector,
};
use quipu_config::{Env, Home, HomeError, LoadRequest, Loader, Overrides, Snapshot};
use quipu_wire::{AskForApproval, Personality, SandboxPolicy, WebSearchMode};

use crate::world::World;

fn snapshot(world: &World) -> Arc<Snapshot> {
    world.loader().load(&LoadRequest::default()).unwrap()
}

#[test]
fn defaults() {
    let world = World::new();
    let config = snapshot(&world);
    let model = config.model();
    assert_eq!(
        (model.model, model.provider, model.personality),
        (None, None, Personality::Pragmatic)
    );
    assert_eq!(
        config.permissions().approval_policy,
        AskForApproval::OnRequest
    );
    assert!(matches!(
        config.permissions().sandbox_policy,
        SandboxPolicy::ReadOnly { .. }
    ));
    assert_eq!(config.tools().web_search, WebSearchMode::Cached);
    assert!(config.tools().view_image);
    assert_eq!(config.project_docs().max_bytes, 32768);
    assert_eq!(config.project_docs().root_markers, [".git"]);
    assert_eq!(config.agents().max_threads, 6);
    assert_eq!(config.account().credentials_store, CredentialsStore::File);
    assert_eq!(config.shell_environment().inherit, Inherit::All);
    assert_eq!(config.telemetry().logs, Exporter::None);
    assert!(config.telemetry().feedback);
    let env = Env::new([("CODEX_SQLITE_HOME", "db")], world.path("w"));
    assert_eq!(config.storage(&env).sqlite_home, world.path("w/db"));
    assert!(config.mcp_servers().is_empty());
    assert!(config.skills().bundled);
    assert_eq!(config.notes(), &[] as &[String]);
}

#[test]
fn providers() {
    let world = World::new();
    world.config(
        "model_provider = \"mine\"\n[model_providers.mine]\nname = \"Mine\"\nbase_url = \"http://x/v1\"\n\
         env_key = \"MINE_KEY\"\nwire_api = \"chat\"\nrequest_max_retries = 1000\n\
         experimental_bearer_token = \"very-secret\"\nhttp_headers = { Auth = \"very-secret\" }\n",
    );
    let config = snapshot(&world);
    assert_eq!(config.model().provider.as_deref(), Some("mine"));
    assert!(!format!("{config:?}").contains("very-secret"));
}

#[test]
fn mcp_servers() {
    let world = World::new();
    world.config(
        "[mcp_servers.a]\ncommand = \"run\"\nargs = [\"x\"]\nstartup_timeout_ms = 1500\n\
         [mcp_servers.a.tools.t]\napproval_mode = \"approve\"\n\
         [mcp_servers.b]\nurl = \"http://b\"\nenabled = false\ntool_timeout_sec = 0.5\n\
         [mcp_servers.c]\ncommand = \"other\"\n",
    );
    world.write(
        "e/requirements.toml",
        "[mcp_servers.a.identity]\ncommand = \"run\"\n[mcp_servers.b.identity]\nurl = \"http://b\"\n\
         [mcp_servers.c.identity]\ncommand = \"allowed\"\n",
    );
    let servers = snapshot(&world).mcp_servers();
    let a = &servers["a"];
    assert_eq!(
        (a.enabled, a.startup_timeout),
        (true, Duration::from_millis(1500))
    );
    assert_eq!(
        a.tools,
        BTreeMap::from([("t".to_owned(), McpToolApproval::Approve)])
    );
    assert!(matches!(&a.transport, McpTransport::Stdio { command, .. } if command == "run"));
    let b = &servers["b"];
    assert_eq!(
        (b.enabled, b.forbidden, b.tool_timeout),
        (false, false, Duration::from_millis(500))
    );
    assert_eq!(
        (servers["c"].enabled, servers["c"].forbidden),
        (false, true)
    );
}

#[test]
fn skills_and_instructions() {
    let world = World::new();
    world.write("h/base.md", "  Be brief.\n");
    world.config(
        "model_instructions_file = \"base.md\"\ndeveloper_instructions = \"d\"\n\
         [[skills.config]]\npath = \"s/SKILL.md\"\nenabled = false\n\
         [[skills.config]]\nname = \"n\"\npath = \"both\"\nenabled = false\n\
         [skills.bundled]\nenabled = false\n",
    );
    let config = snapshot(&world);
    assert_eq!(config.instructions().base.as_deref(), Some("Be brief."));
    assert_eq!(config.instructions().developer.as_deref(), Some("d"));
    let skills = config.skills();
    assert!(!skills.bundled);
    assert_eq!(skills.switches.len(), 1);
    assert_eq!(
        skills.switches[0].selector,
        SkillSelector::Path(world.path("h/s/SKILL.md"))
    );
}

#[test]
fn deprecated_settings_are_reported() {
    let world = World::new();
    world.config(
        "experimental_instructions_file = \"x\"\n[features]\ncollab = true\nweb_search = true\n",
    );
    let config = snapshot(&world);
    let summaries: Vec<String> = config
        .deprecations()
        .into_iter()
        .map(|found| found.summary)
        .collect();
    let expected = [
        "`[features].collab` is deprecated. Use `[features].multi_agent` instead.",
        "`[features].web_search` is deprecated because web search is enabled by default.",
        "`experimental_instructions_file` is deprecated and ignored. Use `model_instructions_file` instead.",
    ];
    assert_eq!(summaries, expected);
    assert_eq!(config.tools().web_search, WebSearchMode::Live);
}

#[test]
fn unknown_keys_are_reported_with_the_nearest_known_one() {
    let world = World::new();
    world.config("model = \"m\"\n\nmodle_provider = \"x\"\nqqq = 1\n[features]\nappps = true\n");
    let started = world.loader().start_up().unwrap();
    assert_eq!(started.invalid, None);
    let [warning] = started.warnings.as_slice() else {
        panic!("{:?}", started.warnings)
    };
    assert_eq!(
        warning.summary,
        "Ignoring unknown configuration keys: `features.appps` (did you mean `apps`?), \
         `modle_provider` (did you mean `model_provider`?), `qqq`."
    );
    let range = warning.range.as_ref().unwrap();
    assert_eq!((range.start.line, range.start.column), (6, 1));
}

#[test]
fn a_broken_file_leaves_flags_and_limits_in_force() {
    let world = World::new();
    world.config("model = \n");
    world.write(
        "e/requirements.toml",
        "allowed_sandbox_modes = [\"read-only\"]\n",
    );
    let flags = ["-c", "model=flag", "-c", "sandbox_mode=danger-full-access"];
    let started = world.loader_with(&flags, &[]).start_up().unwrap();
    assert!(started.invalid.is_some());
    assert_eq!(started.snapshot.model().model.as_deref(), Some("flag"));
    assert!(matches!(
        started.snapshot.permissions().sandbox_policy,
        SandboxPolicy::ReadOnly { .. }
    ));
    world.config("");
    world.write("e/requirements.toml", "broken");
    let started = world.loader_with(&flags, &[]).start_up().unwrap();
    let policy = &started.snapshot.permissions().sandbox_policy;
    assert!(
        matches!(policy, SandboxPolicy::ReadOnly { .. }),
        "unreadable limits lift nothing"
    );
    assert!(
        world
            .loader_with(&["-c", "model=7"], &[])
            .start_up()
            .is_err()
    );
}

#[test]
fn huge_and_odd_files_are_refused() {
    let world = World::new();
    let loader = world.loader();
    let error = |loader: &Loader| {
        loader
            .load(&LoadRequest::default())
            .unwrap_err()
            .to_string()
    };
    fs::write(world.path("h/config.toml"), "#".repeat(5 * 1024 * 1024)).unwrap();
    assert!(error(&loader).contains("it has more than 4194304 bytes"));
    fs::write(world.path("h/config.toml"), b"model = \"\xff\"").unwrap();
    assert!(error(&loader).contains("stream did not contain valid UTF-8"));
    fs::write(
        world.path("h/config.toml"),
        "a = ".to_owned() + &"[".repeat(100_000),
    )
    .unwrap();
    assert!(error(&loader).contains("config.toml:1:"));
}

#[test]
fn the_home_directory() {
    let world = World::new();
    let at = |vars: &[(&str, &str)]| {
        Home::resolve(&Env::new(vars.iter().copied(), world.path("w")), ".quipu")
    };
    let user = ("HOME", "/home/u");
    assert_eq!(at(&[user]).unwrap().path(), PathBuf::from("/home/u/.quipu"));
    assert_eq!(
        at(&[user, ("CODEX_HOME", "")]).unwrap().path(),
        PathBuf::from("/home/u/.quipu")
    );
    let real = world.path("h").to_string_lossy().into_owned();
    let both = at(&[user, ("CODEX_HOME", "/elsewhere"), ("QUIPU_HOME", &real)]).unwrap();
    assert_eq!(both.path(), world.path("h"));
    assert_eq!(
        at(&[("CODEX_HOME", "new")]).unwrap().path(),
        world.path("w/new")
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(world.path("h"), world.path("link")).unwrap();
        let link = world.path("link").to_string_lossy().into_owned();
        assert_eq!(
            at(&[("CODEX_HOME", &link)]).unwrap().path(),
            world.path("h")
        );
    }
    world.write("file", "");
    let file = world.path("file").to_string_lossy().into_owned();
    let error = at(&[("CODEX_HOME", &file)]).unwrap_err();
    assert_eq!(
        world.fold(&error.to_string()),
        "CODEX_HOME points to \"$D/file\", but that path is not a directory"
    );
    assert!(matches!(at(&[]), Err(HomeError::Unknown)));
}

#[test]
fn variables_from_the_home_directory() {
    let world = World::new();
    world.write(
        "h/.env",
        "A=file\nCODEX_HOME=/evil\nQUIPU_X=1\nB='two words'\n",
    );
    let mut env = Env::new([("A", "process"), ("C", "kept")], "/");
    env.add_dotenv(&Home::at(world.path("h")));
    let vars: Vec<_> = env.vars().collect();
    assert_eq!(vars, [("A", "file"), ("B", "two words"), ("C", "kept")]);
}

#[test]
fn thread_overrides_lie_over_flags_and_under_profiles() {
    let world = World::new();
    world.config("[profiles.p]\nmodel = \"profile\"\n");
    let loader = world.loader_with(&["-c", "model=flag"], &[]);
    let mut overrides = Overrides::default();
    overrides
        .add_json(
            serde_json::json!({"model": "thread", "profile": null})
                .as_object()
                .unwrap(),
        )
        .unwrap();
    let request = LoadRequest {
        overrides: Some(&overrides),
        ..LoadRequest::default()
    };
    assert_eq!(
        loader.load(&request).unwrap().model().model.as_deref(),
        Some("thread")
    );
    overrides
        .add_json(serde_json::json!({"profile": "p"}).as_object().unwrap())
        .unwrap();
    let request = LoadRequest {
        overrides: Some(&overrides),
        ..LoadRequest::default()
    };
    assert_eq!(
        loader.load(&request).unwrap().model().model.as_deref(),
        Some("profile")
    );
    assert_eq!(
        loader
            .load(&LoadRequest::default())
            .unwrap()
            .model()
            .model
            .as_deref(),
        Some("flag")
    );
}

#[test]
fn a_project_decides_neither_where_tokens_are_sent_nor_which_plugins_there_are() {
    let world = World::new();
    world.config(
        "chatgpt_base_url = \"http://mine\"\n[plugins.\"own@m\"]\n[plugins.\"off@m\"]\nenabled = false\n\
         [projects.\"$D/w\"]\ntrust_level = \"trusted\"\n",
    );
    world.write(
        "w/.codex/config.toml",
        "chatgpt_base_url = \"http://theirs\"\n[analytics]\nenabled = true\n\
         [plugins.\"theirs@m\"]\nenabled = true\n[plugins.\"off@m\"]\nenabled = true\n",
    );
    let config = snapshot(&world);
    assert_eq!(config.merged()["chatgpt_base_url"], "http://theirs");
    assert_eq!(config.account().chatgpt_base_url, "http://mine");
    assert!(!config.analytics());
    assert_eq!(config.enabled_plugins(), ["own@m"]);
    world.config("[analytics]\nenabled = true\n[plugins.\"own@m\"]\n[features]\nplugins = false\n");
    let config = snapshot(&world);
    assert!(config.analytics());
    assert_eq!(config.enabled_plugins(), [] as [&str; 0]);
}

#[test]
fn apps_and_their_tools_are_switched() {
    let world = World::new();
    world.config(
        "[apps._default]\ndestructive_enabled = false\n[apps.off]\nenabled = false\n\
         [apps.few]\ndefault_tools_enabled = false\n[apps.few.tools.one]\nenabled = true\n\
         [apps.bold]\ndestructive_enabled = true\nopen_world_enabled = false\n",
    );
    world.write("e/requirements.toml", "[apps.forbidden]\nenabled = false\n");
    let apps = snapshot(&world).apps();
    let (plain, destructive) = (AppToolHints::default(), true);
    let destroys = AppToolHints {
        destructive,
        ..plain
    };
    let reaches_out = AppToolHints {
        open_world: true,
        ..plain
    };
    for (app, tool, hints, expected) in [
        ("any", "t", plain, true),
        ("any", "t", destroys, false),
        ("any", "t", reaches_out, true),
        ("off", "t", plain, false),
        ("few", "t", plain, false),
        ("few", "one", destroys, true),
        ("bold", "t", destroys, true),
        ("bold", "t", reaches_out, false),
        ("forbidden", "t", plain, false),
    ] {
        assert_eq!(
            apps.is_tool_enabled(app, tool, hints),
            expected,
            "{app} {tool}"
        );
    }
    assert!(apps.is_enabled("any") && !apps.is_enabled("off"));
}

#[test]
fn a_profile_denies_paths_or_is_refused() {
    let world = World::new();
    let with = |entries: &str| {
        world.config(&format!(
            "default_permissions = \"p\"\n[permissions.p.filesystem]\n{entries}\n"
        ));
        world.loader().load(&LoadRequest::default())
    };
    let config = with(
        "\":root\" = \"read\"\n\"~/a\" = \"none\"\n\":project_roots\" = { \".env\" = \"none\" }",
    )
    .unwrap();
    let cwd = config.cwd().to_owned();
    assert_eq!(
        config.permissions().hidden,
        [cwd.join(".env"), world.path("a")]
    );
    let refused = [
        (
            "\":root\" = \"write\"\n\"/a\" = \"none\"",
            "`none` cannot be enforced",
        ),
        ("\"/a/*.pem\" = \"none\"", "is a pattern"),
        (
            "\":minimal\" = { x = \"none\" }",
            "`:minimal` cannot be `none`",
        ),
        ("\"a\" = \"none\"", "must be absolute"),
    ];
    for (entries, why) in refused {
        let error = with(entries).unwrap_err().to_string();
        assert!(error.contains(why), "{entries}: {error}");
    }
}

#[test]
fn servers_that_requirements_switch_off_are_reported() {
    let world = World::new();
    world.write(
        "e/requirements.toml",
        "[mcp_servers.good.identity]\ncommand = \"x\"\n",
    );
    world.config(
        "[mcp_servers.good]\ncommand = \"x\"\n[mcp_servers.bad]\ncommand = \"x\"\n\
         [mcp_servers.off]\ncommand = \"x\"\nenabled = false\n",
    );
    let notes = snapshot(&world).notes().join("\n");
    assert_eq!(notes.matches("MCP server").count(), 1, "{notes}");
    assert!(notes.contains("`bad` is not used"), "{notes}");
}
