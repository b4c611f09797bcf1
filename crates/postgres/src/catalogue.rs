//! What is stored, found by id and in lists. The rows are always as new as the rollouts, so that every answer is one
//! look into an index, however many threads there are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quipu_journal::backend::{
    ARCHIVED, Backend, EventStore, Expect, Fill, Lease, RolloutName, RolloutSink, RolloutSource,
};
use quipu_journal::{Cursor, Error, GitInfo, KeyedRequest, Page, Query, Result, Summary};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::database::{Params, params};
use crate::lease::HELD;
use crate::{Postgres, text};

/// The columns of a [`Summary`].
const COLUMNS: &str =
    "t.path, t.thread, t.archived, t.created_at, t.updated_at, t.preview, t.provider,
    t.cwd, t.version, t.source, t.nickname, t.role, coalesce(l.git, t.git), l.name";

/// The newest first: later segments have larger ids, and one that was superseded counts only by itself.
const FIND: &str = "SELECT path FROM quipu.rollouts
    WHERE thread = $1 AND archived = $2 ORDER BY state = 3, segment DESC LIMIT 1";

/// The oldest first, so that none waits forever.
const ORPHANS: &str =
    "SELECT thread FROM quipu.rollouts r WHERE running AND NOT archived AND NOT EXISTS (
        SELECT FROM quipu.leases JOIN quipu.nodes ON nodes.id = leases.node
        WHERE leases.thread = r.thread AND nodes.expires > now())
    ORDER BY updated_at LIMIT 32";

impl Backend for Postgres {
    fn open(&self, path: &Path) -> Result<Box<dyn RolloutSource>> {
        Ok(Box::new(self.source(path)?))
    }

    fn rollout(&self, thread: Uuid, path: PathBuf, expect: Expect) -> Box<dyn RolloutSink> {
        Box::new(self.sink(thread, path, expect))
    }

    fn create_whole(&self, _: Uuid, path: &Path, fill: &mut Fill<'_>) -> Result<()> {
        self.create_filled(path, fill)
    }

    fn lease(&self, thread: Uuid) -> Result<Box<dyn Lease>> {
        self.leases.take(thread)
    }

    fn find(&self, thread: Uuid, archived: bool) -> Result<Option<PathBuf>> {
        let row = self.database.query_one(FIND, params![thread, archived])?;
        Ok(row.map(|row| self.path(&row)))
    }

    fn segment(&self, id: Uuid) -> Result<Option<PathBuf>> {
        let sql = "SELECT path FROM quipu.rollouts WHERE segment = $1 ORDER BY archived LIMIT 1";
        let row = self.database.query_one(sql, params![id])?;
        Ok(row.map(|row| self.path(&row)))
    }

