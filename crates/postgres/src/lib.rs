//! Threads in PostgreSQL: a [`Backend`](quipu_journal::backend::Backend) for servers on several machines.
//!
//! A rollout is a row with what lists show, and chunks of its bytes. A batch of records is one statement, which checks
//! the writer's fence and the length that it expects, adds the chunk and updates the row; it is committed before the
//! call returns. So the list is never behind the rollouts, and nothing ever has to be scanned.
//!
//! Every statement can be repeated without harm. One whose answer was lost with its connection is sent again, and finds
//! out whether the first one counted.

mod address;
mod catalogue;
mod database;
mod events;
mod kept;
mod lease;
mod ledger;
mod reading;
mod requests;
mod schema;
mod tls;
mod transfer;
mod transfer_beside;
mod whole;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_journal::{Error, Result, Store};
use uuid::Uuid;

use crate::database::{Database, params};
use crate::lease::Leases;
use crate::requests::Sweep;

pub use crate::address::{Address, InvalidAddress};
pub use crate::lease::Owner;
pub use crate::schema::Report;
pub use crate::transfer::Counts;

/// How to work with the database.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many connections are open at most.
    pub connections: usize,
    /// How long a call goes on trying while the database cannot be reached.
    pub patience: Duration,
    /// How long after its last sign of life another node may take the threads of this one over.
    pub lease: Duration,
    /// Where other nodes reach this one, if they do: a websocket address.
    pub node_address: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connections: 8,
            patience: Duration::from_secs(20),
            lease: Duration::from_secs(10),
            node_address: None,
        }
    }
}

/// The threads in one database, as one node sees them. Nothing is connected before the first call.
pub struct Postgres {
    home: PathBuf,
    database: Arc<Database>,
    leases: Arc<Leases>,
    sweep: Sweep,
}

impl Postgres {
    /// Prepares the threads at an address. Rollouts are named by paths below `home`, where nothing is written.
    /// What is wrong with the address is reported by every call.
    pub fn new(
        home: impl Into<PathBuf>,
        address: std::result::Result<Address, InvalidAddress>,
        options: Options,
    ) -> Arc<Self> {
        let database = Arc::new(Database::new(address, &options));
        Arc::new(Self {
            home: home.into(),
            leases: Leases::new(Arc::clone(&database), options),
            database,
            sweep: Sweep::default(),
        })
    }

    /// The threads as a store.
    pub fn store(self: &Arc<Self>) -> Store {
        Store::on(self.home.clone(), Arc::clone(self) as _)
    }

    /// The other node that runs a thread, if one that is alive and can be reached does.
    pub fn owner(&self, thread: Uuid) -> Result<Option<Owner>> {
        self.leases.owner(thread)
    }

    /// The id of what a request with this key makes or made, if there was one.
    pub fn made_by(&self, key: &str) -> Result<Option<String>> {
        let sql = "SELECT made FROM quipu.requests WHERE key = $1";
        let row = self
            .database
            .query_one(sql, params![key.as_bytes().to_vec()])?;
        Ok(row.map(|row| row.get(0)))
    }

    /// What a path is called in the database.
    fn relative<'a>(&self, path: &'a Path) -> Option<&'a str> {
        path.strip_prefix(&self.home).ok()?.to_str()
    }

    fn require_relative<'a>(&self, path: &'a Path) -> Result<&'a str> {
        self.relative(path).ok_or_else(|| {
            let path = path.display();
            Error::Database(format!(
                "`{path}` is outside the home, so not in the database"
            ))
        })
    }
}

/// A text as PostgreSQL can keep it: it has no place for the character zero.
fn text(value: &str) -> String {
    value.replace('\0', "\u{fffd}")
}
