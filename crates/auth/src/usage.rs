//! How much of a ChatGPT plan is spent, as the ChatGPT backend reports it.

use std::collections::BTreeMap;

use quipu_wire::{
    CreditsSnapshot, GetAccountRateLimitsResponse, PlanType, RateLimitSnapshot, RateLimitWindow,
};
use serde::Deserialize;

use crate::accounts::Accounts;
use crate::backend;
use crate::claims;
use crate::http::{self, Agent, quote, status_line};
use crate::login::ChatGptLogin;

/// The main limit.
const MAIN: &str = "codex";

#[derive(Deserialize)]
struct Usage {
    plan_type: String,
    rate_limit: Option<Limit>,
    credits: Option<Credits>,
    additional_rate_limits: Option<Vec<Additional>>,
}

#[derive(Deserialize)]
struct Limit {
    primary_window: Option<Window>,
    secondary_window: Option<Window>,
}

#[derive(Deserialize)]
struct Window {
    used_percent: f64,
    limit_window_seconds: Option<i64>,
    reset_at: Option<i64>,
}

#[derive(Deserialize)]
struct Credits {
    has_credits: bool,
    unlimited: bool,
    balance: Option<String>,
}

#[derive(Deserialize)]
struct Additional {
    limit_name: Option<String>,
    metered_feature: String,
    rate_limit: Option<Limit>,
}

impl Accounts {
    /// Asks the backend at `base` how much the login has left.
    pub async fn rate_limits(
        &self,
        login: &ChatGptLogin,
        base: &str,
        agent: &Agent,
    ) -> Result<GetAccountRateLimitsResponse, String> {
        let url = backend::url(base, "usage");
        let request = backend::get(self.http.client()?, &url, login, agent);
        let answer = http::send(request).await;
        let answer = answer.map_err(|error| format!("GET {url} failed: {error}"))?;
        let kind = &answer.content_type;
        let body = quote(&answer.body, &[&login.access_token]);
        if !answer.status.is_success() {
            let status = status_line(answer.status);
            return Err(format!(
                "GET {url} failed: {status}; content-type={kind}; body={body}"
            ));
        }
        let usage: Usage = serde_json::from_str(&answer.body).map_err(|error| {
            format!("Decode error for {url}: {error}; content-type={kind}; body={body}")
        })?;
        Ok(snapshots(usage))
    }
}

fn snapshots(usage: Usage) -> GetAccountRateLimitsResponse {
    let plan = claims::plan(&usage.plan_type);
    let credits = usage.credits.map(|credits| CreditsSnapshot {
        has_credits: credits.has_credits,
        unlimited: credits.unlimited,
        balance: credits.balance,
    });
    let main = snapshot(MAIN, None, usage.rate_limit, credits, plan);
    let mut all = BTreeMap::from([(MAIN.to_owned(), main.clone())]);
    for other in usage.additional_rate_limits.into_iter().flatten() {
        let id = other.metered_feature;
        let limit = snapshot(&id, other.limit_name, other.rate_limit, None, plan);
        all.insert(id, limit);
    }
    GetAccountRateLimitsResponse {
        rate_limits: main,
        rate_limits_by_limit_id: Some(all),
    }
}

fn snapshot(
    id: &str,
    name: Option<String>,
    limit: Option<Limit>,
    credits: Option<CreditsSnapshot>,
    plan: PlanType,
) -> RateLimitSnapshot {
    let (primary, secondary) = match limit {
        Some(limit) => (limit.primary_window, limit.secondary_window),
        None => (None, None),
    };
    RateLimitSnapshot {
        limit_id: Some(id.to_owned()),
        limit_name: name,
        primary: primary.map(window),
        secondary: secondary.map(window),
        credits,
        plan_type: Some(plan),
    }
}

fn window(window: Window) -> RateLimitWindow {
    let seconds = window.limit_window_seconds.filter(|seconds| *seconds > 0);
    RateLimitWindow {
        used_percent: window.used_percent.round() as i32,
        window_duration_mins: seconds.map(|seconds| seconds / 60 + i64::from(seconds % 60 > 0)),
        resets_at: window.reset_at,
    }
}