    fn summary(&self, thread: Uuid) -> Result<Option<Summary>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM quipu.rollouts t LEFT JOIN quipu.labels l ON l.thread = t.thread
             WHERE t.thread = $1 ORDER BY t.archived, t.state = 3, t.segment DESC LIMIT 1"
        );
        let rows = self.database.query(sql, params![thread])?;
        Ok(rows.first().map(|row| self.summary_of(row)))
    }

    fn orphans(&self) -> Result<Vec<Uuid>> {
        let rows = self.database.query(ORPHANS, params![])?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn not_orphaned(&self, thread: Uuid) -> Result<()> {
        let sql = format!(
            "WITH {HELD} UPDATE quipu.rollouts SET running = false
             WHERE thread = $1 AND running AND EXISTS (SELECT FROM held)"
        );
        let fence = self.leases.fence(thread);
        let fence = fence.ok_or(Error::LostLease(thread))?;
        self.database.query(sql, params![thread, fence])?;
        Ok(())
    }

    fn list(&self, query: &Query) -> Result<Page> {
        let limit = query.limit.max(1);
        let (sql, params) = select(query, limit + 1);
        let rows = self.database.query(sql, params)?;
        let mut threads: Vec<Summary> = rows.iter().map(|row| self.summary_of(row)).collect();
        let more = threads.len() > limit;
        threads.truncate(limit);
        let last = threads.last().filter(|_| more);
        let next = last.map(|last| Cursor {
            secs: query.key(last),
            id: last.id,
        });
        Ok(Page { threads, next })
    }

    fn archive(&self, thread: Uuid) -> Result<PathBuf> {
        if self.find(thread, false)?.is_none() {
            return Err(Error::NotFound(thread));
        }
        let sql = "UPDATE quipu.rollouts
            SET archived = true, path = $2::text || '/' || regexp_replace(path, '^.*/', '')
            WHERE thread = $1 AND NOT archived";
        self.database.query(sql, params![thread, ARCHIVED])?;
        self.find(thread, true)?.ok_or(Error::NotFound(thread))
    }

    fn unarchive(&self, thread: Uuid) -> Result<PathBuf> {
        let sql = "SELECT path, id FROM quipu.rollouts WHERE thread = $1 AND archived";
        let rows = self.database.query(sql, params![thread])?;
        let mut ids: Vec<i64> = Vec::new();
        let mut paths = Vec::new();
        for row in &rows {
            let name = RolloutName::of(&self.path(row)).ok_or(Error::NotArchived(thread))?;
            let path = name.day_dir().join(name.file_name());
            ids.push(row.get(1));
            paths.push(path.to_string_lossy().into_owned());
        }
        if ids.is_empty() {
            return Err(Error::NotArchived(thread));
        }
        let sql = "UPDATE quipu.rollouts SET archived = false, path = moved.path,
                updated_at = floor(extract(epoch FROM clock_timestamp()))::bigint,
                modified = (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint
            FROM unnest($1::bigint[], $2::text[]) AS moved (id, path) WHERE rollouts.id = moved.id";
        self.database.query(sql, params![ids, paths])?;
        self.find(thread, false)?.ok_or(Error::NotArchived(thread))
    }

    fn delete(&self, thread: Uuid) -> Result<()> {
        if self.find(thread, false)?.is_none() && self.find(thread, true)?.is_none() {
            return Err(Error::NotFound(thread));
        }
        let sql = "WITH gone AS (DELETE FROM quipu.rollouts WHERE thread = $1 RETURNING id),
                label AS (DELETE FROM quipu.labels WHERE thread = $1),
                kept AS (DELETE FROM quipu.kept WHERE thread = $1),
                events AS (DELETE FROM quipu.events WHERE thread = $1),
                lines AS (DELETE FROM quipu.event_chunks WHERE thread = $1)
            DELETE FROM quipu.chunks USING gone WHERE rollout = gone.id";
        self.database.query(sql, params![thread]).map(drop)
    }

    fn set_name(&self, thread: Uuid, name: &str) -> Result<()> {
        let sql = "INSERT INTO quipu.labels (thread, name, name_updated) VALUES ($1, $2, now())
            ON CONFLICT (thread) DO UPDATE SET name = EXCLUDED.name, name_updated = EXCLUDED.name_updated";
        self.database
            .query(sql, params![thread, text(name)])
            .map(drop)
    }

    fn set_git(&self, thread: Uuid, git: &GitInfo) -> Result<()> {
        let git = serde_json::to_string(git).map_err(Error::Encode)?;
        let sql = "INSERT INTO quipu.labels (thread, git, git_updated) VALUES ($1, $2, now())
            ON CONFLICT (thread) DO UPDATE SET git = EXCLUDED.git, git_updated = EXCLUDED.git_updated";
        self.database
            .query(sql, params![thread, text(&git)])
            .map(drop)
    }

    fn kept(&self, thread: Option<Uuid>, name: &'static str) -> Result<Option<String>> {
        self.read_kept(thread, name)
    }

    fn keep(&self, thread: Option<Uuid>, name: &'static str, text: Option<&str>) -> Result<bool> {
        self.replace_kept(thread, name, text)
    }

    fn keep_lightly(&self, thread: Uuid, name: &'static str, text: &str) -> Result<()> {
        self.replace_kept_soon(thread, name, text)
    }

    fn kept_beside(&self, threads: &[Uuid], name: &'static str) -> Result<Vec<(Uuid, String)>> {
        self.read_kept_beside(threads, name)
    }

    fn keep_if(
        &self,
        thread: Option<Uuid>,
        name: &'static str,
        old: Option<&str>,
        text: &str,
    ) -> Result<bool> {
        self.replace_kept_if(thread, name, old, text)
    }

    fn kept_threads(&self, name: &'static str) -> Result<Vec<Uuid>> {
        self.threads_that_keep(name)
    }

    fn events(&self, thread: Uuid) -> Box<dyn EventStore> {
        Box::new(self.event_table(thread))
    }

    fn next_epoch(&self, thread: Uuid, used: u64) -> Result<u64> {
        self.take_epoch(thread, used)
    }

    fn begin_request(&self, request: KeyedRequest) -> Result<KeyedRequest> {
        self.begin_keyed(&request)
    }

    fn request_done(&self, request: KeyedRequest) -> Result<()> {
        self.keyed_done(&request)
    }
}

impl Postgres {
    /// The path in the first column.
    fn path(&self, row: &Row) -> PathBuf {
        self.home.join(row.get::<_, String>(0))
    }

    fn summary_of(&self, row: &Row) -> Summary {
        let source: String = row.get(9);
        let git: Option<String> = row.get(12);
        Summary {
            path: self.path(row),
            id: row.get(1),
            archived: row.get(2),
            created_at: row.get(3),
            updated_at: row.get(4),
            preview: row.get(5),
            provider: row.get(6),
            cwd: row.get(7),
            cli_version: row.get(8),
            source: serde_json::from_str(&source).unwrap_or_default(),
            agent_nickname: row.get(10),
            agent_role: row.get(11),
            git: git
                .and_then(|json| serde_json::from_str(&json).ok())
                .filter(|git: &GitInfo| !git.is_empty()),
            name: row.get(13),
        }
    }
}

/// The statement for a list. It is taken together from the beginnings of lists that each are a part of one index: those
/// of the wanted kinds, of the wanted directories, or of the wanted threads.
fn select(query: &Query, limit: usize) -> (String, Params) {
    let key = match query.by_change() {
        true => "updated_at",
        false => "created_at",
    };
    let (beyond, order, start) = match query.ascending {
        true => (">", "ASC", i64::MIN),
        false => ("<", "DESC", i64::MAX),
    };
    let unique = |words: Vec<String>| -> Vec<String> {
        let words: BTreeSet<String> = words.iter().map(|word| text(word)).collect();
        words.into_iter().collect()
    };
    let providers = query.providers.clone().map(unique);
    let cwds = query.cwds.clone().map(unique);
    let search = query.search.as_deref().filter(|term| !term.is_empty());
    let (parts, of_part) = match (&query.only, &cwds) {
        (Some(_), _) => (
            "unnest($9::uuid[])",
            "r.thread = part.word AND r.kind = ANY ($5::text[]) AND ($8::text[] IS NULL OR r.cwd = ANY ($8))",
        ),
        (None, Some(_)) => (
            "unnest($8::text[])",
            "md5(r.cwd) = md5(part.word) AND r.cwd = part.word AND r.kind = ANY ($5::text[]) AND $9::uuid[] IS NULL",
        ),
        (None, None) => (
            "unnest($5::text[])",
            "r.kind = part.word AND $8::text[] IS NULL AND $9::uuid[] IS NULL",
        ),
    };
    let found = match search {
        None => "",
        Some(_) => "AND r.preview LIKE $10",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM {parts} AS part (word) CROSS JOIN LATERAL (
             SELECT r.* FROM quipu.rollouts r
             WHERE r.archived = $1 AND r.state = 1 AND {of_part}
                 AND (r.{key}, r.thread) {beyond} ($2, $3)
                 AND ($4::text[] IS NULL OR r.provider IS NULL OR r.provider = ANY ($4))
                 AND r.thread <> ALL ($6::uuid[]) {found}
             ORDER BY r.{key} {order}, r.thread {order} LIMIT $7
         ) t LEFT JOIN LATERAL (
             SELECT name, git FROM quipu.labels WHERE labels.thread = t.thread LIMIT 1
         ) l ON true
         ORDER BY t.{key} {order}, t.thread {order} LIMIT $7"
    );
    let mut params = params![
        query.archived,
        query.after.map_or(start, |after| after.secs),
        query.after.map_or(Uuid::nil(), |after| after.id),
        providers,
        unique(query.kinds()),
        query.excluded.clone(),
        i64::try_from(limit).unwrap_or(i64::MAX),
        cwds,
        query.only.clone(),
    ];
    if let Some(term) = search {
        params.extend(params![contains(term)]);
    }
    (sql, params)
}

/// The pattern of texts that contain a term.
fn contains(term: &str) -> String {
    let mut pattern = "%".to_owned();
    for character in text(term).chars() {
        if matches!(character, '\\' | '%' | '_') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
