//! The server's questions: every kind has a safe answer, and no handler can hold up the connection.

use std::future::pending;
use std::time::Duration;

use quipu_client::wire::{
    ApplyPatchApprovalParams, ChatgptAuthTokensRefreshParams, ChatgptAuthTokensRefreshResponse,
    CommandExecutionApprovalDecision as Decision, CommandExecutionRequestApprovalParams,
    DynamicToolCallParams, DynamicToolCallResponse, ExecCommandApprovalParams,
    FileChangeApprovalDecision, FileChangeRequestApprovalParams, GrantedPermissionProfile, Json,
    McpServerElicitationAction, McpServerElicitationRequestParams,
    McpServerElicitationRequestResponse, PermissionGrantScope, PermissionsRequestApprovalParams,
    PermissionsRequestApprovalResponse, ReviewDecision, ThreadLoadedListParams,
    ToolRequestUserInputAnswer, ToolRequestUserInputParams, ToolRequestUserInputResponse,
};
use quipu_client::{ErrorObject, Handler, Timeouts};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{scripted, soon, within};

fn about_item() -> Value {
    json!({ "threadId": "t", "turnId": "u", "itemId": "i" })
}

fn with(mut params: Value, more: Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    params
}

/// Every question, and what is answered without a handler.
fn defaults() -> Vec<(&'static str, Value, Value)> {
    let tool =
        json!({ "threadId": "t", "turnId": "u", "callId": "c", "tool": "x", "arguments": {} });
    let form = json!({
        "threadId": "t", "turnId": null, "serverName": "s", "mode": "form", "_meta": null,
        "message": "m", "requestedSchema": { "type": "object", "properties": {} },
    });
    let v1 = json!({ "conversationId": "00000000-0000-0000-0000-000000000000", "callId": "c" });
    let no_tool = json!({ "type": "inputText", "text": "The client has no tool named `x`." });
    vec![
        (
            "item/commandExecution/requestApproval",
            about_item(),
            json!({ "decision": "decline" }),
        ),
        (
            "item/fileChange/requestApproval",
            about_item(),
            json!({ "decision": "decline" }),
        ),
        (
            "item/permissions/requestApproval",
            with(
                about_item(),
                json!({ "permissions": { "network": null, "fileSystem": null } }),
            ),
            json!({ "permissions": {}, "scope": "turn" }),
        ),
        (
            "item/tool/requestUserInput",
            with(about_item(), json!({ "questions": [] })),
            json!({ "answers": {} }),
        ),
        (
            "mcpServer/elicitation/request",
            form,
            json!({ "action": "decline", "content": null, "_meta": null }),
        ),
        (
            "item/tool/call",
            tool,
            json!({ "contentItems": [no_tool], "success": false }),
        ),
        (
            "applyPatchApproval",
            with(v1.clone(), json!({ "fileChanges": {} })),
            json!({ "decision": "denied" }),
        ),
        (
            "execCommandApproval",
            with(v1, json!({ "command": [], "cwd": "/", "parsedCmd": [] })),
            json!({ "decision": "denied" }),
        ),
    ]
}

