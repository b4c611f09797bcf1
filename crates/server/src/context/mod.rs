//! Everything the model is told that is not the person's words: instructions, permissions, surroundings,
//! notes on what happened, and what makes a history shorter. Functions of [`Facts`](facts::Facts) and of
//! the history; only `agents_md`, `image` (through `input`) and `skills` read files, and none waits for
//! anything else.
//!
//! What a turn adds to the history, in order: [`initial::initial`] at first and after a compaction, else
//! [`update::update`]; then [`input::user_message`]; then the skills it names ([`skills::load`]).

pub(crate) mod agents_md;
pub(crate) mod base;
pub(crate) mod citation;
pub(crate) mod compaction;
pub(crate) mod environment;
pub(crate) mod facts;
pub(crate) mod guardian;
pub(crate) mod history;
pub(crate) mod image;
pub(crate) mod initial;
pub(crate) mod input;
pub(crate) mod message;
pub(crate) mod notes;
mod output;
pub(crate) mod permissions;
pub(crate) mod plan;
pub(crate) mod review;
pub(crate) mod sections;
pub(crate) mod skills;
pub(crate) mod speech;
pub(crate) mod stored;
pub(crate) mod truncate;
pub(crate) mod update;

#[cfg(test)]
mod tests;
