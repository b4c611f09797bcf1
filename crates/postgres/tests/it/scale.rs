//! Lists and searches look into an index, whatever they ask for, and read a few rows of a database with many threads.

use std::path::Path;

use quipu_journal::{Cursor, Query};
use quipu_wire::{ThreadSortKey, ThreadSourceKind};
use uuid::Uuid;

use crate::cluster::within;
use crate::support::{Database, database};

const MANY: u32 = 30_000;

#[test]
fn lists_and_searches_read_a_few_rows_of_many() {
    let Some(database) = database() else { return };
    database.value(&format!(
        "INSERT INTO quipu.rollouts (path, thread, segment, archived, state, length, created_at, updated_at, modified,
             kind, source, provider, cwd, preview, version)
         SELECT 'sessions/' || n, md5(n::text)::uuid, md5(n::text)::uuid, false, 1, 0, n, {MANY} - n, 0,
             CASE WHEN n % 10000 = 0 THEN 'exec' ELSE 'vscode' END, '\"vscode\"', 'mock', '/project/' || n % 100,
             'what ' || md5(n::text) || ' said', '1'
         FROM generate_series(1, {MANY}) n"
    ));
    database.value("VACUUM ANALYZE quipu.rollouts");
    let search = database.value("SELECT md5('4711')");
    let after = Cursor {
        secs: 15_000,
        id: Uuid::nil(),
    };
    let queries = [
        (25, Query::default()),
        (
            25,
            Query {
                sort: ThreadSortKey::UpdatedAt,
                ..Query::default()
            },
        ),
        (
            25,
            Query {
                ascending: true,
                ..Query::default()
            },
        ),
        (
            25,
            Query {
                after: Some(after),
                ..Query::default()
            },
        ),
        (
            3,
            Query {
                sources: vec![ThreadSourceKind::Exec],
                ..Query::default()
            },
        ),
        (
            25,
            Query {
                cwds: Some(vec!["/project/7".into()]),
                ..Query::default()
            },
        ),
        (
            1,
            Query {
                search: Some(search),
                ..Query::default()
            },
        ),
        (
            25,
            Query {
                search: Some("said".into()),
                ..Query::default()
            },
        ),
    ];
    for (count, query) in queries {
        let before = tuples_read(&database);
        let page = database
            .node(Path::new("/home"))
            .store()
            .list(&query)
            .unwrap();
        assert_eq!(page.threads.len(), count, "{query:?}");
        let read = tuples_read(&database) - before;
        assert!(read < 1000, "{read} rows were read for {query:?}");
    }
}

/// How many rows of the list were read so far. A session reports that when it ends, so the others must have ended.
fn tuples_read(database: &Database) -> i64 {
    let others = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    assert!(within(|| database.value(others) == "0"));
    let sql =
        "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'rollouts'";
    database.value(sql).parse().unwrap()
}
