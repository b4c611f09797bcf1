//! When to send again what an overloaded server refused. Only the code `-32001` is retried: it says
//! that the request was not taken in, so sending it again cannot do a thing twice.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use quipu_rpc::codes;

use crate::Error;

/// How often and how fast to send a request again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How many times a request is sent again: 5.
    pub attempts: u32,
    /// The longest pause before the first retry, 100 ms; it doubles each time. The real pause is a
    /// random part of it, at least half, so that many clients do not come back at once.
    pub first: Duration,
    /// What the pause does not grow beyond: 5 seconds.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry {
            attempts: 5,
            first: Duration::from_millis(100),
            longest: Duration::from_secs(5),
        }
    }
}

impl Retry {
    /// Sends nothing again.
    pub const NEVER: Retry = Retry {
        attempts: 0,
        first: Duration::ZERO,
        longest: Duration::ZERO,
    };

    /// How long to wait before sending again what failed so for the time `attempt` (from 0); nothing
    /// if it is not to be sent again.
    pub(crate) fn pause(&self, attempt: u32, error: &Error) -> Option<Duration> {
        if attempt >= self.attempts || error.code() != Some(codes::OVERLOADED) {
            return None;
        }
        let full = self.first.saturating_mul(2_u32.saturating_pow(attempt));
        Some(jittered(full.min(self.longest), random()))
    }
}

/// Between half of a pause and all of it.
fn jittered(full: Duration, random: u64) -> Duration {
    let half = full / 2;
    half + half.mul_f64(random as f64 / u64::MAX as f64)
}

/// The seed of a new hasher is random, which is enough for pauses.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use quipu_rpc::ErrorObject;

    use super::*;

    fn refused(code: i64) -> Error {
        let error = ErrorObject::new(code, "no");
        Error::Refused { method: "m", error }
    }

    #[test]
    fn only_overload_is_retried_and_not_for_ever() {
        let retry = Retry::default();
        assert!(retry.pause(4, &refused(-32001)).is_some());
        assert_eq!(retry.pause(5, &refused(-32001)), None);
        assert_eq!(retry.pause(0, &refused(-32600)), None);
        assert_eq!(Retry::NEVER.pause(0, &refused(-32001)), None);
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_differ() {
        let retry = Retry {
            attempts: u32::MAX,
            ..Retry::default()
        };
        for (attempt, full) in [
            (0, 100),
            (1, 200),
            (2, 400),
            (6, 5000),
            (u32::MAX - 1, 5000),
        ] {
            let pause = retry.pause(attempt, &refused(-32001)).unwrap();
            let full = Duration::from_millis(full);
            assert!((full / 2..=full).contains(&pause), "{attempt}: {pause:?}");
        }
        assert_eq!(jittered(Duration::from_secs(2), 0), Duration::from_secs(1));
        assert_eq!(
            jittered(Duration::from_secs(2), u64::MAX),
            Duration::from_secs(2)
        );
    }
}
