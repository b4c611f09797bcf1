//! One-time codes: what stands in the address that is opened in a browser. A code is exchanged for the token once, so
//! that an address in a history or a log opens nothing.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Codes that are not used yet; a new one takes the place of the oldest.
const OUTSTANDING: usize = 8;
/// How long a code can be used.
const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// 256 bits.
const BYTES: usize = 32;

/// The system gives no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("this system gives no random numbers")]
pub struct NoRandomness;

/// A secret that nobody can guess, in hexadecimal digits.
pub fn secret() -> Result<String, NoRandomness> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string does not fail.
        write!(text, "{byte:02x}").map_err(|_| NoRandomness)?;
    }
    Ok(text)
}

/// The codes that were given out and not used. They are kept as digests.
#[derive(Default)]
pub struct Codes {
    outstanding: Mutex<VecDeque<([u8; 32], Instant)>>,
}

impl Codes {
    /// Gives out a code.
    pub fn issue(&self) -> Result<String, NoRandomness> {
        self.issue_at(Instant::now())
    }

    /// Whether the code can be used; it cannot be used again.
    pub fn redeem(&self, code: &[u8]) -> bool {
        self.redeem_at(code, Instant::now())
    }

    fn issue_at(&self, now: Instant) -> Result<String, NoRandomness> {
        let code = secret()?;
        let mut codes = self.outstanding.lock();
        if codes.len() == OUTSTANDING {
            codes.pop_front();
        }
        codes.push_back((Sha256::digest(&code).into(), now + LIFETIME));
        Ok(code)
    }

    fn redeem_at(&self, code: &[u8], now: Instant) -> bool {
        let digest: [u8; 32] = Sha256::digest(code).into();
        let mut codes = self.outstanding.lock();
        codes.retain(|(_, until)| now < *until);
        let found = codes
            .iter()
            .position(|(it, _)| bool::from(it.ct_eq(&digest)));
        found.is_some_and(|at| codes.remove(at).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_for_a_while() {
        let (codes, now) = (Codes::default(), Instant::now());
        let code = codes.issue_at(now).unwrap();
        assert!(!codes.redeem_at(b"another", now));
        assert!(codes.redeem_at(code.as_bytes(), now));
        assert!(!codes.redeem_at(code.as_bytes(), now));
        let late = codes.issue_at(now).unwrap();
        assert!(!codes.redeem_at(late.as_bytes(), now + LIFETIME));
    }

    #[test]
    fn the_oldest_of_too_many_is_void() {
        let codes = Codes::default();
        let issued: Vec<String> = (0..=OUTSTANDING).map(|_| codes.issue().unwrap()).collect();
        assert!(!codes.redeem(issued[0].as_bytes()));
        assert!(codes.redeem(issued[1].as_bytes()));
    }
}
