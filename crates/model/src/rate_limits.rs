//! Rate limits as response headers tell them.

use quipu_wire::{CreditsSnapshot, PlanType, RateLimitSnapshot, RateLimitWindow};
use reqwest::header::HeaderMap;
use serde::Deserialize;

/// The limit that is always reported, with or without data.
const GENERAL: &str = "codex";
const USED_PERCENT: &str = "-primary-used-percent";

/// One snapshot for the general limit, and one for every other limit that has data.
pub(crate) fn snapshots(headers: &HeaderMap) -> Vec<RateLimitSnapshot> {
    let mut out = vec![snapshot(headers, GENERAL)];
    let mut others: Vec<&str> = headers
        .keys()
        .filter_map(|name| name.as_str().strip_prefix("x-")?.strip_suffix(USED_PERCENT))
        .filter(|family| *family != GENERAL)
        .collect();
    others.sort_unstable();
    out.extend(
        others
            .into_iter()
            .map(|family| snapshot(headers, family))
            .filter(|found| found.primary.is_some() || found.secondary.is_some()),
    );
    out
}

/// The limit that a refusal is about.
pub(crate) fn active_snapshot(headers: &HeaderMap) -> RateLimitSnapshot {
    snapshot(headers, &active_family(headers))
}

/// The name of the limit that a refusal is about, unless it is the general one.
pub(crate) fn active_limit_name(headers: &HeaderMap) -> Option<String> {
    let family = active_family(headers);
    if family == GENERAL {
        return None;
    }
    text(headers, &format!("x-{family}-limit-name")).map(str::to_owned)
}

fn active_family(headers: &HeaderMap) -> String {
    let active = text(headers, "x-codex-active-limit").unwrap_or(GENERAL);
    active.to_ascii_lowercase().replace('_', "-")
}

fn snapshot(headers: &HeaderMap, family: &str) -> RateLimitSnapshot {
    let credits = (family == GENERAL).then(|| credits(headers)).flatten();
    RateLimitSnapshot {
        limit_id: Some(family.replace('-', "_")),
        limit_name: text(headers, &format!("x-{family}-limit-name")).map(str::to_owned),
        primary: window(headers, &format!("x-{family}-primary")),
        secondary: window(headers, &format!("x-{family}-secondary")),
        credits,
        plan_type: None,
    }
}

fn window(headers: &HeaderMap, prefix: &str) -> Option<RateLimitWindow> {
    let used: f64 = text(headers, &format!("{prefix}-used-percent"))?
        .parse()
        .ok()?;
    let number = |name: &str| {
        text(headers, &format!("{prefix}-{name}"))?
            .parse::<i64>()
            .ok()
    };
    let (minutes, resets_at) = (number("window-minutes"), number("reset-at"));
    let has_data = used != 0.0 || minutes.is_some_and(|m| m != 0) || resets_at.is_some();
    (used.is_finite() && has_data).then(|| RateLimitWindow {
        used_percent: used.round() as i32,
        window_duration_mins: minutes,
        resets_at,
    })
}

fn credits(headers: &HeaderMap) -> Option<CreditsSnapshot> {
    let flag = |name| match text(headers, name)?.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    };
    Some(CreditsSnapshot {
        has_credits: flag("x-codex-credits-has-credits")?,
        unlimited: flag("x-codex-credits-unlimited")?,
        balance: text(headers, "x-codex-credits-balance").map(str::to_owned),
    })
}

/// The limits that an event tells, as on a websocket.
pub(crate) fn from_event(data: &str) -> Option<RateLimitSnapshot> {
    #[derive(Deserialize)]
    struct Event {
        plan_type: Option<PlanType>,
        #[serde(default)]
        rate_limits: Option<Windows>,
        credits: Option<Credits>,
        metered_limit_name: Option<String>,
        limit_name: Option<String>,
    }
    #[derive(Default, Deserialize)]
    struct Windows {
        primary: Option<Window>,
        secondary: Option<Window>,
    }
    #[derive(Deserialize)]
    struct Window {
        used_percent: f64,
        window_minutes: Option<i64>,
        reset_at: Option<i64>,
    }
    #[derive(Deserialize)]
    struct Credits {
        has_credits: bool,
        unlimited: bool,
        balance: Option<String>,
    }
    let window = |window: Window| RateLimitWindow {
        used_percent: window.used_percent.round() as i32,
        window_duration_mins: window.window_minutes,
        resets_at: window.reset_at,
    };
    let event: Event = serde_json::from_str(data).ok()?;
    let windows = event.rate_limits.unwrap_or_default();
    let limit = event.metered_limit_name.or(event.limit_name);
    let limit = limit.map(|limit| limit.to_ascii_lowercase().replace('-', "_"));
    Some(RateLimitSnapshot {
        limit_id: Some(limit.unwrap_or_else(|| GENERAL.to_owned())),
        limit_name: None,
        primary: windows.primary.map(window),
        secondary: windows.secondary.map(window),
        credits: event.credits.map(|credits| CreditsSnapshot {
            has_credits: credits.has_credits,
            unlimited: credits.unlimited,
            balance: credits.balance,
        }),
        plan_type: event.plan_type,
    })
}

/// A header's trimmed text, if it has one.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get(name)?
        .to_str()
        .ok()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    #[test]
    fn the_general_limit_is_always_there() {
        let found = snapshots(&HeaderMap::new());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].limit_id.as_deref(), Some("codex"));
        assert!(found[0].primary.is_none() && found[0].credits.is_none());
    }

    #[test]
    fn families_are_found_and_empty_ones_left_out() {
        let found = snapshots(&headers(&[
            ("x-codex-primary-used-percent", "12.6"),
            ("x-codex-primary-window-minutes", "300"),
            ("x-codex-primary-reset-at", "2000000000"),
            ("x-codex-secondary-used-percent", "0"),
            ("x-codex-credits-has-credits", "true"),
            ("x-codex-credits-unlimited", "0"),
            ("x-codex-credits-balance", "9.99"),
            ("x-codex-other-primary-used-percent", "100"),
            ("x-codex-other-limit-name", "Other Model"),
            ("x-codex-none-primary-used-percent", "NaN"),
        ]));
        assert_eq!(found.len(), 2);
        let primary = found[0].primary.as_ref().unwrap();
        assert_eq!(primary.used_percent, 13);
        assert_eq!(primary.resets_at, Some(2_000_000_000));
        assert!(found[0].secondary.is_none());
        assert_eq!(
            found[0].credits.as_ref().unwrap().balance.as_deref(),
            Some("9.99")
        );
        assert_eq!(found[1].limit_id.as_deref(), Some("codex_other"));
        assert_eq!(found[1].limit_name.as_deref(), Some("Other Model"));
    }
}
