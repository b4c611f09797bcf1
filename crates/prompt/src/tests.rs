//! What the model is told, checked for its structure: which messages, which parts, in which order. The
//! samples meant here were captured from the reference program; the words are ours.

use quipu_model::HistoryItem;
use quipu_wire::{
    AbsolutePath, ApprovalsReviewer, AskForApproval, CollaborationMode, Json, ModeKind,
    Personality, ReadOnlyAccess, SandboxPolicy, Settings, UserInput,
};
use serde_json::Value;

use super::facts::{Baseline, Escalation, Facts, ModelFacts, NetworkHosts, Subagent};
use super::initial::initial;
use super::skills::Skill;
use super::update::update;
use super::{base, input, message, permissions, plugins, stored};

/// An item of a history, from its JSON.
pub(crate) fn history_item(json: &str) -> HistoryItem {
    HistoryItem::new(serde_json::value::RawValue::from_string(json.to_owned()).unwrap())
}

/// An item of a history.
pub(crate) fn item(json: &Json) -> HistoryItem {
    history_item(json.get())
}

/// Several items of a history.
pub(crate) fn items(items: &[Json]) -> Vec<HistoryItem> {
    items.iter().map(item).collect()
}

/// A message in the person's name.
pub(crate) fn user(text: &str) -> HistoryItem {
    item(&message::user_text(text))
}

fn facts() -> Facts {
    Facts {
        cwd: "/w".into(),
        shell: "bash".into(),
        date: "2026-11-15".into(),
        timezone: "Etc/UTC".into(),
        approval_policy: AskForApproval::OnRequest,
        approvals_reviewer: ApprovalsReviewer::User,
        sandbox: SandboxPolicy::ReadOnly {
            access: ReadOnlyAccess::FullAccess,
            network_access: false,
        },
        writable_roots: Vec::new(),
        network: None,
        allowed_prefixes: Vec::new(),
        model: ModelFacts {
            slug: "m1".into(),
            takes_personality: true,
        },
        base_instructions: base::instructions(Some(Personality::Pragmatic)).into(),
        personality: Some(Personality::Pragmatic),
        collaboration_mode: mode(ModeKind::Default, None),
        developer_instructions: None,
        project_instructions: None,
        skills: [].into(),
        has_apps: false,
        plugins: [].into(),
        subagents: Vec::new(),
        commit_attribution: None,
        escalation: Escalation::default(),
        realtime: None,
    }
}

fn mode(mode: ModeKind, instructions: Option<&str>) -> CollaborationMode {
    let settings = Settings {
        model: "m1".into(),
        reasoning_effort: None,
        developer_instructions: instructions.map(str::to_owned),
    };
    CollaborationMode { mode, settings }
}

fn workspace_write() -> SandboxPolicy {
    SandboxPolicy::WorkspaceWrite {
        writable_roots: vec![AbsolutePath::new("/opt").unwrap()],
        read_only_access: ReadOnlyAccess::FullAccess,
        network_access: true,
        exclude_tmpdir_env_var: false,
        exclude_slash_tmp: false,
    }
}

/// Role and parts of each message; a part that is a block is named by its tag.
fn outline(messages: &[Json]) -> Vec<Vec<String>> {
    let name = |text: &str| match text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((tag, _)) if tag != "environment_context" => {
            assert!(text.ends_with(&format!("</{tag}>")), "{text}");
            format!("<{tag}>")
        }
        _ => text.to_owned(),
    };
    let message = |message: &Json| {
        let message = message.to_value();
        assert_eq!(message["type"], "message");
        let parts = message["content"].as_array().unwrap().clone();
        let parts = parts.iter().map(|part| {
            assert_eq!(part["type"], "input_text");
            name(part["text"].as_str().unwrap())
        });
        std::iter::once(message["role"].as_str().unwrap().to_owned())
            .chain(parts)
            .collect()
    };
    messages.iter().map(message).collect()
}

const ENVIRONMENT: &str = "<environment_context>\n  <cwd>/w</cwd>\n  <shell>bash</shell>\n  <current_date>2026-11-15</current_date>\n  <timezone>Etc/UTC</timezone>\n</environment_context>";

