//! The time as people and files write it.

use chrono::{Local, Utc};

/// Now, in UTC with milliseconds, as logs have it.
pub(crate) fn timestamp() -> String {
    Utc::now().format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Now, in Unix milliseconds.
pub(crate) fn unix_milliseconds() -> i64 {
    Utc::now().timestamp_millis()
}

/// Now, in seconds.
pub(crate) fn unix_seconds() -> i64 {
    Utc::now().timestamp()
}

/// The local date.
pub(crate) fn local_date() -> String {
    Local::now().format("%Y-%m-%d").to_string()
}

/// The name of the local time zone.
pub(crate) fn timezone() -> String {
    iana_time_zone::get_timezone().unwrap_or_else(|_| "Etc/UTC".to_owned())
}
