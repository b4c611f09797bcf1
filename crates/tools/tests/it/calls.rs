//! One call at a time: what the model reads, and what clients see of it.

use std::collections::BTreeSet;

use quipu_engine::{CallKind, ToolDelta, ToolEvent};
use quipu_tools::{Output, Scope, ShellTool, SpecKind, specs, tool_names};
use quipu_wire::{PatchApplyStatus, ThreadItem, TurnPlanStep, TurnPlanStepStatus};
use serde_json::json;

use crate::lab::{Lab, call, everything, function, text};

/// A PNG of one pixel.
const PIXEL: [u8; 67] = [
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, b'I', b'D', b'A', b'T',
    0x78, 0x9c, 0x63, 0x60, 0, 0, 0, 2, 0, 1, 0x48, 0xaf, 0xa4, 0x71, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xae, 0x42, 0x60, 0x82,
];

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_table_is_offered_somewhere_and_refuses_bad_arguments() {
    let lab = Lab::new();
    let all = || everything(lab.scope());
    let shells = [
        ShellTool::Exec,
        ShellTool::Script,
        ShellTool::Words,
        ShellTool::Hosted,
    ];
    let scopes = shells.map(|shell_tool| Scope {
        shell_tool,
        patch_as_text: Some(false),
        ..all()
    });
    let offered: Vec<_> = scopes.iter().flat_map(specs).collect();
    let mut names = BTreeSet::new();
    for name in tool_names() {
        assert!(names.insert(name), "{name} is listed twice");
        let mut specs = offered.iter().filter(|spec| spec.name == name);
        // An alias, which models call without being offered it.
        let Some(spec) = specs.next() else {
            assert_eq!(name, "container.exec", "no settings offer it");
            continue;
        };
        let SpecKind::Function(schema) = &spec.kind else {
            continue;
        };
        let schema: serde_json::Value = schema.parse().unwrap();
        let required = schema["required"].as_array().into_iter().flatten();
        for member in required {
            let properties = schema["properties"].as_object().unwrap();
            assert!(properties.contains_key(member.as_str().unwrap()), "{name}");
        }
        // The agents of a thread are the server's; the host of these tests has none.
        let finished = lab.run(all(), function(name, "{")).await;
        let refusal = text(&finished);
        assert!(
            refusal.starts_with("failed to parse function arguments: ")
                || name.ends_with("_agent") && refusal == format!("unsupported call: {name}")
                || name == "send_input" && refusal == "unsupported call: send_input"
                || name == "request_user_input" && refusal.ends_with("in Default mode"),
            "{name}: {refusal}"
        );
        assert_eq!(lab.events(), [], "{name}");
    }
}

