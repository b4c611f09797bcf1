//! How much of an unfinished message a connection may hold, alone and together with all others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What every connection may hold without asking the budget, so that usual messages do not touch it.
const FREE: usize = 64 * 1024;

/// Bytes that many holders share.
#[derive(Debug)]
pub struct Budget {
    free: AtomicUsize,
}

impl Budget {
    /// A budget of this many bytes, all of them free.
    pub fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            free: AtomicUsize::new(bytes),
        })
    }

    /// Takes a share of this many bytes, if they are free.
    pub fn share(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        let mut share = Share {
            budget: Arc::clone(self),
            bytes: 0,
        };
        share.resize(bytes).then_some(share)
    }

    /// Bytes that nobody holds.
    pub fn free(&self) -> usize {
        self.free.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        let rest = |free: usize| free.checked_sub(bytes);
        let taken = self
            .free
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
        taken.is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.free.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Part of a [`Budget`], given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Share {
    /// Holds this many bytes from now on; `false`, and no change, if so many are not free.
    pub fn resize(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.bytes || self.budget.take(bytes - self.bytes);
        if !fits {
            return false;
        }
        self.budget.give_back(self.bytes.saturating_sub(bytes));
        self.bytes = bytes;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// How much of an unfinished message a reader takes in.
#[derive(Clone, Debug)]
pub struct Intake {
    /// The longest message.
    pub limit: usize,
    /// What the unfinished messages of all connections may hold together.
    pub budget: Arc<Budget>,
}

/// Why a message is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// It is over the limit.
    #[error("the limit for a message is {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The messages of all connections hold all there is.
    #[error("there is no room for it now beside the messages of other connections")]
    NoRoom,
}

/// What the unfinished message of one connection holds.
#[derive(Debug)]
pub(crate) struct Meter {
    limit: usize,
    held: usize,
    share: Option<Share>,
    /// The message is complete, but not yet dealt with.
    complete: bool,
}

impl Meter {
    /// Up to `limit` bytes, beside nobody.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            held: 0,
            share: None,
            complete: false,
        }
    }

    /// Counts by these rules from now on.
    pub fn set(&mut self, limit: usize, budget: &Arc<Budget>) {
        *self = Self {
            share: budget.share(0),
            ..Self::new(limit)
        };
    }

    /// More of the message came.
    pub fn add(&mut self, bytes: usize) -> Result<(), Excess> {
        self.hold(self.held + bytes)
    }

    /// So much of the message is held now.
    pub fn hold(&mut self, bytes: usize) -> Result<(), Excess> {
        self.held = bytes;
        if self.held > self.limit {
            return Err(Excess::TooLong { limit: self.limit });
        }
        let due = bytes.saturating_sub(FREE);
        match self.share.as_mut().is_none_or(|it| it.resize(due)) {
            true => Ok(()),
            false => Err(Excess::NoRoom),
        }
    }

    /// So much of what came was not part of the message.
    pub fn subtract(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// The message is complete. It counts until the next one is asked for.
    pub fn complete(&mut self) {
        self.complete = true;
    }

    /// The next message is asked for, so the one before it is dealt with.
    pub fn next(&mut self) {
        if !std::mem::take(&mut self.complete) {
            return;
        }
        if self.held > FREE
            && let Some(share) = &mut self.share
        {
            share.resize(0);
        }
        self.held = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_takes_what_is_free_and_gives_it_back() {
        let budget = Budget::new(10);
        let mut share = budget.share(6).unwrap();
        assert!(budget.share(5).is_none());
        assert!(!share.resize(11));
        assert_eq!(budget.free(), 4);
        assert!(share.resize(10) && share.resize(3));
        assert_eq!(budget.free(), 7);
        drop(share);
        assert_eq!(budget.free(), 10);
    }

    #[test]
    fn a_meter_asks_the_budget_for_what_is_not_free() {
        let budget = Budget::new(100);
        let mut meter = Meter::new(FREE);
        assert_eq!(meter.add(FREE), Ok(()));
        assert_eq!(meter.add(1), Err(Excess::TooLong { limit: FREE }));
        meter.set(2 * FREE, &budget);
        assert_eq!(meter.add(FREE + 60), Ok(()));
        assert_eq!(budget.free(), 40);
        meter.subtract(20);
        assert_eq!(meter.add(40), Ok(()));
        assert_eq!(meter.add(21), Err(Excess::NoRoom));
        meter.next();
        assert_eq!(budget.free(), 20, "it is not complete");
        meter.complete();
        assert_eq!(budget.free(), 20, "it is not dealt with");
        meter.next();
        assert_eq!(budget.free(), 100);
    }
}
