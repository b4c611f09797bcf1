//! What each answer that is no answer becomes: message and machine-readable reason, the messages as the
//! official server has them.

use quipu_model::{ErrorKind, ModelEvent, Request, WireApi};
use quipu_testkit::model::ModelServer;
use quipu_wire::CodexErrorInfo;
use serde_json::{Value, json};

use crate::support::{WIRES, client, collect, failure, item, request, step, user};

/// A request in a thread in which the model has answered before.
fn continued() -> Request {
    let answer = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]});
    let mut request = request("hi");
    request.input.extend([item(&answer), user("go on")]);
    request
}

async fn check(wire: WireApi, served: Value, message: &str, info: CodexErrorInfo) {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(served));
    let events = collect(client(&server, wire).stream(continued())).await;
    let error = failure(&events);
    let url = server.base_url();
    assert_eq!(error.to_string(), message.replace("{base}", &url));
    assert_eq!(error.info(), info, "{message}");
    let received = format!("{error} {}", error.details().unwrap_or_default());
    let names = received.contains("provider `mock`") || received.contains(&url);
    let of_account = matches!(
        error.kind,
        ErrorKind::UsageLimit(_) | ErrorKind::UsageNotIncluded
    );
    assert!(names || of_account, "who failed? {received}");
}

#[tokio::test]
async fn refusals_of_a_responses_provider() {
    use CodexErrorInfo as Info;
    let limit = |kind: &str| json!({"error": {"type": kind, "plan_type": "plus"}});
    let unopened = |status: u16| Info::ResponseStreamConnectionFailed {
        http_status_code: Some(status),
    };
    let cases = [
        (
            json!({"fail": 400, "body": {"error": {"message": "bad thing"}}}),
            r#"{"error":{"message":"bad thing"}}"#,
            Info::BadRequest,
        ),
        (
            json!({"fail": 400, "body": {"error": {"message": "The image data you provided does not represent a valid image"}}}),
            "Invalid image in your last message. Please remove it and try again.",
            Info::BadRequest,
        ),
        (
            json!({"fail": 401, "body": {"error": {"message": "no auth"}}}),
            "unexpected status 401 Unauthorized: no auth, url: {base}/responses; name the variable that holds the key in `env_key` of [model_providers.mock]",
            Info::Unauthorized,
        ),
        (
            json!({"fail": 403, "body": "Cloudflare: you are blocked"}),
            "Access blocked by Cloudflare. This usually happens when connecting from a restricted region (status 403 Forbidden), url: {base}/responses",
            unopened(403),
        ),
        (
            json!({"fail": 403, "body": "nope", "headers": {"x-openai-authorization-error": "boom", "x-error-json": "eyJlcnJvciI6eyJjb2RlIjoiYWJjIn19"}}),
            "unexpected status 403 Forbidden: nope, url: {base}/responses, auth error: boom, auth error code: abc",
            unopened(403),
        ),
        (
            json!({"fail": 404, "body": {"error": {"message": "model not found"}}, "headers": {"cf-ray": "ray1", "x-request-id": "req_9"}}),
            "unexpected status 404 Not Found: model not found, url: {base}/responses, cf-ray: ray1, request id: req_9",
            unopened(404),
        ),
        (
            json!({"fail": 404, "body": ""}),
            "unexpected status 404 Not Found: Unknown error, url: {base}/responses; for a server that speaks Chat Completions, set `wire_api = \"chat\"` in [model_providers.mock]",
            unopened(404),
        ),
        (
            json!({"fail": 404, "body": {"detail": "Not Found"}}),
            r#"unexpected status 404 Not Found: {"detail":"Not Found"}, url: {base}/responses; for a server that speaks Chat Completions, set `wire_api = "chat"` in [model_providers.mock]"#,
            unopened(404),
        ),
        (
            json!({"fail": 429, "body": limit("usage_limit_reached")}),
            "You've hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again later.",
            Info::UsageLimitExceeded,
        ),
        (
            json!({"fail": 429, "body": limit("usage_limit_reached"), "headers": {"x-codex-active-limit": "codex_other", "x-codex-other-limit-name": "Other Model"}}),
            "You've hit your usage limit for Other Model. Switch to another model now, or try again later.",
            Info::UsageLimitExceeded,
        ),
        (
            json!({"fail": 429, "body": limit("usage_not_included")}),
            "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.",
            Info::UsageLimitExceeded,
        ),
        (
            json!({"fail": 429, "body": {"error": "slower"}, "headers": {"x-request-id": "req_1"}}),
            "exceeded retry limit, last status: 429 Too Many Requests: slower, request id: req_1",
            Info::ResponseTooManyFailedAttempts {
                http_status_code: Some(429),
            },
        ),
        (
            json!({"fail": 500, "body": {"message": "boom"}}),
            "unexpected status 500 Internal Server Error: boom, url: {base}/responses",
            Info::InternalServerError,
        ),
        (
            json!({"fail": 500, "body": ""}),
            "unexpected status 500 Internal Server Error: Unknown error, url: {base}/responses",
            Info::InternalServerError,
        ),
        (
            json!({"fail": 502, "body": {"error": {"message": "bad gateway"}}}),
            "unexpected status 502 Bad Gateway: bad gateway, url: {base}/responses",
            unopened(502),
        ),
        (
            json!({"fail": 503, "body": {"error": {"code": "server_is_overloaded"}}}),
            "Selected model is at capacity. Please try a different model.",
            Info::ServerOverloaded,
        ),
        (
            json!({"fail": 307, "headers": {"location": "/v1/other"}, "body": ""}),
            "unexpected status 307 Temporary Redirect: Unknown error, url: {base}/responses",
            unopened(307),
        ),
    ];
    for (served, message, info) in cases {
        check(WireApi::Responses, served, message, info).await;
    }
}