fn a_skill() -> Skill {
    Skill {
        name: "foo".into(),
        description: "d".into(),
        path: "/s".into(),
        implicit: true,
    }
}

/// Samples 01 and 11, first turn.
#[test]
fn a_thread_begins_with_what_there_is_to_tell() {
    assert_eq!(
        outline(&initial(&facts(), None)),
        [
            vec!["developer", "<permissions instructions>"],
            vec!["user", ENVIRONMENT]
        ]
    );
    let more = Facts {
        developer_instructions: Some("DEV INSTR".into()),
        project_instructions: Some("global rules\n\n--- project-doc ---\n\nroot rules".into()),
        skills: [a_skill()].into(),
        ..facts()
    };
    let agents = "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nglobal rules\n\n--- project-doc ---\n\nroot rules\n</INSTRUCTIONS>";
    assert_eq!(
        outline(&initial(&more, Some("m1"))),
        [
            vec![
                "developer",
                "<permissions instructions>",
                "DEV INSTR",
                "<skills_instructions>"
            ],
            vec!["user", agents, ENVIRONMENT],
        ]
    );
}

#[test]
fn all_sections_of_the_beginning_stand_in_their_order() {
    let all = Facts {
        developer_instructions: Some("DEV".into()),
        collaboration_mode: mode(ModeKind::Plan, Some("PLAN")),
        base_instructions: "of the client".into(),
        skills: [a_skill()].into(),
        commit_attribution: Some("Quipu <q@example.org>".into()),
        ..facts()
    };
    let outline = |previous| outline(&initial(&all, previous)).remove(0);
    let trailer = outline(None).pop().unwrap();
    assert!(trailer.contains("Co-authored-by: Quipu <q@example.org>"));
    let common = ["<permissions instructions>", "DEV", "<collaboration_mode>"];
    let end = ["<skills_instructions>", trailer.as_str()];
    assert_eq!(
        outline(None),
        [&["developer"][..], &common, &["<personality_spec>"], &end].concat()
    );
    assert_eq!(
        outline(Some("m0")),
        [
            &["developer", "<model_switch>"][..],
            &common,
            &["<personality_spec>"],
            &end
        ]
        .concat()
    );
}

/// Sample 11, turn by turn.
#[test]
fn later_turns_tell_only_what_changed() {
    let told = facts().baseline();
    let changes = |facts: &Facts| outline(&update(facts, &told));
    assert!(changes(&facts()).is_empty());
    let never = Facts {
        approval_policy: AskForApproval::Never,
        ..facts()
    };
    assert_eq!(
        changes(&never),
        [["developer", "<permissions instructions>"]]
    );
    let sandbox = Facts {
        sandbox: workspace_write(),
        ..facts()
    };
    assert_eq!(
        changes(&sandbox),
        [["developer", "<permissions instructions>"]]
    );
    let moved = Facts {
        cwd: "/w/sub".into(),
        ..facts()
    };
    assert_eq!(
        changes(&moved),
        [["user", &ENVIRONMENT.replace("/w", "/w/sub")]]
    );
    let next_day = Facts {
        date: "2026-11-16".into(),
        ..facts()
    };
    let environment = ENVIRONMENT
        .replace("  <cwd>/w</cwd>\n", "")
        .replace("15<", "16<");
    assert_eq!(changes(&next_day), [["user", &environment]]);
    let model = |slug: &str| ModelFacts {
        slug: slug.into(),
        takes_personality: true,
    };
    let other = Facts {
        model: model("m2"),
        ..facts()
    };
    assert_eq!(changes(&other), [["developer", "<model_switch>"]]);
    let bare = Facts {
        base_instructions: "of the client".into(),
        ..other
    };
    assert_eq!(
        changes(&bare),
        [["developer", "<model_switch>", "<personality_spec>"]]
    );
    let friendly = Facts {
        personality: Some(Personality::Friendly),
        ..facts()
    };
    assert_eq!(changes(&friendly), [["developer", "<personality_spec>"]]);
    let neutral = Facts {
        personality: Some(Personality::None),
        ..facts()
    };
    assert_eq!(changes(&neutral), [["developer", "<personality_spec>"]]);
    let plain = ModelFacts {
        takes_personality: false,
        ..model("m1")
    };
    assert!(
        changes(&Facts {
            model: plain,
            ..friendly
        })
        .is_empty()
    );
    let resumed = Facts {
        developer_instructions: Some("NEW".into()),
        ..facts()
    };
    assert_eq!(changes(&resumed), [["developer", "NEW"]]);
    let plan = Facts {
        collaboration_mode: mode(ModeKind::Plan, Some("MY MODE")),
        ..facts()
    };
    assert_eq!(changes(&plan), [["developer", "<collaboration_mode>"]]);
    let text = &update(&plan, &told)[0].to_value()["content"][0]["text"];
    assert_eq!(text, "<collaboration_mode>MY MODE</collaboration_mode>");
    let silent = Facts {
        collaboration_mode: mode(ModeKind::Plan, None),
        ..facts()
    };
    assert!(changes(&silent).is_empty());
    let both = Facts {
        cwd: "/x".into(),
        ..never
    };
    assert_eq!(
        changes(&both)
            .iter()
            .map(|m| m[0].as_str())
            .collect::<Vec<_>>(),
        ["developer", "user"]
    );
}