#[tokio::test]
async fn a_plan_is_reported() {
    let lab = Lab::new();
    let plan = json!({
        "explanation": "Begin.",
        "plan": [{ "step": "Look", "status": "completed" }, { "step": "Leap", "status": "in_progress" }],
    });
    let finished = lab
        .run(lab.scope(), function("update_plan", &plan.to_string()))
        .await;
    assert_eq!(text(&finished), "Plan updated");
    let step = |step: &str, status| TurnPlanStep {
        step: step.to_owned(),
        status,
    };
    let expected = ToolEvent::PlanUpdated {
        explanation: Some("Begin.".to_owned()),
        plan: vec![
            step("Look", TurnPlanStepStatus::Completed),
            step("Leap", TurnPlanStepStatus::InProgress),
        ],
    };
    assert_eq!(lab.events(), [expected]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_shown_to_the_model_and_a_secret_is_not() {
    let lab = Lab::new();
    std::fs::write(lab.workspace.path().join("pixel.png"), PIXEL).unwrap();
    let finished = lab
        .run(
            lab.scope(),
            function("view_image", r#"{"path":"pixel.png"}"#),
        )
        .await;
    let Output::Parts(parts) = &finished.output else {
        panic!("{finished:?}");
    };
    let url = parts[0]["image_url"].as_str().unwrap();
    assert!(url.starts_with("data:image/png;base64,"), "{url}");
    let events = lab.events();
    assert!(
        matches!(
            &events[..],
            [
                ToolEvent::ItemStarted(ThreadItem::ImageView { path, .. }),
                ToolEvent::ItemCompleted(ThreadItem::ImageView { .. }),
            ] if path.ends_with("/pixel.png")
        ),
        "{events:?}"
    );
    let secret = lab.scope().home.join("secret.png");
    std::fs::write(&secret, PIXEL).unwrap();
    let arguments = json!({ "path": secret }).to_string();
    let finished = lab
        .run(lab.scope(), function("view_image", &arguments))
        .await;
    assert!(text(&finished).starts_with("unable to locate image at"));
    assert_eq!(lab.events(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_changes_files_and_shows_what_the_turn_changed() {
    let lab = Lab::new();
    let file = lab.workspace.path().join("a.txt");
    std::fs::write(&file, "old\n").unwrap();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\n";
    let finished = lab
        .run(
            lab.scope(),
            call("apply_patch", CallKind::Custom(patch.to_owned())),
        )
        .await;
    assert!(
        text(&finished).starts_with("Exit code: 0\n"),
        "{finished:?}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new\n");
    let events = lab.events();
    assert!(
        matches!(
            &events[..],
            [
                ToolEvent::ItemStarted(ThreadItem::FileChange { .. }),
                ToolEvent::Delta(ToolDelta::PatchOutput(_)),
                ToolEvent::ItemCompleted(ThreadItem::FileChange {
                    status: PatchApplyStatus::Completed,
                    ..
                }),
                ToolEvent::DiffUpdated(diff),
            ] if diff.contains("-old\n+new\n")
        ),
        "{events:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_outside_the_workspace_is_refused_where_nobody_can_be_asked() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("a.txt");
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n",
        file.display()
    );
    let arguments = json!({ "input": patch }).to_string();
    let finished = lab
        .run(lab.scope(), function("apply_patch", &arguments))
        .await;
    assert!(text(&finished).contains("rejected"), "{finished:?}");
    assert!(!file.exists());
}

#[tokio::test]
async fn a_tool_that_nobody_has_is_unsupported() {
    let lab = Lab::new();
    let cases = [
        (function("conjure", "{}"), "unsupported call: conjure"),
        (
            call("conjure", CallKind::Custom(String::new())),
            "unsupported custom tool call: conjure",
        ),
        (
            function("mcp__no__such", "{}"),
            "unsupported call: mcp__no__such",
        ),
        (function("web_search", "{}"), "unsupported call: web_search"),
        (
            function("spawn_agent", "{}"),
            "unsupported call: spawn_agent",
        ),
    ];
    for (call, expected) in cases {
        let finished = lab.run(lab.scope(), call).await;
        assert_eq!(text(&finished), expected);
    }
    assert_eq!(lab.events(), []);
}

#[tokio::test]
async fn without_an_environment_nothing_touches_the_machine() {
    let lab = Lab::new();
    for name in [
        "exec_command",
        "write_stdin",
        "shell",
        "container.exec",
        "local_shell",
        "shell_command",
        "apply_patch",
        "view_image",
    ] {
        let scope = Scope {
            has_environment: false,
            ..lab.scope()
        };
        let finished = lab.run(scope, function(name, "{}")).await;
        assert!(
            text(&finished).starts_with("No usable execution environment"),
            "{name}"
        );
    }
    assert_eq!(lab.events(), []);
}

#[tokio::test]
async fn a_question_without_an_answer_is_cancelled() {
    let lab = Lab::new();
    let question = json!({ "questions": [{
        "id": "which", "header": "Which", "question": "Which one?",
        "options": [{ "label": "This", "description": "The first." }],
    }] });
    let scope = Scope {
        plan_mode: true,
        ..lab.scope()
    };
    let finished = lab
        .run(scope, function("request_user_input", &question.to_string()))
        .await;
    assert_eq!(
        text(&finished),
        "request_user_input was cancelled before receiving a response"
    );
    assert_eq!(lab.asked().len(), 1);
}
