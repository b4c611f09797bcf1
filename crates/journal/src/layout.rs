//! Where things lie in a home directory. Both programs share these names, so they are spelled once,
//! here.

use std::path::{Path, PathBuf};

use chrono::NaiveDateTime;
use uuid::Uuid;

use crate::time::{name_stamp, parse_name_stamp};

/// Live rollouts, in directories by date.
pub const SESSIONS: &str = "sessions";
/// Archived rollouts, flat.
pub const ARCHIVED: &str = "archived_sessions";
/// Thread names, append-only, shared with the official program.
pub const NAMES: &str = "session_index.jsonl";
/// Git facts set by clients, append-only. The official program keeps these only in its database.
pub const GIT: &str = "quipu_git_info.jsonl";
/// What threads pursue, one file for each.
pub const GOALS: &str = "quipu_goals";
/// What waits to be said in threads, one file for each.
pub const QUEUES: &str = "quipu_queues";
/// What clients stored with threads, one file for each.
pub const ATTACHMENTS: &str = "quipu_attachments";
/// What is read of threads.
pub const READ_STATES: &str = "quipu_read_states";
/// How often the running turns of threads were taken over.
pub const TAKEOVERS: &str = "quipu_takeovers";
/// The sections of all threads, in one file.
pub const SECTIONS: &str = "quipu_sections";
/// Held by the program that writes to a thread, one file for each, shared with the official program.
pub(crate) const LOCKS: &str = "thread-writer-locks";
/// Held while files in [`LOCKS`] are made or removed.
pub(crate) const COORDINATION: &str = ".coordination.lock";
/// The numbered events of threads, one file for each, and the last epoch.
pub const EVENTS: &str = "quipu_events";
/// The last epoch of all threads, in [`EVENTS`].
pub const EPOCH: &str = "epoch";
/// The requests that have a key, append-only.
pub const REQUESTS: &str = "quipu_requests.jsonl";
/// The index.
pub(crate) const INDEX: &str = "quipu_index_1.sqlite";

/// What the name of a rollout file says: `rollout-<local time>-<thread id>.jsonl`, or with
/// `_<segment id>` after the thread id for a file that goes on from somewhere in an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutName {
    /// Local time.
    pub created: NaiveDateTime,
    /// The thread.
    pub id: Uuid,
    /// Made when turns were taken back. Of the files of a thread, the one made last counts.
    pub segment: Option<Uuid>,
}

impl RolloutName {
    /// Reads the name of a file.
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

    /// The name of the file.
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

    /// A time at or shortly after the creation of the rollout, from the name alone. Ids of this program and the
    /// official one carry the UTC time; the local time in the name then says the second, since zones differ by quarters
    /// of an hour. For other ids the local time is taken in the zone that makes it latest.
    pub(crate) fn latest_creation(&self) -> i64 {
        /// How far the time of an id may be from that in the name.
        const NEAR: i64 = 60;
        /// What another clock and fractions of a second may add.
        const SLACK: i64 = 2;
        const ZONE_STEP: i64 = 15 * 60;
        const LATEST_ZONE: i64 = 12 * 3600;
        let named = self.created.and_utc().timestamp();
        let latest = named + LATEST_ZONE;
        let id = self.segment_id();
        let Some(stamp) = id.get_timestamp().filter(|_| id.get_version_num() == 7) else {
            return latest;
        };
        let made = i64::try_from(stamp.to_unix().0).unwrap_or(latest);
        // What is left of the difference without the zone.
        let apart = (named - made + ZONE_STEP / 2).rem_euclid(ZONE_STEP) - ZONE_STEP / 2;
        let slack = match apart.abs() <= NEAR {
            true => apart.max(0) + SLACK,
            false => NEAR,
        };
        latest.min(made.saturating_add(slack))
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
        assert_eq!(name.latest_creation(), 1_794_726_335 + 2);
        let segment = NAME.replace(".jsonl", "_01a1e15b-b15a-7290-bfd0-7f0d66d1e8b1.jsonl");
        let name = RolloutName::parse(&segment).unwrap();
        assert_eq!(name.file_name(), segment);
        assert_eq!(name.id, RolloutName::parse(NAME).unwrap().id);
        assert_ne!(name.segment_id(), name.id);
    }

    /// The name has the local time of any zone; the id has that of its making.
    #[test]
    fn the_time_of_creation_is_known_to_the_second_in_every_zone() {
        let latest = |stamp: &str| {
            let name = NAME.replace("2026-11-15T07-05-35", stamp);
            RolloutName::parse(&name).unwrap().latest_creation() - 1_794_726_335
        };
        for local in [
            "2026-11-15T07-05-35",
            "2026-11-15T12-35-35",
            "2026-11-15T12-50-35",
            "2026-11-14T20-05-35",
        ] {
            assert_eq!(latest(local), 2, "{local}");
        }
        // A file that was made some seconds after its thread.
        assert_eq!(latest("2026-11-15T09-05-42"), 7 + 2);
        // One whose name has another time than its id.
        assert_eq!(latest("2026-11-15T07-09-35"), 60);
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
