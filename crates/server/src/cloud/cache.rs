//! The workspace's limits in the home directory, so that not every start has to ask for them. The file is as
//! trustworthy as the login beside it: whoever can change one can change the other.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quipu_disk::Target;
use serde::{Deserialize, Serialize};

use super::Member;

const FILE: &str = "quipu_cloud_requirements.json";
/// Whatever is longer is something else.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Cached {
    account_id: Option<String>,
    user_id: Option<String>,
    /// When they were fetched, in Unix seconds.
    fetched_at: u64,
    /// The text of a `requirements.toml`; absent if the workspace sets no limits.
    contents: Option<String>,
}

/// The limits of a member and how old they are. Those of a login that does not say whose it is are not kept.
pub(super) fn read(home: &Path, member: &Member) -> Option<(Option<String>, Duration)> {
    let text = quipu_disk::read_text(&home.join(FILE), MAX_BYTES).ok()?;
    let cached: Cached = serde_json::from_str(&text).ok()?;
    let is_theirs = cached.account_id.is_some()
        && cached.user_id.is_some()
        && cached.account_id == member.account_id
        && cached.user_id == member.user_id;
    // What comes from the future is of no known age.
    let age = now().checked_sub(cached.fetched_at).filter(|_| is_theirs)?;
    Some((cached.contents, Duration::from_secs(age)))
}

/// Stores the limits of a member.
pub(super) fn write(home: &Path, member: &Member, contents: Option<String>) -> io::Result<()> {
    let cached = Cached {
        account_id: member.account_id.clone(),
        user_id: member.user_id.clone(),
        fetched_at: now(),
        contents,
    };
    let text = serde_json::to_vec_pretty(&cached)?;
    Target::lock(&home.join(FILE))?.replace_secret(&text)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}
