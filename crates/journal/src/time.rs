//! The few clock conversions rollouts need: UTC stamps inside lines and cursors, local dates in
//! file names.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::platform;

const DAY: i64 = 86_400;

/// A date and a time of day without a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Civil {
    pub year: i64,
    pub month: u8,
    pub day: u8,
    pub hour: u8,
    pub minute: u8,
    pub second: u8,
}

impl Civil {
    /// The UTC reading of `secs` since the epoch.
    pub fn utc(secs: i64) -> Self {
        let (days, rest) = (secs.div_euclid(DAY), secs.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        Self {
            year,
            month,
            day,
            hour: (rest / 3600) as u8,
            minute: (rest / 60 % 60) as u8,
            second: (rest % 60) as u8,
        }
    }

    /// The reading of a clock on this machine's wall; UTC if the system cannot say.
    pub fn local(secs: i64) -> Self {
        platform::local_time(secs).map_or_else(
            || Self::utc(secs),
            |tm| Self {
                year: i64::from(tm.tm_year) + 1900,
                month: (tm.tm_mon + 1) as u8,
                day: tm.tm_mday as u8,
                hour: tm.tm_hour as u8,
                minute: tm.tm_min as u8,
                second: tm.tm_sec as u8,
            },
        )
    }

    /// Seconds since the epoch when read as UTC; `None` for a date or time that does not exist.
    pub fn to_secs(self) -> Option<i64> {
        let days = days_of(self.year, self.month, self.day)?;
        (self.hour < 24 && self.minute < 60 && self.second <= 60).then(|| {
            days * DAY
                + i64::from(self.hour) * 3600
                + i64::from(self.minute) * 60
                + i64::from(self.second)
        })
    }

    /// Parses `YYYY-MM-DDThh?mm?ss`, where `?` is the given separator.
    pub fn parse(text: &str, separator: u8) -> Option<Self> {
        let b = text.as_bytes();
        let shape = b.len() == 19
            && b[4] == b'-'
            && b[7] == b'-'
            && b[10] == b'T'
            && b[13] == separator
            && b[16] == separator;
        let part = |from: usize, to: usize| digits(&b[from..to]);
        shape.then_some(())?;
        let civil = Self {
            year: part(0, 4)?,
            month: part(5, 7)? as u8,
            day: part(8, 10)? as u8,
            hour: part(11, 13)? as u8,
            minute: part(14, 16)? as u8,
            second: part(17, 19)? as u8,
        };
        civil.to_secs().map(|_| civil)
    }

    /// Writes `YYYY-MM-DDThh?mm?ss`, where `?` is the given separator.
    pub fn format(self, separator: char) -> String {
        let Self {
            year,
            month,
            day,
            hour,
            minute,
            second,
        } = self;
        format!(
            "{year:04}-{month:02}-{day:02}T{hour:02}{separator}{minute:02}{separator}{second:02}"
        )
    }
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0_i64, |sum, b| {
        b.is_ascii_digit().then(|| sum * 10 + i64::from(b - b'0'))
    })
}

/// Days since the epoch of a date of the Gregorian calendar, counted in years that start in March
/// so that the leap day is the last of its year.
fn days_of(year: i64, month: u8, day: u8) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leaps = y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400);
    let days = y * 365 + leaps + (i64::from(m) * 153 + 2) / 5 + i64::from(day) - 1 - 719_468;
    (date_of(days) == (year, month, day)).then_some(days)
}

/// The inverse of [`days_of`].
fn date_of(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let (era, in_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * in_year + 2) / 153;
    let day = in_year - (153 * m + 2) / 5 + 1;
    let month = if m < 10 { m + 3 } else { m - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u8, day as u8)
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
    let millis = since_epoch(time).subsec_millis();
    format!("{}.{millis:03}Z", Civil::utc(secs(time)).format(':'))
}

/// The stamp inside a cursor: RFC 3339, UTC, seconds.
pub(crate) fn stamp_secs(secs: i64) -> String {
    format!("{}Z", Civil::utc(secs).format(':'))
}

/// Whole seconds since the epoch of an RFC 3339 stamp with any fraction and offset.
pub(crate) fn parse_stamp(text: &str) -> Option<i64> {
    let local = Civil::parse(text.get(..19)?, b':')?.to_secs()?;
    let rest = text.get(19..)?;
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    if rest == "Z" || rest == "z" {
        return Some(local);
    }
    let b = rest.as_bytes();
    let sign = match b.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let shape = b.len() == 6 && b[3] == b':';
    shape.then(|| Some(local - sign * (digits(&b[1..3])? * 3600 + digits(&b[4..6])? * 60)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_round_trip() {
        let time = UNIX_EPOCH + Duration::from_millis(1_794_726_335_648);
        assert_eq!(stamp(time), "2026-11-15T07:05:35.648Z");
        assert_eq!(stamp_secs(1_794_726_335), "2026-11-15T07:05:35Z");
        for text in [
            "2026-11-15T07:05:35.648Z",
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
    fn dates_are_inverse_of_days() {
        for days in (-200_000..200_000).step_by(97) {
            let (y, m, d) = date_of(days);
            assert!(days_of(y, m, d).is_none_or(|back| back == days));
        }
        assert_eq!(date_of(0), (1970, 1, 1));
        assert_eq!(days_of(2024, 2, 29), Some(19_782));
        assert_eq!(days_of(2023, 2, 29), None);
    }
}
