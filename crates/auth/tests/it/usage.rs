//! What the ChatGPT backend tells about a plan.

use quipu_auth::{ChatGptLogin, Login};
use quipu_testkit::identity::USAGE;
use serde_json::{Value, json};

use crate::support::{Desk, agent, now};

fn login(desk: &Desk) -> ChatGptLogin {
    match desk.accounts.current() {
        Some(Login::ChatGpt(login)) => login,
        other => panic!("{other:?}"),
    }
}

async fn ask(desk: &Desk) -> Result<Value, String> {
    let (login, base) = (login(desk), format!("{}/", desk.identity.issuer()));
    let limits = desk.accounts.rate_limits(&login, &base, &agent()).await?;
    Ok(serde_json::to_value(limits).unwrap())
}

#[tokio::test]
async fn limits_are_reported_by_their_names() {
    let desk = Desk::new().await;
    let [_, access, _] = desk.log_in(&now());
    desk.identity.set_usage(json!({
        "plan_type": "pro",
        "rate_limit": {
            "primary_window": { "used_percent": 12, "limit_window_seconds": 18001, "reset_at": 1700000000 },
            "secondary_window": null,
        },
        "credits": { "has_credits": true, "unlimited": false, "balance": "3.5" },
        "additional_rate_limits": [{ "limit_name": "Other", "metered_feature": "codex_other",
            "rate_limit": { "primary_window": { "used_percent": 99.6, "limit_window_seconds": 0 } } }],
    }));
    let main = json!({
        "limitId": "codex", "limitName": null,
        "primary": { "usedPercent": 12, "windowDurationMins": 301, "resetsAt": 1700000000 },
        "secondary": null,
        "credits": { "hasCredits": true, "unlimited": false, "balance": "3.5" },
        "planType": "pro",
    });
    let other = json!({
        "limitId": "codex_other", "limitName": "Other",
        "primary": { "usedPercent": 100, "windowDurationMins": null, "resetsAt": null },
        "secondary": null, "credits": null, "planType": "pro",
    });
    let expected = json!({ "rateLimits": main,
        "rateLimitsByLimitId": { "codex": main, "codex_other": other } });
    assert_eq!(ask(&desk).await, Ok(expected));
    let asked = &desk.identity.asked(USAGE)[0];
    assert_eq!(asked.headers["authorization"], format!("Bearer {access}"));
    assert_eq!(asked.headers["chatgpt-account-id"], "acct-1");
    assert_eq!(asked.headers["user-agent"], "tests/1");
}

#[tokio::test]
async fn a_backend_that_fails_is_quoted_without_secrets() {
    let desk = Desk::new().await;
    let [_, access, _] = desk.log_in(&now());
    let url = format!("{}{USAGE}", desk.identity.issuer());
    let (kind, echo) = ("content-type=application/json", format!("not {access}"));
    for (status, body, message) in [
        (
            500,
            "boom",
            format!("GET {url} failed: 500 Internal Server Error; {kind}; body=boom"),
        ),
        (
            401,
            &echo,
            format!("GET {url} failed: 401 Unauthorized; {kind}; body=not [redacted]"),
        ),
        (
            200,
            "garbage",
            format!(
                "Decode error for {url}: expected value at line 1 column 1; {kind}; body=garbage"
            ),
        ),
        (
            200,
            "{}",
            format!(
                "Decode error for {url}: missing field `plan_type` at line 1 column 2; {kind}; body={{}}"
            ),
        ),
    ] {
        desk.identity.reply(USAGE, status, body);
        assert_eq!(ask(&desk).await, Err(message));
    }
}
