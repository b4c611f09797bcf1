//! Threads at rest: the append-only rollout log and its index.
//!
//! A [`Store`] is the threads of one home directory. A [`Log`] writes the rollout of one thread, a
//! [`Replay`] reads it back, and [`Store::list`] answers from the index. The rollout files are the
//! truth and are shared with the official program, whose two generations write two forms of the same
//! format in the same directories. Both are read; new threads have the older form, which every program reads, and
//! a thread keeps the form it has. The index is a cache that can be deleted at any time.
//!
//! All calls block; none of them waits for longer than its files take.

mod append;
pub mod backend;
mod chain;
mod error;
pub mod event;
mod event_file;
mod events;
mod head;
mod history;
mod home;
mod index;
mod items;
mod kept;
mod layout;
mod legacy;
mod lines;
mod log;
mod ordinals;
mod pages;
mod platform;
mod query;
mod reader;
mod record;
mod replay;
mod requests;
mod reserve;
mod session;
mod store;
mod time;
mod touched;
mod turns;
mod writer;

pub use error::{Error, Result};
pub use event::Event;
pub use events::{Before, EventLog, Numbers, StoredEvent, StoredEvents};
pub use history::{History, LoadedHistory, first_words, said_by_user};
pub use kept::Kept;
pub use lines::MAX_RECORD;
pub use log::Log;
pub use query::{Cursor, Page, Query, Summary};
pub use reader::{Fault, Warning, Warnings};
pub use record::{Compacted, Record, TurnContext};
pub use replay::Replay;
pub use requests::KeyedRequest;
pub use session::{
    BaseInstructions, GitInfo, HistoryBase, SessionMeta, Source, SubAgent, ThreadSpawn,
};
pub use store::{Store, StoreOptions};