#[tokio::test]
async fn failures_inside_a_responses_stream() {
    use CodexErrorInfo as Info;
    let failed = |code: &str, message: Value| json!({"error": {"code": code, "message": message}});
    let broken = Info::ResponseStreamDisconnected {
        http_status_code: None,
    };
    let cases = [
        (
            failed("insufficient_quota", json!("x")),
            "Quota exceeded. Check your plan and billing details.",
            Info::UsageLimitExceeded,
        ),
        (
            failed("usage_not_included", json!("x")),
            "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.",
            Info::UsageLimitExceeded,
        ),
        (
            failed("invalid_prompt", json!("bad prompt")),
            "bad prompt",
            Info::Other,
        ),
        (
            failed("invalid_prompt", json!(null)),
            "Invalid request.",
            Info::Other,
        ),
        (
            failed("slow_down", json!("x")),
            "Selected model is at capacity. Please try a different model.",
            Info::ServerOverloaded,
        ),
        (
            failed(
                "rate_limit_exceeded",
                json!("Rate limit. Please try again in 0.2s."),
            ),
            "stream disconnected before completion: Rate limit. Please try again in 0.2s.",
            broken.clone(),
        ),
        (
            failed("other", json!("wobble")),
            "stream disconnected before completion: wobble",
            broken.clone(),
        ),
        (
            failed("context_length_exceeded", json!("x")),
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
            Info::ContextWindowExceeded,
        ),
        (
            json!({"incomplete": "max_output_tokens"}),
            "stream disconnected before completion: Incomplete response returned, reason: max_output_tokens",
            broken.clone(),
        ),
        (
            json!({"raw": "data: {\"type\":\"response.failed\",\"response\":{}}\n\n"}),
            "stream disconnected before completion: response.failed event received",
            broken.clone(),
        ),
        (
            json!({"raw": "data: {\"type\":\"response.incomplete\",\"response\":{}}\n\n"}),
            "stream disconnected before completion: Incomplete response returned, reason: unknown",
            broken.clone(),
        ),
        (
            json!({"raw": "data: {\"type\":\"response.completed\",\"response\":{}}\n\n"}),
            "stream disconnected before completion: failed to parse ResponseCompleted: missing field `id`",
            broken.clone(),
        ),
        (
            json!({"raw": "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"x\",\"usage\":{\"input_tokens\":\"a\"}}}\n\n"}),
            "stream disconnected before completion: failed to parse ResponseCompleted: invalid type: string \"a\", expected i64",
            broken.clone(),
        ),
        (
            json!({"raw": "data: {\"type\":\"error\",\"message\":\"an error\"}\n\n"}),
            "stream disconnected before completion: an error",
            broken.clone(),
        ),
        (
            json!({"text": "a", "cut": true}),
            "stream disconnected before completion: Transport error: network error: error decoding response body",
            broken.clone(),
        ),
    ];
    for (served, message, info) in cases {
        check(WireApi::Responses, served, message, info).await;
    }
}

