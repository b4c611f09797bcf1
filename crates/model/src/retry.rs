//! When to try again: the waits between attempts, and what providers say about them.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

const BASE: Duration = Duration::from_millis(200);
/// A provider that asks for a longer wait than this is taken at its word by failing the turn.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The wait before attempt `n` (from 1): 200 ms, doubled each time, give or take a tenth.
pub(crate) fn backoff(n: u32) -> Duration {
    let doubled = BASE
        .saturating_mul(1 << n.saturating_sub(1).min(12))
        .min(LONGEST_WAIT);
    doubled.mul_f64(0.9 + 0.2 * random_fraction())
}

/// A fresh hasher's key is random: enough to keep clients from retrying in step.
fn random_fraction() -> f64 {
    (RandomState::new().hash_one(0u8) >> 11) as f64 / (1u64 << 53) as f64
}

/// `Retry-After` in seconds; the milliseconds form that some providers add is more exact. The date
/// form is ignored: no model provider uses it.
pub(crate) fn retry_after_header(headers: &HeaderMap) -> Option<Duration> {
    let number = |value: &reqwest::header::HeaderValue| value.to_str().ok()?.trim().parse().ok();
    let millis = headers
        .get("retry-after-ms")
        .and_then(number)
        .map(|ms: f64| ms / 1000.0);
    let seconds = millis.or_else(|| headers.get(RETRY_AFTER).and_then(number))?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The wait in a text such as "Please try again in 1.3s" or "try again in 28 ms".
pub(crate) fn retry_after_text(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    let rest = lower.split_once("try again in")?.1.trim_start();
    let number_end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let (number, unit) = rest.split_at(number_end);
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim_start();
    let seconds = if unit.starts_with("ms") {
        number / 1000.0
    } else if unit.starts_with('s') {
        number
    } else {
        return None;
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_within_a_tenth() {
        for (n, base) in [(1, 200.0), (2, 400.0), (5, 3200.0)] {
            let wait = backoff(n).as_secs_f64() * 1000.0;
            assert!((base * 0.9..=base * 1.1).contains(&wait), "{n}: {wait}");
        }
        assert!(backoff(u32::MAX) <= LONGEST_WAIT.mul_f64(1.1));
    }

    #[test]
    fn waits_are_read_from_texts_and_headers() {
        let cases = [
            ("Rate limit. Please try again in 0.2s.", Some(200)),
            ("Try again in 28 ms", Some(28)),
            ("try again in 35 seconds.", Some(35_000)),
            ("try again in a while", None),
            ("try again in 5 minutes", None),
            ("no hint", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                retry_after_text(text),
                expected.map(Duration::from_millis),
                "{text}"
            );
        }
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "2".parse().unwrap());
        assert_eq!(retry_after_header(&headers), Some(Duration::from_secs(2)));
        headers.insert("retry-after-ms", "150".parse().unwrap());
        assert_eq!(
            retry_after_header(&headers),
            Some(Duration::from_millis(150))
        );
        headers.insert("retry-after-ms", "-1".parse().unwrap());
        assert_eq!(retry_after_header(&headers), None);
    }
}
