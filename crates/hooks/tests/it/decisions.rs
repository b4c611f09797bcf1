//! What handlers can say, event by event, and what comes of it.

use std::time::Duration;

use quipu_hooks::{Decision, Ended, decide};
use quipu_wire::HookEventName::{
    self, PostToolUse, PreToolUse, SessionStart, Stop, UserPromptSubmit,
};
use quipu_wire::HookOutputEntryKind;

const EVENTS: [HookEventName; 5] = [
    PreToolUse,
    PostToolUse,
    SessionStart,
    UserPromptSubmit,
    Stop,
];

fn exits(event: HookEventName, code: i32, stdout: &str, stderr: &str) -> Decision {
    decide(
        event,
        Ended::Exited {
            code: Some(code),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        },
    )
}

/// Status and entries in one line: `blocked feedback:no`.
fn shown(decision: &Decision) -> String {
    let entries = decision.entries.iter().map(|entry| {
        let kind = match entry.kind {
            HookOutputEntryKind::Warning => "warning",
            HookOutputEntryKind::Stop => "stop",
            HookOutputEntryKind::Feedback => "feedback",
            HookOutputEntryKind::Context => "context",
            HookOutputEntryKind::Error => "error",
            HookOutputEntryKind::Unrecognized => "?",
        };
        format!(" {kind}:{}", entry.text)
    });
    format!("{}{}", decision.status, entries.collect::<String>())
}

fn says(event: HookEventName, stdout: &str) -> String {
    shown(&exits(event, 0, stdout, ""))
}

