//! What all clients together may make the server hold. Each also has limits of its own.

use std::sync::Arc;

use quipu_rpc::{Budget, Intake};

/// The longest message of a client that has not introduced itself.
const STRANGER_LIMIT: usize = 1024 * 1024;
/// What the unfinished messages of all those may hold. They take nothing from the others.
const STRANGERS: usize = 32 * 1024 * 1024;
/// The longest message of any other client.
pub(crate) const MESSAGE_LIMIT: usize = 256 * 1024 * 1024;
/// What the messages of all those may hold, from their first byte until they are answered. The longest one counts
/// twice while it is decoded.
const CLIENTS: usize = 3 * MESSAGE_LIMIT;

/// What all turns may hold that clients gave them and the model has not taken yet.
const PENDING: usize = 256 * 1024 * 1024;

/// What the recent events of all threads may hold.
const EVENTS: usize = 64 * 1024 * 1024;

/// The budgets of a server.
pub(crate) struct Budgets {
    /// For messages before `initialize`.
    pub strangers: Intake,
    /// For messages after it.
    pub clients: Intake,
    /// For requests that are not answered yet; the same one as for the messages.
    pub requests: Arc<Budget>,
    /// For input that running turns have not taken yet.
    pub pending: Arc<Budget>,
    /// For the events that threads keep for clients that resume.
    pub events: Arc<Budget>,
}

impl Default for Budgets {
    fn default() -> Budgets {
        let requests = Budget::new(CLIENTS);
        Budgets {
            strangers: Intake {
                limit: STRANGER_LIMIT,
                budget: Budget::new(STRANGERS),
            },
            clients: Intake {
                limit: MESSAGE_LIMIT,
                budget: Arc::clone(&requests),
            },
            requests,
            pending: Budget::new(PENDING),
            events: Budget::new(EVENTS),
        }
    }
}
