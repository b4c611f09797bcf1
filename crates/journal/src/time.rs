//! The clock conversions that rollouts need: UTC stamps inside lines and cursors, local dates in file names.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Local, NaiveDateTime, SecondsFormat, TimeZone as _, Utc};

/// How a time is written in the name of a rollout.
const NAME_FORMAT: &str = "%Y-%m-%dT%H-%M-%S";

/// Reads the time in the name of a rollout, which has every digit.
pub(crate) fn parse_name_stamp(text: &str) -> Option<NaiveDateTime> {
    let has_shape = text.len() == NAME_SHAPE.len()
        && text
            .bytes()
            .zip(NAME_SHAPE)
            .all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                separator => byte == *separator,
            });
    has_shape.then(|| NaiveDateTime::parse_from_str(text, NAME_FORMAT).ok())?
}

/// Digits and separators of [`NAME_FORMAT`]; reading alone would accept fewer digits.
const NAME_SHAPE: &[u8; 19] = b"0000-00-00T00-00-00";

/// Writes a time as it stands in the name of a rollout.
pub(crate) fn name_stamp(time: NaiveDateTime) -> String {
    time.format(NAME_FORMAT).to_string()
}

/// The UTC date and time of `secs` since the epoch; the epoch if there is no such date.
pub(crate) fn utc(secs: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(secs, 0).unwrap_or_default()
}

/// The same in the time zone of this machine.
pub(crate) fn local(secs: i64) -> NaiveDateTime {
    Local
        .from_utc_datetime(&utc(secs).naive_utc())
        .naive_local()
}

/// Time since the epoch; a clock before it reads as the epoch.
pub(crate) fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Seconds since the epoch.
pub(crate) fn secs(time: SystemTime) -> i64 {
    i64::try_from(since_epoch(time).as_secs()).unwrap_or(i64::MAX)
}

/// Milliseconds since the epoch.
pub(crate) fn millis(time: SystemTime) -> i64 {
    i64::try_from(since_epoch(time).as_millis()).unwrap_or(i64::MAX)
}

/// The stamp of a rollout line: RFC 3339, UTC, milliseconds.
pub(crate) fn stamp(time: SystemTime) -> String {
    let time = DateTime::from_timestamp_millis(millis(time)).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// The stamp inside a cursor: RFC 3339, UTC, seconds.
pub(crate) fn stamp_secs(secs: i64) -> String {
    utc(secs).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Whole seconds since the epoch of an RFC 3339 stamp with any fraction and offset.
pub(crate) fn parse_stamp(text: &str) -> Option<i64> {
    let time = DateTime::parse_from_rfc3339(text).ok()?;
    Some(time.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_round_trip() {
        let time = UNIX_EPOCH + Duration::from_millis(1_794_726_335_648);
        assert_eq!(stamp(time), "2026-11-15T07:05:35.648Z");
        assert_eq!(stamp(UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
        assert_eq!(stamp_secs(1_794_726_335), "2026-11-15T07:05:35Z");
        assert_eq!(stamp_secs(-1), "1969-12-31T23:59:59Z");
        for text in [
            "2026-11-15T07:05:35.648Z",
            "2026-11-15T07:05:35.648123456Z",
            "2026-11-15T08:05:35+01:00",
            "2026-11-15T07:05:35Z",
        ] {
            assert_eq!(parse_stamp(text), Some(1_794_726_335), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_time() {
        for text in [
            "",
            "2026-11-15",
            "2026-13-15T07:05:35Z",
            "2026-02-30T07:05:35Z",
            "2026-11-15T07:05:35",
            "2026-11-15T07:05:35+0100",
            "2026-11-15T25:05:35Z",
            "２０２６-11-15T07:05:35Z",
        ] {
            assert_eq!(parse_stamp(text), None, "{text}");
        }
    }

    #[test]
    fn names_have_every_digit() {
        for text in [
            "2026-11-15T07-05-35",
            "0000-01-01T00-00-00",
            "2024-02-29T23-59-59",
        ] {
            let time = parse_name_stamp(text).unwrap();
            assert_eq!(name_stamp(time), text);
        }
        for text in [
            "",
            "2026-11-15T07:05:35",
            "2026-11-15 07-05-35",
            "2023-02-29T00-00-00",
            "2026- 1-15T07-05-35",
            "+026-11-15T07-05-35",
            "2026-11-15T24-00-00",
            "2026-11-15T07-05-35Z",
        ] {
            assert_eq!(parse_name_stamp(text), None, "{text}");
        }
    }
}
