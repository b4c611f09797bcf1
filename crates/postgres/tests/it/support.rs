//! Databases for tests, and stores on them.

use std::path::Path;
use std::sync::Arc;

use quipu_journal::{Store, StoreOptions};
use quipu_postgres::{Options, Postgres};

use crate::cluster::{self, Cluster};

pub use crate::journal::{STAMP, id, meta, turn, user};

/// A database of the shared server, with its tables.
pub struct Database {
    pub cluster: &'static Cluster,
    pub name: String,
}

/// A new database; none where PostgreSQL is not installed.
pub fn database() -> Option<Database> {
    let cluster = cluster::shared()?;
    let database = Database {
        cluster,
        name: cluster.database(),
    };
    database.node(Path::new("/home")).migrate().unwrap();
    Some(database)
}

impl Database {
    /// Another process that works on this database.
    pub fn node(&self, home: &Path) -> Arc<Postgres> {
        let address = self.cluster.address(&self.name).parse();
        Postgres::new(home, address, Options::default())
    }

    pub fn value(&self, sql: &str) -> String {
        self.cluster.value(&self.name, sql)
    }
}

/// What the journal's tests work on: the threads of a home, imported into a database. Without PostgreSQL it is the home
/// itself, which those tests pass, too.
pub fn store(home: &Path) -> Store {
    let Some(database) = database() else {
        return Store::open(home, StoreOptions::default());
    };
    let node = database.node(home);
    node.import(home).unwrap();
    node.store()
}
