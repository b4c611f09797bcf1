//! What the model reads.

use std::collections::BTreeSet;

use quipu_adapter::{
    Budget, Phase, Prompt, Section, Session, TemplateError, Tool, ToolContext, ToolError,
};
use serde_json::json;

use crate::support::{Events, Lab, script, soon};

fn tool(name: &str) -> Tool {
    Tool::new(name, "Acts.", async |(), _: ToolContext| {
        Ok::<_, ToolError>("ok")
    })
}

fn prompt() -> Prompt<String> {
    let details = Section::new("Details", "Long text.")
        .summary("Short text.")
        .tool(tool("deep"))
        .section(Section::new("Part", "Even more."));
    Prompt::text("test")
        .section(
            Section::template(
                "Task",
                "Count {{what}} {{n}} times.",
                &json!({ "what": "sheep", "n": 3 }),
            )
            .unwrap(),
        )
        .section(Section::new("Background", "Why.").section(details))
        .tool(tool("top"))
}

#[test]
fn sections_become_markdown() {
    let rendered = prompt().render(&BTreeSet::new()).unwrap();
    let text = "## Task\n\nCount sheep 3 times.\n\n## Background\n\nWhy.\n\n### Details\n\nShort text.\n\n\
        _This is a summary. To read this section in full, call `open_sections` with the key `background.details`._";
    assert_eq!(rendered.text, text);
    let names: Vec<_> = rendered.tools.iter().map(Tool::name).collect();
    assert_eq!(names, ["top", "open_sections"]);

    let expanded = BTreeSet::from(["background.details".to_owned()]);
    let rendered = prompt().render(&expanded).unwrap();
    assert!(
        rendered
            .text
            .ends_with("### Details\n\nLong text.\n\n#### Part\n\nEven more."),
        "{}",
        rendered.text
    );
    let names: Vec<_> = rendered.tools.iter().map(Tool::name).collect();
    assert_eq!(names, ["top", "deep"]);
}

#[test]
fn mistakes_in_prompts_are_named() {
    let missing = Section::template("Task", "{{a}}", &json!({}));
    assert_eq!(
        missing.unwrap_err(),
        TemplateError::Missing {
            name: "a".to_owned()
        }
    );
    let twice = Prompt::text("test")
        .section(Section::new("A b", ""))
        .section(Section::new("a-B", ""));
    let error = twice.render(&BTreeSet::new()).unwrap_err();
    assert!(error.message().contains("`a-b`"), "{error}");
    let error = prompt()
        .render(&BTreeSet::from(["nowhere".to_owned()]))
        .unwrap_err();
    assert!(error.message().contains("no section `nowhere`"), "{error}");
}

/// Each request of the model takes 10 tokens.
fn expandable() -> Prompt<String> {
    let usage = json!({ "input": 8, "cached": 0, "output": 2, "reasoning": 0 });
    let ask = json!({ "name": "open_sections", "arguments": { "sections": ["details"], "reason": "to see" } });
    let wrong = json!({ "name": "open_sections", "arguments": { "sections": ["nowhere"], "reason": "to see" } });
    // Without the tool, which a full section makes needless, the calls fail and the model goes on.
    Prompt::text("test")
        .section(script(
            json!([{ "calls": [wrong], "usage": usage }, { "calls": [ask], "usage": usage }, { "text": "done", "usage": usage }]),
        ))
        .section(Section::new("Details", "Long text.").summary("Short text."))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_can_ask_for_a_section() {
    let lab = Lab::new();
    let (adapter, events) = Events::of(lab.adapter());
    let prompt = expandable();
    let error = soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Response);
    let expansion = error.expansion().unwrap();
    assert_eq!(
        (&*expansion.sections, &*expansion.reason),
        (&["details".to_owned()][..], "to see")
    );
    assert_eq!(
        events.summary(),
        [
            "rendered",
            "open_sections failed",
            "open_sections",
            "executed"
        ]
    );

    let response = soon(
        adapter
            .evaluate(&prompt, &Session::new())
            .expand(&expansion.sections),
    )
    .await
    .unwrap();
    assert!(response.recording.rendered.contains("Long text."));
    let response = soon(
        adapter
            .evaluate(&prompt, &Session::new())
            .expand_when_asked(1),
    )
    .await
    .unwrap();
    assert!(response.recording.rendered.contains("Long text."));
    // Three requests before the expansion, and three after it.
    assert_eq!((error.usage().total, response.usage.total), (30, 60));
    let replay = response.recording.replay(&prompt, &Session::new()).await;
    assert_eq!(replay.unwrap().output, "done");
}

/// What was used before an expansion is not forgotten, and limits hold across it.
#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_across_expansions() {
    let lab = Lab::new();
    let adapter = lab.adapter();
    let (prompt, session) = (expandable(), Session::new());
    let budget = Budget::new().tokens(30);
    let evaluation = adapter
        .evaluate(&prompt, &session)
        .budget(&budget)
        .expand_when_asked(1);
    let error = soon(evaluation).await.unwrap_err();
    assert_eq!(error.phase(), Phase::Budget, "{error}");
    assert_eq!(error.message(), "all 30 tokens are used");
    assert_eq!(error.usage().total, 30);
}