#[tokio::test]
async fn every_question_has_a_safe_answer() {
    let (_client, mut peer) = scripted(|it| it).await;
    for (method, params, expected) in defaults() {
        let answer = peer.ask(method, params).await;
        assert_eq!(answer["result"], expected, "{method}: {answer}");
    }
    let refresh = json!({ "reason": "unauthorized", "previousAccountId": null });
    let answer = peer.ask("account/chatgptAuthTokens/refresh", refresh).await;
    assert_eq!(
        answer["error"]["message"],
        "this client does not manage tokens"
    );
    let answer = peer.ask("soul/sell", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
    assert_eq!(
        answer["error"]["message"],
        "this client does not know `soul/sell`"
    );
    let answer = peer.ask("item/tool/call", json!([])).await;
    assert_eq!(answer["error"]["code"], -32602);
}

/// Says yes to everything.
struct Generous;

impl Handler for Generous {
    async fn approve_command(&self, _: CommandExecutionRequestApprovalParams) -> Decision {
        Decision::AcceptForSession
    }

    async fn approve_file_change(
        &self,
        _: FileChangeRequestApprovalParams,
    ) -> FileChangeApprovalDecision {
        FileChangeApprovalDecision::Accept
    }

    async fn approve_permissions(
        &self,
        _: PermissionsRequestApprovalParams,
    ) -> PermissionsRequestApprovalResponse {
        PermissionsRequestApprovalResponse {
            permissions: GrantedPermissionProfile {
                network: None,
                file_system: None,
            },
            scope: PermissionGrantScope::Session,
            strict_auto_review: false,
        }
    }

    async fn answer_questions(
        &self,
        _: ToolRequestUserInputParams,
    ) -> ToolRequestUserInputResponse {
        let answers = vec!["blue".to_owned()];
        let answer = ToolRequestUserInputAnswer { answers };
        ToolRequestUserInputResponse {
            answers: [("colour".to_owned(), answer)].into(),
        }
    }

    async fn answer_elicitation(
        &self,
        _: McpServerElicitationRequestParams,
    ) -> McpServerElicitationRequestResponse {
        McpServerElicitationRequestResponse {
            action: McpServerElicitationAction::Accept,
            content: Some(json!({ "sure": true }).into()),
            meta: None,
        }
    }

    async fn call_tool(&self, _: DynamicToolCallParams) -> DynamicToolCallResponse {
        DynamicToolCallResponse {
            content_items: Vec::new(),
            success: true,
        }
    }

    async fn refresh_tokens(
        &self,
        _: ChatgptAuthTokensRefreshParams,
    ) -> Result<ChatgptAuthTokensRefreshResponse, ErrorObject> {
        Ok(ChatgptAuthTokensRefreshResponse {
            access_token: "fresh".to_owned(),
            chatgpt_account_id: "mine".to_owned(),
            chatgpt_plan_type: None,
        })
    }

    async fn approve_legacy_patch(&self, _: ApplyPatchApprovalParams) -> ReviewDecision {
        ReviewDecision::Approved
    }

    async fn approve_legacy_command(&self, _: ExecCommandApprovalParams) -> ReviewDecision {
        ReviewDecision::Abort
    }

    async fn answer_unknown(&self, method: String, params: Json) -> Result<Json, ErrorObject> {
        Ok(json!({ "asked": method, "with": params.to_value() }).into())
    }
}

#[tokio::test]
async fn every_question_reaches_its_own_method() {
    let (_client, mut peer) = scripted(|it| it.handler(Generous)).await;
    let answers = [
        json!({ "decision": "acceptForSession" }),
        json!({ "decision": "accept" }),
        json!({ "permissions": {}, "scope": "session" }),
        json!({ "answers": { "colour": { "answers": ["blue"] } } }),
        json!({ "action": "accept", "content": { "sure": true }, "_meta": null }),
        json!({ "contentItems": [], "success": true }),
        json!({ "decision": "approved" }),
        json!({ "decision": "abort" }),
    ];
    for ((method, params, _), expected) in defaults().into_iter().zip(answers) {
        let answer = peer.ask(method, params).await;
        assert_eq!(answer["result"], expected, "{method}: {answer}");
    }
    let refresh = json!({ "reason": "unauthorized", "previousAccountId": null });
    let answer = peer.ask("account/chatgptAuthTokens/refresh", refresh).await;
    assert_eq!(answer["result"]["accessToken"], "fresh");
    let answer = peer.ask("soul/sell", json!({ "price": 1 })).await;
    let expected = json!({ "asked": "soul/sell", "with": { "price": 1 } });
    assert_eq!(answer["result"], expected);
}

/// Panics, thinks for ever, and says when its thinking is dropped.
struct Bad(mpsc::UnboundedSender<&'static str>);

struct Told(mpsc::UnboundedSender<&'static str>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.send("dropped").ok();
    }
}

impl Handler for Bad {
    async fn approve_command(&self, _: CommandExecutionRequestApprovalParams) -> Decision {
        panic!("a handler of the test panics on purpose");
    }

    async fn approve_file_change(
        &self,
        _: FileChangeRequestApprovalParams,
    ) -> FileChangeApprovalDecision {
        let _told = Told(self.0.clone());
        self.0.send("asked").ok();
        pending().await
    }

    fn call_tool(
        &self,
        _: DynamicToolCallParams,
    ) -> impl Future<Output = DynamicToolCallResponse> + Send {
        assert!(
            self.0.is_closed(),
            "a handler of the test panics on purpose"
        );
        std::future::ready(DynamicToolCallResponse {
            content_items: Vec::new(),
            success: true,
        })
    }
}

#[tokio::test]
async fn a_handler_that_panics_is_answered_for() {
    let (heard, _hear) = mpsc::unbounded_channel();
    let (_client, mut peer) = scripted(|it| it.handler(Bad(heard))).await;
    for (method, params, expected) in defaults() {
        if method != "item/fileChange/requestApproval" {
            assert_eq!(peer.ask(method, params).await["result"], expected);
        }
    }
}

#[tokio::test]
async fn a_slow_handler_holds_up_nothing_and_has_a_limit() {
    let (heard, mut hear) = mpsc::unbounded_channel();
    let timeouts = Timeouts {
        handler: Some(Duration::from_millis(300)),
        ..Timeouts::default()
    };
    let (client, mut peer) = scripted(|it| it.handler(Bad(heard)).timeouts(timeouts)).await;
    let slow = "item/fileChange/requestApproval";
    peer.say(json!({ "id": 9, "method": slow, "params": about_item() }))
        .await;
    assert_eq!(within("the question", hear.recv()).await, Some("asked"));
    let call = client.thread_loaded_list(ThreadLoadedListParams::default());
    let request = peer.asked("thread/loaded/list").await;
    peer.answer(&request, json!({ "data": [], "nextCursor": null }))
        .await;
    soon(call).await;
    let answer = peer.0.next().await.unwrap();
    assert_eq!(
        answer,
        json!({ "id": 9, "result": { "decision": "decline" } })
    );
}

#[tokio::test]
async fn a_question_that_is_settled_is_thought_about_no_more() {
    let (heard, mut hear) = mpsc::unbounded_channel();
    let (_client, mut peer) = scripted(|it| it.handler(Bad(heard))).await;
    let slow = "item/fileChange/requestApproval";
    peer.say(json!({ "id": 9, "method": slow, "params": about_item() }))
        .await;
    assert_eq!(within("the question", hear.recv()).await, Some("asked"));
    let resolved = json!({ "threadId": "t", "requestId": 9 });
    peer.notify("serverRequest/resolved", resolved).await;
    assert_eq!(within("the end", hear.recv()).await, Some("dropped"));
    // Nobody is told anything about it; the next question is answered as ever.
    let answer = peer.ask("soul/sell", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
}