#[tokio::test]
async fn other_formats_say_the_same_with_other_words() {
    use CodexErrorInfo as Info;
    let body = |message: &str| json!({"error": {"message": message}});
    let chat = [
        (
            json!({"fail": 401, "body": body("bad key")}),
            "unexpected status 401 Unauthorized: bad key, url: {base}/chat/completions; name the variable that holds the key in `env_key` of [model_providers.mock]",
            Info::Unauthorized,
        ),
        (
            json!({"fail": 402, "body": body("pay")}),
            "Quota exceeded. Check your plan and billing details.",
            Info::UsageLimitExceeded,
        ),
        (
            json!({"fail": 400, "body": body("This model's maximum context length is 8192 tokens.")}),
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
            Info::ContextWindowExceeded,
        ),
        (
            json!({"fail": 422, "body": {"error": "bad field"}}),
            "unexpected status 422 Unprocessable Entity: bad field, url: {base}/chat/completions",
            Info::BadRequest,
        ),
        (
            json!({"text": "half", "incomplete": "length"}),
            "stream disconnected before completion: Incomplete response returned, reason: max_output_tokens",
            Info::Other,
        ),
        (
            json!({"error": {"message": "upstream died", "code": 502}}),
            "stream disconnected before completion: upstream died",
            Info::ResponseStreamDisconnected {
                http_status_code: None,
            },
        ),
    ];
    for (served, message, info) in chat {
        check(WireApi::Chat, served, message, info).await;
    }
    let anthropic = [
        (
            json!({"fail": 400, "body": {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 300000 tokens > 200000 maximum"}}}),
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
            Info::ContextWindowExceeded,
        ),
        (
            json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "stream disconnected before completion: Overloaded",
            Info::ResponseStreamDisconnected {
                http_status_code: None,
            },
        ),
        (
            json!({"text": "half", "incomplete": "max_tokens"}),
            "stream disconnected before completion: Incomplete response returned, reason: max_output_tokens",
            Info::Other,
        ),
        (
            json!({"fail": 529, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}}),
            "unexpected status 529 <unknown status code>: Overloaded, url: {base}/messages",
            Info::ResponseStreamConnectionFailed {
                http_status_code: Some(529),
            },
        ),
    ];
    for (served, message, info) in anthropic {
        check(WireApi::Anthropic, served, message, info).await;
    }
}

/// The causes that programs decide by do not depend on the format.
#[tokio::test]
async fn causes_are_the_same_in_every_format() {
    use CodexErrorInfo as Info;
    let body = json!({"error": {"message": "no"}});
    let unopened = |status: u16| Info::ResponseStreamConnectionFailed {
        http_status_code: Some(status),
    };
    let broken = Info::ResponseStreamDisconnected {
        http_status_code: None,
    };
    let attempts = Info::ResponseTooManyFailedAttempts {
        http_status_code: Some(429),
    };
    let table = [
        (json!({"fail": 400, "body": body}), Info::BadRequest),
        (json!({"fail": 401, "body": body}), Info::Unauthorized),
        (json!({"fail": 403, "body": body}), unopened(403)),
        (json!({"fail": 404, "body": body}), unopened(404)),
        (json!({"fail": 429, "body": body}), attempts),
        (
            json!({"fail": 500, "body": body}),
            Info::InternalServerError,
        ),
        (json!({"fail": 503, "body": body}), unopened(503)),
        (json!({"text": "half", "cut": true}), broken),
    ];
    for wire in WIRES {
        for (served, info) in &table {
            let server = ModelServer::start().await.unwrap();
            server.queue(step(served.clone()));
            let events = collect(client(&server, wire).stream(request("hi"))).await;
            assert_eq!(failure(&events).info(), *info, "{wire:?} {served}");
        }
    }
}

#[tokio::test]
async fn openai_without_an_explanation_has_its_own_text() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({"fail": 500, "body": ""})));
    let mut config = crate::support::provider(&server, WireApi::Responses);
    config.id = "openai".into();
    let model = quipu_model::Client::new(config, quipu_model::Credentials::None);
    let events = collect(model.stream(request("hi"))).await;
    assert_eq!(
        failure(&events).to_string(),
        "We're currently experiencing high demand, which may cause temporary errors."
    );
}

