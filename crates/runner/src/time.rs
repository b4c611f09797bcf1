//! Points in time as files, logs and trackers write them; in memory they are milliseconds since 1970.

use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};

/// Milliseconds since 1970, UTC.
pub type Millis = i64;

/// Now, by the clock on the wall.
#[must_use]
pub fn now() -> Millis {
    Utc::now().timestamp_millis()
}

/// RFC 3339 in UTC, with milliseconds.
#[must_use]
pub fn rfc3339(at: Millis) -> String {
    let at = DateTime::<Utc>::from_timestamp_millis(at).unwrap_or_default();
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Reads RFC 3339; a plain date is its midnight in UTC.
#[must_use]
pub fn parse(text: &str) -> Option<Millis> {
    let text = text.trim();
    let whole = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        _ => text.to_owned(),
    };
    let at = DateTime::parse_from_rfc3339(&whole).ok()?;
    Some(at.timestamp_millis())
}

/// Reads a date of HTTP, in any of the three forms that a server may send.
#[must_use]
pub fn parse_http(text: &str) -> Option<Millis> {
    let forms = [
        "%a, %d %b %Y %H:%M:%S GMT",
        "%A, %d-%b-%y %H:%M:%S GMT",
        "%a %b %e %H:%M:%S %Y",
    ];
    let text = text.trim();
    let read = |form| NaiveDateTime::parse_from_str(text, form).ok();
    let at = forms.into_iter().find_map(read)?;
    Some(at.and_utc().timestamp_millis())
}

/// The day in UTC, as `2026-02-24`.
#[must_use]
pub fn day(at: Millis) -> String {
    rfc3339(at).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let at = parse("2026-02-24T20:15:30Z").unwrap();
        assert_eq!(rfc3339(at), "2026-02-24T20:15:30.000Z");
        assert_eq!(day(at), "2026-02-24");
        assert_eq!(parse("2026-02-24T21:15:30+01:00"), Some(at));
        assert_eq!(
            parse("2026-02-24").map(rfc3339).unwrap(),
            "2026-02-24T00:00:00.000Z"
        );
        assert_eq!(parse("yesterday"), None);
    }
}
