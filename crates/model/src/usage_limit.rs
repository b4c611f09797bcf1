//! The text for an account that has used up its limit: it depends on the plan, on which limit it
//! was, and on when it ends.

use std::fmt;

use chrono::{DateTime, Datelike, Local, TimeZone, Timelike};

/// A used-up limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageLimit {
    /// The account's plan as the provider names it.
    pub plan: Option<String>,
    /// When the limit ends, in seconds since 1970.
    pub resets_at: Option<i64>,
    /// The name of the limit, unless it is the general one.
    pub limit_name: Option<String>,
    /// An offer that the provider wants shown.
    pub promo: Option<String>,
}

impl fmt::Display for UsageLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("You've hit your usage limit")?;
        let when = self.when(Local::now());
        if let Some(limit) = &self.limit_name {
            return write!(f, " for {limit}. Switch to another model now, or {when}");
        }
        if let Some(promo) = &self.promo {
            return write!(f, ". {promo}, or {when}");
        }
        match self.plan.as_deref() {
            Some("plus") => write!(
                f,
                ". Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/codex/settings/usage to purchase more credits or {when}"
            ),
            Some("pro") => write!(
                f,
                ". Visit https://chatgpt.com/codex/settings/usage to purchase more credits or {when}"
            ),
            Some(
                "team"
                | "business"
                | "self_serve_business_usage_based"
                | "enterprise_cbp_usage_based",
            ) => write!(
                f,
                ". To get more access now, send a request to your admin or {when}"
            ),
            Some("free" | "go") => write!(
                f,
                ". Upgrade to Plus to continue using Codex (https://chatgpt.com/explore/plus), or {when}"
            ),
            _ => write!(f, ". {}{}", when[..1].to_uppercase(), &when[1..]),
        }
    }
}

impl UsageLimit {
    fn when(&self, now: DateTime<Local>) -> String {
        let reset = self
            .resets_at
            .and_then(|at| Local.timestamp_opt(at, 0).single());
        match reset {
            Some(reset) => format!("try again at {}.", clock(reset, now)),
            None => "try again later.".into(),
        }
    }
}

fn clock(at: DateTime<Local>, now: DateTime<Local>) -> String {
    let (afternoon, hour) = at.hour12();
    let time = format!(
        "{hour}:{:02} {}",
        at.minute(),
        if afternoon { "PM" } else { "AM" }
    );
    if at.date_naive() == now.date_naive() {
        return time;
    }
    let day = at.day();
    let suffix = match (day % 10, day % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{} {day}{suffix}, {} {time}", at.format("%b"), at.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plan_has_its_advice() {
        let of = |plan: &str| UsageLimit {
            plan: Some(plan.into()),
            ..Default::default()
        };
        let cases = [
            (
                "pro",
                "You've hit your usage limit. Visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again later.",
            ),
            (
                "team",
                "You've hit your usage limit. To get more access now, send a request to your admin or try again later.",
            ),
            (
                "go",
                "You've hit your usage limit. Upgrade to Plus to continue using Codex (https://chatgpt.com/explore/plus), or try again later.",
            ),
            ("edu", "You've hit your usage limit. Try again later."),
        ];
        for (plan, text) in cases {
            assert_eq!(of(plan).to_string(), text);
        }
        let named = UsageLimit {
            limit_name: Some("Other Model".into()),
            ..of("plus")
        };
        assert_eq!(
            named.to_string(),
            "You've hit your usage limit for Other Model. Switch to another model now, or try again later."
        );
        let promo = UsageLimit {
            promo: Some("PROMO TEXT".into()),
            ..of("plus")
        };
        assert_eq!(
            promo.to_string(),
            "You've hit your usage limit. PROMO TEXT, or try again later."
        );
    }

    #[test]
    fn times_are_short_today_and_dated_otherwise() {
        let at = |day, hour| {
            Local
                .with_ymd_and_hms(2033, 5, day, hour, 5, 0)
                .single()
                .unwrap()
        };
        assert_eq!(clock(at(18, 15), at(18, 1)), "3:05 PM");
        assert_eq!(clock(at(18, 0), at(17, 1)), "May 18th, 2033 12:05 AM");
        assert_eq!(clock(at(1, 12), at(17, 1)), "May 1st, 2033 12:05 PM");
        assert_eq!(clock(at(12, 12), at(17, 1)), "May 12th, 2033 12:05 PM");
        assert_eq!(clock(at(23, 12), at(17, 1)), "May 23rd, 2033 12:05 PM");
    }
}
