//! Who may write to a thread: one node at a time, which has a lease with a fence. A fence is a number that is given out
//! once. Every write carries it and is refused unless the lease still has it, so a node that was taken for dead and is
//! not can do no harm.
//!
//! A lease has no time of its own: it holds as long as its node gives signs of life. That is one small write for a
//! node, however many threads it runs. All times are those of the database.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use quipu_journal::backend;
use quipu_journal::{Error, Result};
use uuid::Uuid;

use crate::Options;
use crate::database::{Database, params};

const RENEW: &str = "INSERT INTO quipu.nodes (id, expires, address)
    VALUES ($1, now() + $2::float8 * interval '1 millisecond', $3)
    ON CONFLICT (id) DO UPDATE SET expires = EXCLUDED.expires";

/// A node at the address of this one is gone: two cannot listen there.
const REPLACE: &str = "DELETE FROM quipu.nodes WHERE address = $2 AND id <> $1";

/// Gives no row if a node that is alive has the lease.
const TAKE: &str = "INSERT INTO quipu.leases AS held (thread, node, fence)
    VALUES ($1, $2, nextval('quipu.fences'))
    ON CONFLICT (thread) DO UPDATE SET node = EXCLUDED.node, fence = EXCLUDED.fence
    WHERE held.node = EXCLUDED.node OR NOT EXISTS (
        SELECT FROM quipu.nodes WHERE nodes.id = held.node AND nodes.expires > now())
    RETURNING fence";

/// Until when the node that has the lease counts as alive.
const ALIVE: &str = "SELECT nodes.id, nodes.expires::text FROM quipu.leases
    JOIN quipu.nodes ON nodes.id = leases.node WHERE leases.thread = $1";

const OWNER: &str = "SELECT nodes.id, nodes.address FROM quipu.leases JOIN quipu.nodes ON nodes.id = leases.node
    WHERE leases.thread = $1 AND nodes.id <> $2 AND nodes.expires > now() AND nodes.address <> coalesce($3, '')";

/// How often a lease is looked at whose node may be dead.
const LOOK: Duration = Duration::from_millis(100);

/// A node that runs a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The node.
    pub node: Uuid,
    /// Where it is reached.
    pub address: String,
}

/// The condition of every write, for a thread `$1` and a fence `$2`. The lease must be held until the statement is done, so
/// its row is locked.
pub(crate) const HELD: &str = "held AS (
    SELECT fence FROM quipu.leases WHERE thread = $1 AND fence = $2 FOR SHARE)";

const RELEASE: &str = "DELETE FROM quipu.leases WHERE thread = $1 AND fence = $2";

const LEAVE: &str = "WITH gone AS (DELETE FROM quipu.nodes WHERE id = $1)
    DELETE FROM quipu.leases WHERE node = $1";

/// The leases of this node.
pub(crate) struct Leases {
    database: Arc<Database>,
    node: Uuid,
    /// How long after a sign of life others may take over.
    duration: Duration,
    address: Option<String>,
    is_registered: Mutex<bool>,
    held: Mutex<HashMap<Uuid, Arc<Mutex<Held>>>>,
}

/// A lease, and how many in this process share it; none have it at first. A thread that is loaded again while it is
/// being unloaded has two for a moment.
#[derive(Debug, Default)]
struct Held {
    users: usize,
    fence: i64,
}

/// The right to write to a thread.
struct Lease {
    thread: Uuid,
    leases: Arc<Leases>,
}

impl Leases {
    pub fn new(database: Arc<Database>, options: Options) -> Arc<Self> {
        Arc::new(Self {
            database,
            node: Uuid::new_v4(),
            duration: options.lease,
            address: options.node_address,
            is_registered: Mutex::default(),
            held: Mutex::default(),
        })
    }