#[test]
fn surroundings_name_hosts_and_agents() {
    let facts = Facts {
        network: Some(NetworkHosts {
            allowed: vec!["a.org".into()],
            denied: vec!["b.org".into()],
        }),
        subagents: vec![Subagent {
            id: "id-1".into(),
            nickname: "Tesla".into(),
        }],
        ..facts()
    };
    let block = super::environment::block(&facts, true);
    assert!(block.ends_with(
        "</timezone>\n  <network enabled=\"true\">\n    <allowed>a.org</allowed>\n    <denied>b.org</denied>\n  </network>\n  <subagents>\n    - id-1: Tesla\n  </subagents>\n</environment_context>"
    ));
}

#[test]
fn permissions_say_what_is_so() {
    let block = |facts: Facts| permissions::block(&facts);
    let read_only = block(facts());
    assert!(
        read_only.contains("`read-only`") && read_only.contains("Network access is restricted")
    );
    assert!(
        read_only.contains("`require_escalated`") || read_only.contains("\"require_escalated\"")
    );
    assert!(!read_only.contains("writable root is"));
    let never = block(Facts {
        approval_policy: AskForApproval::Never,
        ..facts()
    });
    assert!(never.contains("Do not pass `sandbox_permissions`") && never.len() < 600);
    let roots = |roots: &[&str]| {
        let writable_roots = roots.iter().map(|root| (*root).to_owned()).collect();
        block(Facts {
            sandbox: workspace_write(),
            writable_roots,
            ..facts()
        })
    };
    assert!(
        roots(&["/w"]).ends_with("\n\nThe writable root is `/w`.\n</permissions instructions>")
    );
    let several = roots(&["/opt", "/w", "/tmp"]);
    assert!(several.contains("`workspace-write`") && several.contains("Network access is enabled"));
    assert!(
        several
            .ends_with("The writable roots are `/opt`, `/w`, `/tmp`.\n</permissions instructions>")
    );
    let open = block(Facts {
        sandbox: SandboxPolicy::DangerFullAccess,
        ..facts()
    });
    assert!(open.contains("`danger-full-access`") && !open.contains("require_escalated"));
    let granular = AskForApproval::Granular {
        sandbox_approval: true,
        rules: false,
        skill_approval: false,
        request_permissions: false,
        mcp_elicitations: true,
    };
    let granular = block(Facts {
        approval_policy: granular,
        ..facts()
    });
    assert!(granular.contains("reach the person: `sandbox_approval`, `mcp_elicitations`."));
    assert!(granular.contains("without asking: `rules`, `skill_approval`, `request_permissions`."));
    assert!(granular.contains("require_escalated"));
    let guardian = ApprovalsReviewer::GuardianSubagent;
    assert!(
        block(Facts {
            approvals_reviewer: guardian,
            ..facts()
        })
        .contains("`guardian_subagent`")
    );
}

