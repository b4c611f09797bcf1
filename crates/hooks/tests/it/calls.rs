//! What handlers are given on stdin.

use std::path::Path;

use quipu_hooks::{Call, Event};

fn given(event: &Event) -> String {
    let call = Call {
        event,
        thread_id: "T",
        turn_id: "U",
        transcript: Some(Path::new("/r.jsonl")),
        cwd: Path::new("/w"),
        model: "m",
        bypasses_permissions: false,
    };
    call.to_json()
}

#[test]
fn each_event_has_its_members_in_their_order() {
    let common = r#""transcript_path":"/r.jsonl","cwd":"/w","hook_event_name""#;
    let rest = r#""model":"m","permission_mode":"default""#;
    let command = || "ls".to_owned();
    let id = || "c1".to_owned();
    assert_eq!(
        given(&Event::SessionStart { resumed: true }),
        format!(r#"{{"session_id":"T",{common}:"SessionStart",{rest},"source":"resume"}}"#)
    );
    assert_eq!(
        given(&Event::UserPromptSubmit {
            prompt: "hi".to_owned()
        }),
        format!(
            r#"{{"session_id":"T","turn_id":"U",{common}:"UserPromptSubmit",{rest},"prompt":"hi"}}"#
        )
    );
    assert_eq!(
        given(&Event::PreToolUse {
            call_id: id(),
            command: command()
        }),
        format!(
            r#"{{"session_id":"T","turn_id":"U",{common}:"PreToolUse",{rest},"tool_name":"Bash","tool_input":{{"command":"ls"}},"tool_use_id":"c1"}}"#
        )
    );
    assert_eq!(
        given(&Event::PostToolUse {
            call_id: id(),
            command: command(),
            response: "a\n".to_owned()
        }),
        format!(
            r#"{{"session_id":"T","turn_id":"U",{common}:"PostToolUse",{rest},"tool_name":"Bash","tool_input":{{"command":"ls"}},"tool_response":"a\n","tool_use_id":"c1"}}"#
        )
    );
    assert_eq!(
        given(&Event::Stop {
            active: false,
            last_assistant_message: None
        }),
        format!(
            r#"{{"session_id":"T","turn_id":"U",{common}:"Stop",{rest},"stop_hook_active":false,"last_assistant_message":null}}"#
        )
    );
}

#[test]
fn an_ephemeral_thread_has_no_transcript_and_no_questions_are_a_mode() {
    let event = Event::Stop {
        active: true,
        last_assistant_message: Some("done".to_owned()),
    };
    let call = Call {
        event: &event,
        thread_id: "T",
        turn_id: "U",
        transcript: None,
        cwd: Path::new("/w"),
        model: "m",
        bypasses_permissions: true,
    };
    let given = call.to_json();
    assert!(given.contains(r#""transcript_path":null"#), "{given}");
    assert!(
        given.contains(r#""permission_mode":"bypassPermissions""#),
        "{given}"
    );
}
