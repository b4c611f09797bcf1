//! The secrets of one login (RFC 7636): only the program that began it can finish it, and only answers to it
//! count.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// The system gives no random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers")]
pub struct NoRandomness;

/// What a login begins with.
pub struct Pkce {
    /// Sent with the code, at the end.
    pub verifier: String,
    /// Its hash, sent at the beginning.
    pub challenge: String,
    /// Comes back with the code.
    pub state: String,
}

impl Pkce {
    /// Secrets that nobody can guess.
    pub fn new() -> Result<Self, NoRandomness> {
        let verifier = random::<64>()?;
        Ok(Self {
            challenge: URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)),
            state: random::<32>()?,
            verifier,
        })
    }
}

fn random<const BYTES: usize>() -> Result<String, NoRandomness> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_the_hash_of_its_verifier_and_nothing_repeats() {
        let (one, two) = (Pkce::new().unwrap(), Pkce::new().unwrap());
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(&one.verifier));
        assert_eq!(one.challenge, hash);
        assert_eq!((one.verifier.len(), one.state.len()), (86, 43));
        assert!(one.verifier != two.verifier && one.state != two.state);
    }
}