#[test]
fn allowed_prefixes_are_listed_shortest_first_and_not_without_end() {
    let prefix = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let with = |allowed_prefixes| {
        permissions::block(&Facts {
            allowed_prefixes,
            ..facts()
        })
    };
    let few = with(vec![
        prefix("git pull --rebase"),
        prefix("cargo test"),
        prefix("make"),
        prefix("make"),
    ]);
    assert!(
        few.contains("\n- [\"make\"]\n- [\"cargo\",\"test\"]\n- [\"git\",\"pull\",\"--rebase\"]\n")
    );
    let many = with((0..150).map(|n| prefix(&format!("run {n:03}"))).collect());
    assert!(many.contains("\n- [\"run\",\"099\"]\n\n(50 more are not listed.)"));
    let long = with(
        (0..10)
            .map(|n| vec![format!("{n}{}", "x".repeat(990))])
            .collect(),
    );
    assert!(long.contains("(5 more are not listed.)"));
}

/// The lines are those that the reference program wrote.
#[test]
fn turn_contexts_are_written_and_read_as_rollouts_have_them() {
    let policies = [
        r#"{"type":"danger-full-access"}"#,
        r#"{"type":"read-only"}"#,
        r#"{"type":"read-only","network_access":true}"#,
        r#"{"type":"read-only","access":{"type":"restricted","include_platform_defaults":false,"readable_roots":["/opt"]}}"#,
        r#"{"type":"workspace-write","writable_roots":["/opt"],"read_only_access":{"type":"restricted","include_platform_defaults":true,"readable_roots":["/srv"]},"network_access":true,"exclude_tmpdir_env_var":false,"exclude_slash_tmp":true}"#,
        r#"{"type":"external-sandbox","network_access":"enabled"}"#,
    ];
    let line = r#"{"turn_id":"t1","cwd":"/w","current_date":"2026-11-15","timezone":"Etc/UTC","approval_policy":{"granular":{"sandbox_approval":true,"rules":false,"skill_approval":false,"request_permissions":false,"mcp_elicitations":true}},"sandbox_policy":POLICY,"network":{"allowed_domains":["a.org"],"denied_domains":[]},"model":"m1","personality":"pragmatic","collaboration_mode":{"mode":"plan","settings":{"model":"m1","reasoning_effort":"low","developer_instructions":"X"}},"realtime_active":false,"user_instructions":"U","developer_instructions":"D"}"#;
    for policy in policies {
        let line = line.replace("POLICY", policy);
        let stored: quipu_journal::TurnContext = serde_json::from_str(&line).unwrap();
        let told = stored::baseline(&stored).unwrap();
        let facts = Facts {
            approval_policy: told.approval_policy.clone(),
            sandbox: told.sandbox.clone(),
            network: told.network.clone(),
            collaboration_mode: told.collaboration_mode.clone().unwrap(),
            project_instructions: Some("U".into()),
            developer_instructions: Some("D".into()),
            ..facts()
        };
        // Rollouts do not say which plugins were in force.
        let known = Baseline {
            plugins: None,
            ..facts.baseline()
        };
        assert_eq!(told, known);
        assert!(update(&facts, &told).is_empty());
        let written = serde_json::to_string(&stored::turn_context(&facts, "t1")).unwrap();
        assert_eq!(written, line);
    }
}

#[test]
fn a_turn_context_that_makes_no_sense_tells_nothing() {
    let line =
        r#"{"cwd":"/w","approval_policy":"never","sandbox_policy":{"type":"moon"},"model":"m"}"#;
    assert!(stored::baseline(&serde_json::from_str(line).unwrap()).is_none());
}

fn parts(inputs: &[UserInput]) -> Vec<Value> {
    let message = input::user_message(inputs).unwrap().to_value();
    assert_eq!(message["role"], "user");
    message["content"].as_array().unwrap().clone()
}