/// What servers answer when a prompt is longer than their context.
#[tokio::test]
async fn overflows_are_recognised_whoever_reports_them() {
    let nested = |message: &str| json!({"error": {"message": message}});
    let served = [
        json!({"fail": 400, "body": {"error": {"code": 400, "type": "exceed_context_size_error",
            "message": "request (1640 tokens) exceeds the available context size (1024 tokens), try increasing it"}}}),
        json!({"fail": 500, "body": nested("the request exceeds the available context size. try increasing it")}),
        json!({"fail": 400, "body": {"object": "error", "code": 400, "type": "BadRequestError",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"}}),
        json!({"fail": 400, "body": {"error": "Trying to keep the first 4533 tokens when context the overflows. \
            However, the model is loaded with context length of only 4096 tokens, which is not enough."}}),
        json!({"fail": 400, "body": nested("the input length exceeds the context length")}),
        json!({"fail": 400, "body": nested("Requested tokens (1640) exceed context window of 1024")}),
        json!({"fail": 400, "body": nested("The input token count (9) exceeds the maximum number of tokens allowed (8).")}),
        json!({"raw": "event: error\ndata: {\"error\":{\"message\":\"The number of tokens to keep from the \
            initial prompt is greater than the context length\"}}\n\n"}),
    ];
    for wire in [WireApi::Chat, WireApi::Responses] {
        for step_served in &served {
            if wire == WireApi::Responses && step_served.get("raw").is_some() {
                continue;
            }
            let server = ModelServer::start().await.unwrap();
            server.queue(step(step_served.clone()));
            let events = collect(client(&server, wire).stream(request("hi"))).await;
            let kind = &failure(&events).kind;
            assert_eq!(*kind, ErrorKind::PromptTooLong, "{step_served}");
            server.queue(step(step_served.clone()));
            let events = collect(client(&server, wire).stream(continued())).await;
            let kind = &failure(&events).kind;
            assert_eq!(*kind, ErrorKind::ContextWindowExceeded, "{step_served}");
        }
    }
}

#[tokio::test]
async fn a_local_server_that_closes_at_once_may_have_too_small_a_context() {
    for (window, expected) in [
        (
            Some(10),
            "The prompt does not fit the model's context window",
        ),
        (None, "if its context is smaller than about"),
    ] {
        let server = ModelServer::start().await.unwrap();
        server.queue(step(json!({"raw": ""})));
        let mut asked = request("hi");
        asked.context_window = window;
        let mut config = crate::support::provider(&server, WireApi::Chat);
        config.stream_max_retries = Some(3);
        let model = quipu_model::Client::new(config, quipu_model::Credentials::None);
        let error = failure(&collect(model.stream(asked)).await).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("response.completed"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_used_up_limit_comes_with_its_numbers() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({"fail": 429, "body": {"error": {"type": "usage_limit_reached"}}, "headers": {"x-codex-primary-used-percent": "100"}})));
    let events = collect(client(&server, WireApi::Responses).stream(request("hi"))).await;
    let ModelEvent::RateLimits(limits) = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(limits.primary.as_ref().unwrap().used_percent, 100);
    assert!(matches!(failure(&events).kind, ErrorKind::UsageLimit(_)));
}

#[tokio::test]
async fn a_missing_key_is_named() {
    let server = ModelServer::start().await.unwrap();
    let mut config = crate::support::provider(&server, WireApi::Responses);
    config.env_key = Some("QUIPU_TEST_UNSET".into());
    config.env_key_instructions = Some("Get one.".into());
    let model = quipu_model::Client::new(config, quipu_model::Credentials::None);
    let events = collect(model.stream(request("hi"))).await;
    assert_eq!(
        failure(&events).to_string(),
        "Missing environment variable: `QUIPU_TEST_UNSET`. Get one."
    );
    assert!(server.requests().is_empty());
}
