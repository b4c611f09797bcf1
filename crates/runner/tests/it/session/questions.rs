//! Requirements 19 to 25 and 27: what the server asks.

use quipu_runner::session::{EventKind, SessionError, SessionOptions};
use serde_json::{Value, json};

use super::support::{Lab, lives, start, within};

/// A server that asks something in a turn and ends the turn when it has the answer.
fn asking(method: &str, params: &Value) -> Lab {
    let request = json!({ "id": 99, "method": method, "params": params });
    Lab::new(&format!(
        "greet; turn 3 turn-1; say '{request}'; get; completed turn-1; stay"
    ))
}

/// What is answered under the policy `never`.
async fn answered(method: &str, params: Value) -> Value {
    let lab = asking(method, &params);
    lab.run().await.unwrap();
    lab.answer(99)["result"].clone()
}

/// How the turn ends under a policy that asks, and what was answered.
async fn stopped(method: &str, params: Value) -> (SessionError, Value) {
    let request = json!({ "id": 99, "method": method, "params": params });
    let lab = Lab::new(&format!(
        r#"greet; turn 3 turn-1; say '{request}'; get; get; say '{{"id":4,"result":{{}}}}'; stay"#
    ));
    let options = SessionOptions {
        approval_policy: json!("on-request"),
        ..lab.options()
    };
    let mut session = start(options).await.unwrap();
    let pid = session.pid().unwrap();
    let error = within("the end", session.run_turn("do it"))
        .await
        .unwrap_err();
    assert!(!lives(pid));
    assert_eq!(lab.sent("turn/interrupt")["turnId"], "turn-1");
    let answer = lab.answer(99)["result"].clone();
    (error, answer)
}

fn place() -> Value {
    json!({ "threadId": "thread-1", "turnId": "turn-1", "itemId": "i" })
}

const APPROVALS: [(&str, &str, &str); 4] = [
    (
        "item/commandExecution/requestApproval",
        "acceptForSession",
        "cancel",
    ),
    (
        "item/fileChange/requestApproval",
        "acceptForSession",
        "cancel",
    ),
    ("execCommandApproval", "approved_for_session", "abort"),
    ("applyPatchApproval", "approved_for_session", "abort"),
];

#[tokio::test]
async fn r20_each_of_the_four_approvals_is_given_under_never() {
    for (method, given, _) in APPROVALS {
        let lab = asking(method, &place());
        lab.run().await.unwrap();
        assert_eq!(
            lab.answer(99)["result"],
            json!({ "decision": given }),
            "{method}"
        );
        let reported = lab.events(EventKind::ApprovalAutoApproved);
        assert_eq!(reported[0].payload["request"], place());
    }
}

#[tokio::test]
async fn r19_r21_under_any_other_policy_the_run_stops_and_nothing_is_approved() {
    for (method, _, refused) in APPROVALS {
        let (error, answer) = stopped(method, place()).await;
        let SessionError::ApprovalRequired { payload } = &error else {
            panic!("{method}: {error}");
        };
        assert_eq!(*payload, place());
        assert_eq!(answer, json!({ "decision": refused }), "{method}");
    }
}

#[tokio::test]
async fn r21_what_an_agent_of_the_turn_asks_stops_the_run_as_well() {
    let of_agent = json!({ "threadId": "thread-of-an-agent", "turnId": "turn-9", "itemId": "i" });
    for (method, code) in [
        ("item/fileChange/requestApproval", "approval_required"),
        ("mcpServer/elicitation/request", "turn_input_required"),
    ] {
        let (error, _) = stopped(method, of_agent.clone()).await;
        assert_eq!(error.code(), code, "{error}");
    }
}

fn question(id: &str, labels: &[&str]) -> Value {
    let options: Vec<_> = labels
        .iter()
        .map(|label| json!({ "label": label, "description": "" }))
        .collect();
    json!({ "id": id, "header": "h", "question": "q?", "options": options })
}

fn questions(questions: &[Value]) -> Value {
    json!({ "threadId": "thread-1", "turnId": "turn-1", "itemId": "i", "questions": questions })
}

#[tokio::test]
async fn r22_approvals_of_mcp_tools_are_answered_with_the_label_that_the_server_offers() {
    let id = "mcp_tool_call_approval_call-717";
    let today = [
        "Allow",
        "Allow for this session",
        "Allow and don’t ask me again",
        "Cancel",
    ];
    for (offered, label) in [
        (&today[..], "Allow for this session"),
        (
            &["Approve Once", "Approve this Session", "Deny"],
            "Approve this Session",
        ),
        (&["Deny", "Allow"], "Allow"),
    ] {
        let params = questions(&[question(id, offered)]);
        let answer = answered("item/tool/requestUserInput", params).await;
        assert_eq!(answer, json!({ "answers": { id: { "answers": [label] } } }));
    }
    let params = questions(&[question(id, &today)]);
    let (error, answer) = stopped("item/tool/requestUserInput", params).await;
    assert_eq!(error.code(), "approval_required");
    assert_eq!(answer, json!({ "answers": {} }));
}