#[test]
fn nothing_said_is_nothing_decided() {
    for event in EVENTS {
        assert_eq!(says(event, " \n"), "completed");
        assert_eq!(says(event, "{}"), "completed");
        assert_eq!(says(event, r#"{"continue":true}"#), "completed");
        assert_eq!(
            says(event, r#"{"systemMessage":"S"}"#),
            "completed warning:S"
        );
    }
}

#[test]
fn failures_decide_nothing() {
    for event in EVENTS {
        assert_eq!(
            shown(&exits(event, 3, "x", "y")),
            "failed error:hook exited with code 3"
        );
        let signal = Ended::Exited {
            code: None,
            stdout: "{}".to_owned(),
            stderr: String::new(),
        };
        assert_eq!(
            shown(&decide(event, signal)),
            "failed error:hook exited without a status code"
        );
        let late = Ended::TimedOut(Duration::from_secs(7));
        assert_eq!(
            shown(&decide(event, late)),
            "failed error:hook timed out after 7s"
        );
        let flooded = decide(event, Ended::Flooded(10));
        assert_eq!(
            shown(&flooded),
            "failed error:hook wrote more than 10 bytes of output"
        );
        let not_started = decide(event, Ended::NotStarted("no shell".to_owned()));
        assert_eq!(shown(&not_started), "failed error:no shell");
    }
}

#[test]
fn output_that_looks_like_json_must_be_valid() {
    let names = [
        "pre-tool-use",
        "post-tool-use",
        "session start",
        "user prompt submit",
        "stop hook",
    ];
    for (event, name) in EVENTS.into_iter().zip(names) {
        let invalid = format!("failed error:hook returned invalid {name} JSON output");
        for text in [
            "{bad",
            "[1]",
            r#"{"x":1}"#,
            r#"{"continue":"no"}"#,
            r#"{"decision":"other"}"#,
            r#"{"hookSpecificOutput":{"additionalContext":"c"}}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"Nope"}}"#,
            r#"{"continue":true} trailing"#,
        ] {
            assert_eq!(says(event, text), invalid, "{text}");
        }
    }
}

#[test]
fn plain_text_is_context_where_there_is_context_to_give() {
    for event in [SessionStart, UserPromptSubmit] {
        for text in ["from a hook", "\"x\"", "null", "12"] {
            let decision = exits(event, 0, &format!("{text}\n"), "");
            assert_eq!(shown(&decision), format!("completed context:{text}"));
            assert_eq!(decision.context.as_deref(), Some(text));
        }
    }
    for event in [PreToolUse, PostToolUse] {
        assert_eq!(says(event, "plain"), "completed");
    }
    assert_eq!(
        says(Stop, "plain"),
        "failed error:hook returned invalid stop hook JSON output"
    );
}

#[test]
fn code_2_objects_with_the_words_on_stderr() {
    for (event, status, missing) in [
        (
            PreToolUse,
            "blocked",
            "PreToolUse hook exited with code 2 but did not write a blocking reason to stderr",
        ),
        (
            UserPromptSubmit,
            "blocked",
            "UserPromptSubmit hook exited with code 2 but did not write a blocking reason to stderr",
        ),
        (
            PostToolUse,
            "completed",
            "PostToolUse hook exited with code 2 but did not write feedback to stderr",
        ),
        (
            Stop,
            "blocked",
            "Stop hook exited with code 2 but did not write a continuation prompt to stderr",
        ),
    ] {
        let decision = exits(event, 2, "ignored", " no \n");
        assert_eq!(shown(&decision), format!("{status} feedback:no"));
        assert_eq!(decision.message.as_deref(), Some("no"));
        assert_eq!(
            shown(&exits(event, 2, "", " \n")),
            format!("failed error:{missing}")
        );
    }
    assert_eq!(
        shown(&exits(SessionStart, 2, "", "no")),
        "failed error:hook exited with code 2"
    );
}

#[test]
fn a_session_can_be_given_context_and_stopped() {
    let context =
        r#""hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"C"}"#;
    assert_eq!(
        says(
            SessionStart,
            &format!(r#"{{{context},"systemMessage":"S","suppressOutput":true}}"#)
        ),
        "completed warning:S context:C"
    );
    assert_eq!(says(SessionStart, r#"{"continue":false}"#), "stopped");
    let stopped = exits(
        SessionStart,
        0,
        &format!(r#"{{"continue":false,"stopReason":"R",{context}}}"#),
        "",
    );
    assert_eq!(shown(&stopped), "stopped context:C stop:R");
    assert_eq!(stopped.context.as_deref(), Some("C"));
    assert_eq!(
        says(SessionStart, r#"{"decision":"block","reason":"no"}"#),
        "failed error:hook returned invalid session start JSON output"
    );
}

#[test]
fn a_prompt_can_be_blocked_with_a_reason() {
    let context =
        r#""hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"C"}"#;
    assert_eq!(
        says(
            UserPromptSubmit,
            &format!(r#"{{"decision":"block","reason":"no",{context}}}"#)
        ),
        "blocked context:C feedback:no"
    );
    for reason in ["", r#","reason":"  ""#] {
        assert_eq!(
            says(
                UserPromptSubmit,
                &format!(r#"{{"decision":"block"{reason}}}"#)
            ),
            "failed error:UserPromptSubmit hook returned decision:block without a non-empty reason"
        );
    }
    assert_eq!(says(UserPromptSubmit, r#"{"reason":"r"}"#), "completed");
    assert_eq!(
        says(
            UserPromptSubmit,
            r#"{"continue":false,"stopReason":"halt","systemMessage":"S"}"#
        ),
        "stopped warning:S stop:halt"
    );
}

#[test]
fn a_command_can_be_blocked_and_nothing_else() {
    assert_eq!(
        says(PreToolUse, r#"{"decision":"block","reason":"no"}"#),
        "blocked feedback:no"
    );
    let specific = |members: &str| {
        says(
            PreToolUse,
            &format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse"{members}}}}}"#),
        )
    };
    assert_eq!(
        specific(r#","permissionDecision":"deny","permissionDecisionReason":"no""#),
        "blocked feedback:no"
    );
    assert_eq!(specific(""), "completed");
    for (members, what) in [
        (
            r#","permissionDecision":"allow""#,
            "unsupported permissionDecision:allow",
        ),
        (
            r#","permissionDecision":"ask""#,
            "unsupported permissionDecision:ask",
        ),
        (
            r#","permissionDecision":"deny""#,
            "permissionDecision:deny without a non-empty permissionDecisionReason",
        ),
        (
            r#","permissionDecisionReason":"x""#,
            "permissionDecisionReason without permissionDecision",
        ),
        (
            r#","updatedInput":{"command":"x"}"#,
            "unsupported updatedInput",
        ),
        (
            r#","additionalContext":"c""#,
            "unsupported additionalContext",
        ),
    ] {
        assert_eq!(
            specific(members),
            format!("failed error:PreToolUse hook returned {what}")
        );
    }
    for (said, what) in [
        (r#"{"continue":false}"#, "unsupported continue:false"),
        (r#"{"stopReason":"x"}"#, "unsupported stopReason"),
        (r#"{"suppressOutput":true}"#, "unsupported suppressOutput"),
        (
            r#"{"decision":"approve","reason":"r"}"#,
            "unsupported decision:approve",
        ),
        (
            r#"{"decision":"block"}"#,
            "decision:block without a non-empty reason",
        ),
        (r#"{"reason":"only"}"#, "reason without decision"),
    ] {
        assert_eq!(
            says(PreToolUse, said),
            format!("failed error:PreToolUse hook returned {what}")
        );
    }
}

#[test]
fn what_the_model_reads_of_a_command_can_be_replaced() {
    let context = r#""hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"C"}"#;
    let blocked = exits(
        PostToolUse,
        0,
        &format!(r#"{{"decision":"block","reason":"again",{context}}}"#),
        "",
    );
    assert_eq!(shown(&blocked), "blocked context:C feedback:again");
    assert_eq!(blocked.message.as_deref(), Some("again"));
    for (said, entry, message) in [
        (
            r#"{"continue":false,"stopReason":"enough"}"#,
            "enough",
            "enough",
        ),
        (
            r#"{"continue":false}"#,
            "PostToolUse hook stopped execution",
            "PostToolUse hook stopped execution",
        ),
        (
            r#"{"continue":false,"reason":"rr"}"#,
            "PostToolUse hook stopped execution",
            "rr",
        ),
    ] {
        let stopped = exits(PostToolUse, 0, said, "");
        assert_eq!(shown(&stopped), format!("stopped stop:{entry}"));
        assert_eq!(stopped.message.as_deref(), Some(message));
    }
    for (said, what) in [
        (r#"{"suppressOutput":true}"#, "unsupported suppressOutput"),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedMCPToolOutput":{}}}"#,
            "unsupported updatedMCPToolOutput",
        ),
        (
            r#"{"decision":"block","reason":" "}"#,
            "decision:block without a non-empty reason",
        ),
        (r#"{"reason":"only"}"#, "reason without decision"),
    ] {
        assert_eq!(
            says(PostToolUse, said),
            format!("failed error:PostToolUse hook returned {what}")
        );
    }
}

#[test]
fn the_model_can_be_made_to_go_on_or_the_turn_to_end() {
    assert_eq!(
        says(Stop, r#"{"decision":"block","reason":"more"}"#),
        "blocked feedback:more"
    );
    assert_eq!(
        says(Stop, r#"{"decision":"block"}"#),
        "failed error:Stop hook returned decision:block without a non-empty reason"
    );
    assert_eq!(
        says(
            Stop,
            r#"{"continue":false,"stopReason":"end","decision":"block","reason":"more"}"#
        ),
        "stopped stop:end"
    );
    assert_eq!(says(Stop, r#"{"suppressOutput":true}"#), "completed");
    assert_eq!(
        says(Stop, r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#),
        "failed error:hook returned invalid stop hook JSON output"
    );
}
