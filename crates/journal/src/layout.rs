//! Where things lie in a home directory. Both programs share these names, so they are spelled once,
//! here.

use std::path::{Path, PathBuf};

use chrono::NaiveDateTime;
use uuid::Uuid;

use crate::time::{name_stamp, parse_name_stamp};

/// Live rollouts, in directories by date.
pub(crate) const SESSIONS: &str = "sessions";
/// Archived rollouts, flat.
pub(crate) const ARCHIVED: &str = "archived_sessions";
/// Thread names, append-only, shared with the official program.
pub(crate) const NAMES: &str = "session_index.jsonl";
/// Git facts set by clients, append-only. The official program keeps these only in its database.
pub(crate) const GIT: &str = "quipu_git_info.jsonl";
/// Held by the program that writes to a thread, one file for each, shared with the official program.
pub(crate) const LOCKS: &str = "thread-writer-locks";
/// Held while files in [`LOCKS`] are made or removed.
pub(crate) const COORDINATION: &str = ".coordination.lock";
/// The index.
pub(crate) const INDEX: &str = "quipu_index_1.sqlite";

/// What the name of a rollout file says: `rollout-<local time>-<thread id>.jsonl`, or with
/// `_<segment id>` after the thread id for a file that goes on from somewhere in an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RolloutName {
    pub created: NaiveDateTime,
    pub id: Uuid,
    /// Made when turns were taken back. Of the files of a thread, the one made last counts.
    pub segment: Option<Uuid>,
}

impl RolloutName {
    pub fn parse(name: &str) -> Option<Self> {
        let stem = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
        let (stamp, id) = (stem.get(..19)?, stem.get(19..)?.strip_prefix('-')?);
        let uuid = |text: &str| (text.len() == 36).then(|| Uuid::try_parse(text).ok())?;
        let (id, segment) = match id.split_once('_') {
            Some((id, segment)) => (id, Some(uuid(segment)?)),
            None => (id, None),
        };
        Some(Self {
            created: parse_name_stamp(stamp)?,
            id: uuid(id)?,
            segment,
        })
    }

    /// The id by which other files refer to this one.
    pub fn segment_id(&self) -> Uuid {
        self.segment.unwrap_or(self.id)
    }

    /// The name in a path, if the path is that of a rollout.
    pub fn of(path: &Path) -> Option<Self> {
        Self::parse(path.file_name()?.to_str()?)
    }

    pub fn file_name(&self) -> String {
        let segment = self.segment.map(|segment| format!("_{segment}"));
        let segment = segment.unwrap_or_default();
        let created = name_stamp(self.created);
        format!("rollout-{created}-{}{segment}.jsonl", self.id)
    }

    /// The directory a live rollout of this name lies in, relative to the home.
    pub fn day_dir(&self) -> PathBuf {
        let parts = ["%Y", "%m", "%d"].map(|part| self.created.format(part).to_string());
        Path::new(SESSIONS).join(parts.iter().collect::<PathBuf>())
    }

    /// A time at or shortly after the creation of the thread, from the name alone. Ids of this
    /// program and the official one carry the UTC time; for others the local time in the name is
    /// taken in the zone that makes it latest.
    pub fn latest_creation(&self) -> i64 {
        const SLACK: i64 = 60;
        const LATEST_ZONE: i64 = 12 * 3600;
        let named = self.created.and_utc().timestamp() + LATEST_ZONE;
        match self.id.get_timestamp() {
            Some(stamp) if self.id.get_version_num() == 7 => {
                named.min(i64::try_from(stamp.to_unix().0).unwrap_or(named) + SLACK)
            }
            _ => named,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "rollout-2026-11-15T07-05-35-01a1de06-9491-7e71-ac1f-03e96ae2351f.jsonl";

    #[test]
    fn reads_and_writes_official_names() {
        let name = RolloutName::parse(NAME).unwrap();
        assert_eq!(name.file_name(), NAME);
        assert_eq!(name.day_dir(), Path::new("sessions/2026/11/15"));
        assert_eq!(name.latest_creation(), 1_794_726_335 + 60);
        let segment = NAME.replace(".jsonl", "_01a1e15b-b15a-7290-bfd0-7f0d66d1e8b1.jsonl");
        let name = RolloutName::parse(&segment).unwrap();
        assert_eq!(name.file_name(), segment);
        assert_eq!(name.id, RolloutName::parse(NAME).unwrap().id);
        assert_ne!(name.segment_id(), name.id);
    }

    #[test]
    fn refuses_other_files() {
        for name in [
            "",
            "rollout-.jsonl",
            "x.jsonl",
            &NAME[..NAME.len() - 1],
            &NAME.replace("-01a1", "_01a1"),
            &NAME.replace("2026-11", "2026-99"),
            &format!("{NAME}.tmp"),
            &NAME.replace(".jsonl", "_.jsonl"),
            &NAME.replace(".jsonl", "_01a1e15b.jsonl"),
            "rollout-2026-11-15T07-05-35-é1a1de06.jsonl",
        ] {
            assert_eq!(RolloutName::parse(name), None, "{name}");
        }
    }
}