/// Sample 11, second turn: the image is the one of the sample.
#[test]
fn an_input_becomes_one_message() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(picture)
        .unwrap();
    std::fs::write(path("i.png"), &bytes).unwrap();
    let text = |text: &str| serde_json::json!({"type": "input_text", "text": text});
    let image = |url: &str| serde_json::json!({"type": "input_image", "image_url": url});
    let url = format!("data:image/png;base64,{picture}");
    let none = path("none.png");
    assert_eq!(
        parts(&[
            UserInput::Text {
                text: "look".into(),
                text_elements: Vec::new()
            },
            UserInput::Image {
                url: "data:image/png;base64,AAAA".into()
            },
            UserInput::LocalImage {
                path: path("i.png")
            },
            UserInput::LocalImage { path: none.clone() },
            UserInput::Skill {
                name: "foo".into(),
                path: "/s".into()
            },
            UserInput::Mention {
                name: "x".into(),
                path: "app://abc".into()
            },
        ]),
        [
            text("look"),
            text("<image>"),
            image("data:image/png;base64,AAAA"),
            text("</image>"),
            text("<image name=[Image #2]>"),
            image(&url),
            text("</image>"),
            text(&format!(
                "Codex could not read the local image at `{none}`: No such file or directory (os error 2)"
            )),
        ]
    );
    let mention = UserInput::Mention {
        name: "x".into(),
        path: "app://abc".into(),
    };
    assert!(input::user_message(std::slice::from_ref(&mention)).is_none());
    assert_eq!(
        input::mentioned_apps(std::slice::from_ref(&mention)),
        ["abc"]
    );
    assert!(input::mentioned_plugins(&[mention]).is_empty());
    let links = UserInput::Text {
        text: "[@demo](plugin://demo@mkt) [$cal]( app://c ) [x](app://no) [@demo](plugin://demo@mkt) [$".into(),
        text_elements: Vec::new(),
    };
    let links = std::slice::from_ref(&links);
    assert_eq!(input::mentioned_plugins(links), ["demo@mkt"]);
    assert_eq!(input::mentioned_apps(links), ["c"]);
}

#[test]
fn plugins_that_come_or_go_are_listed_anew() {
    let before = facts();
    let plugin = plugins::Plugin {
        id: "demo@mkt".into(),
        prefix: "demo".into(),
        name: "Demo".into(),
        description: None,
        has_skills: false,
        servers: Vec::new(),
        apps: Vec::new(),
    };
    let after = Facts {
        plugins: [plugin].into(),
        ..facts()
    };
    let text = |now: &Facts, told: &Facts| update(now, &told.baseline())[0].get().to_owned();
    assert!(text(&after, &before).contains("- `Demo`"));
    let gone = text(&before, &after);
    assert!(gone.contains("replace those from before") && !gone.contains("Demo"));
    assert!(update(&after, &after.baseline()).is_empty());
}

/// The notes are those of the reference program.
#[test]
fn files_that_are_no_pictures_become_notes() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\0\0\0\0";
    let files: [(&str, &[u8], &str); 7] = [
        ("garbage.png", b"not a png at all", "image/png"),
        ("cut.png", png, "image/png"),
        ("cut.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        ("t.txt", b"hello", "text/plain"),
        ("noext", b"\0\x01\x02", "unknown"),
        ("empty.png", b"", "image/png"),
        ("x.svg", b"<svg/>", "image/svg+xml"),
    ];
    let note = |name: &str| {
        let parts = parts(&[UserInput::LocalImage { path: path(name) }]);
        assert_eq!(parts.len(), 1, "{name}");
        parts[0]["text"].as_str().unwrap().to_owned()
    };
    for (name, bytes, mime) in files {
        std::fs::write(path(name), bytes).unwrap();
        let expected = format!(
            "Codex cannot attach image at `{}`: unsupported image `{mime}`.",
            path(name)
        );
        assert_eq!(note(name), expected);
    }
    std::fs::create_dir(path("dir.png")).unwrap();
    assert!(note("dir.png").ends_with(": Is a directory (os error 21)"));
}

#[test]
fn the_length_of_an_input_is_counted_in_characters() {
    let text = |length| UserInput::Text {
        text: "é".repeat(length),
        text_elements: Vec::new(),
    };
    let half = input::MAX_TEXT_CHARS / 2;
    assert_eq!(input::too_long(&[text(half), text(half)]), None);
    assert_eq!(
        input::too_long(&[text(half), text(half + 1)]),
        Some(input::MAX_TEXT_CHARS + 1)
    );
}
