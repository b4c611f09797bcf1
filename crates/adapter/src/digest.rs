//! Short names for long things: two are the same if their digests are.

use sha2::{Digest as _, Sha256};

/// The SHA-256 of these bytes, in hexadecimal.
pub(crate) fn of(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