    /// Becomes the writer of a thread, unless another node is.
    pub fn take(self: &Arc<Self>, thread: Uuid) -> Result<Box<dyn backend::Lease>> {
        self.register()?;
        let slot = Arc::clone(self.held.lock().entry(thread).or_default());
        let mut held = slot.lock();
        if held.users == 0 {
            match self.acquire(thread) {
                Ok(fence) => held.fence = fence,
                Err(error) => {
                    drop(held);
                    self.forget_unused(thread, &slot);
                    return Err(error);
                }
            }
        }
        held.users += 1;
        Ok(Box::new(Lease {
            thread,
            leases: Arc::clone(self),
        }))
    }

    /// Takes a lease, and waits for that of a node that gives no more signs of life. One that gives another sign while it is
    /// waited for is alive, and stays the writer.
    fn acquire(&self, thread: Uuid) -> Result<i64> {
        let mut seen: Option<(Uuid, String)> = None;
        loop {
            let taken = self.database.query_one(TAKE, params![thread, self.node])?;
            if let Some(row) = taken {
                return Ok(row.get(0));
            }
            let alive = self.database.query_one(ALIVE, params![thread])?;
            let alive = alive.map(|row| (row.get(0), row.get(1)));
            match (&seen, &alive) {
                (Some(before), Some(now)) if before != now => {
                    return Err(Error::ActiveWriter(thread));
                }
                _ => seen = seen.or(alive),
            }
            self.database.pause(LOOK.min(self.duration / 10))?;
        }
    }

    /// The other node that runs a thread and can be reached.
    pub fn owner(&self, thread: Uuid) -> Result<Option<Owner>> {
        self.register()?;
        let values = params![thread, self.node, self.address.clone()];
        let row = self.database.query_one(OWNER, values)?;
        Ok(row.map(|row| Owner {
            node: row.get(0),
            address: row.get(1),
        }))
    }

    /// This node.
    pub fn node(&self) -> Uuid {
        self.node
    }

    /// The fence under which this node writes to a thread.
    pub fn fence(&self, thread: Uuid) -> Option<i64> {
        let slot = self.held.lock().get(&thread).cloned()?;
        let held = slot.lock();
        (held.users > 0).then_some(held.fence)
    }

    fn release(&self, thread: Uuid) {
        let Some(slot) = self.held.lock().get(&thread).cloned() else {
            return;
        };
        let mut held = slot.lock();
        held.users = held.users.saturating_sub(1);
        if held.users == 0
            && let Err(error) = self
                .database
                .query_soon(RELEASE, params![thread, held.fence])
        {
            tracing::warn!(%thread, %error, "the lease of a closed thread stays until this node ends");
        }
        drop(held);
        self.forget_unused(thread, &slot);
    }

    /// Removes a slot that nobody has and nobody is about to have.
    fn forget_unused(&self, thread: Uuid, slot: &Arc<Mutex<Held>>) {
        let mut all = self.held.lock();
        // One is in the map and one is ours; others come from the map, which is locked.
        if Arc::strong_count(slot) == 2 && slot.lock().users == 0 {
            all.remove(&thread);
        }
    }

    /// Lets other nodes know that this one is alive, from now on.
    fn register(&self) -> Result<()> {
        let mut is_registered = self.is_registered.lock();
        if !*is_registered {
            let millis = self.duration.as_millis() as f64;
            let values = || params![self.node, millis, self.address.clone()];
            self.database.query(RENEW, values())?;
            if let Some(address) = &self.address {
                let values = params![self.node, address.clone()];
                self.database.query(REPLACE, values)?;
            }
            self.database.repeat(self.duration / 4, RENEW, values());
            *is_registered = true;
        }
        Ok(())
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        if *self.is_registered.lock()
            && let Err(error) = self.database.query_soon(LEAVE, params![self.node])
        {
            tracing::debug!(%error, "this node is remembered until it is taken for dead");
        }
    }
}

impl backend::Lease for Lease {}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease")
            .field("thread", &self.thread)
            .finish_non_exhaustive()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.release(self.thread);
    }
}