#[tokio::test]
async fn r23_other_questions_are_answered_that_nobody_is_there() {
    let text = "This is a non-interactive session. Operator input is unavailable.";
    let free = json!({ "id": "freeform-718", "header": "h", "question": "q?", "options": null });
    let params = questions(&[free, question("choice", &["Yes", "No"])]);
    let answer = answered("item/tool/requestUserInput", params).await;
    let expected = json!({ "answers": {
        "freeform-718": { "answers": [text] }, "choice": { "answers": [text] },
    } });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn r24_what_only_a_person_can_answer_stops_the_turn() {
    let form = json!({
        "threadId": "thread-1", "turnId": "turn-1", "serverName": "s", "mode": "form", "_meta": null,
        "message": "Confirm?",
        "requestedSchema": { "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"] },
    });
    let (error, answer) = stopped("mcpServer/elicitation/request", form.clone()).await;
    let SessionError::TurnInputRequired { payload } = &error else {
        panic!("{error}");
    };
    assert_eq!(*payload, form);
    assert_eq!(answer["action"], "decline");

    let (error, _) = stopped("item/tool/requestUserInput", questions(&[])).await;
    assert_eq!(error.code(), "turn_input_required");

    // Approving everything is not answering everything.
    let request = json!({ "id": 99, "method": "mcpServer/elicitation/request", "params": form });
    let lab = Lab::new(&format!(
        r#"greet; turn 3 turn-1; say '{request}'; get; get; say '{{"id":4,"result":{{}}}}'; stay"#
    ));
    let error = lab.run().await.unwrap_err();
    assert_eq!(error.code(), "turn_input_required", "{error}");
    assert_eq!(lab.answer(99)["result"]["action"], "decline");

    for said in [
        r#"{"method":"turn/input_required","params":{"why":"a key"}}"#,
        r#"{"method":"turn/inputRequired","params":{"why":"a key"}}"#,
        r#"{"method":"turn/waiting","params":{"requiresInput":true}}"#,
    ] {
        let lab = Lab::new(&format!(
            r#"greet; turn 3 turn-1; say '{said}'; get; say '{{"id":4,"result":{{}}}}'; stay"#
        ));
        let error = lab.run().await.unwrap_err();
        assert_eq!(error.code(), "turn_input_required", "{said}");
    }
}

#[tokio::test]
async fn r25_tools_of_mcp_servers_are_accepted_and_nothing_else_is_granted() {
    let approval = json!({
        "threadId": "thread-1", "turnId": "turn-1", "serverName": "s", "mode": "form",
        "_meta": { "codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"] },
        "message": "Allow?", "requestedSchema": { "type": "object", "properties": {} },
    });
    let answer = answered("mcpServer/elicitation/request", approval.clone()).await;
    assert_eq!(answer["action"], "accept");
    assert_eq!(answer["_meta"]["persist"], "session");
    let (error, answer) = stopped("mcpServer/elicitation/request", approval).await;
    assert_eq!(error.code(), "approval_required");
    assert_eq!(answer["action"], "decline");

    let mut wider = place();
    wider["permissions"] = json!({ "network": { "enabled": true } });
    let answer = answered("item/permissions/requestApproval", wider.clone()).await;
    assert_eq!(answer, json!({ "permissions": {}, "scope": "turn" }));
    let (error, _) = stopped("item/permissions/requestApproval", wider).await;
    assert_eq!(error.code(), "approval_required");

    let filled = json!({
        "threadId": "thread-1", "turnId": "turn-1", "serverName": "s", "mode": "form", "_meta": null, "message": "?",
        "requestedSchema": { "type": "object", "properties": { "n": { "type": "integer", "default": 3 } }, "required": ["n"] },
    });
    let answer = answered("mcpServer/elicitation/request", filled).await;
    assert_eq!(
        (&answer["action"], &answer["content"]),
        (&json!("accept"), &json!({ "n": 3 }))
    );
}

#[tokio::test]
async fn r25_r27_unknown_requests_are_refused_reported_and_survived() {
    for method in ["account/chatgptAuthTokens/refresh", "brand/new"] {
        let lab = asking(method, &json!({ "reason": "unauthorized" }));
        lab.run().await.unwrap();
        assert_eq!(lab.answer(99)["error"]["code"], -32601);
        let reported = lab.events(EventKind::OtherMessage);
        assert_eq!(
            (&*reported[0].method, &reported[0].payload["reason"]),
            (method, &json!("unauthorized"))
        );
    }
}

#[tokio::test]
async fn r27_unknown_notifications_are_passed_on() {
    let lab = Lab::new(
        r#"greet; turn 3 turn-1; say '{"method":"brand/new","params":{"x":[1]}}'; completed turn-1; stay"#,
    );
    lab.run().await.unwrap();
    let reported = lab.events(EventKind::Notification);
    let found = reported.iter().find(|it| it.method == "brand/new").unwrap();
    assert_eq!(found.payload, json!({ "x": [1] }));
}
