//! Everything the model is told that is not the person's words: instructions, permissions, surroundings,
//! notes on what happened, and what makes a history shorter. Functions of [`Facts`](facts::Facts) and of
//! the history; only `agents_md`, `image` (through `input`) and `skills` read files, and none waits for
//! anything else.
//!
//! What a turn adds to the history, in order: [`initial::initial`] at first and after a compaction, else
//! [`update::update`]; then [`input::user_message`]; then the skills it names ([`skills::load`])
//! and notes about the plugins and apps it mentions ([`plugins::note`], [`apps::note`]).

pub mod agents_md;
pub mod apps;
pub mod base;
pub mod budget;
pub mod citation;
pub mod compaction;
pub mod environment;
pub mod facts;
pub mod goal;
pub mod guardian;
pub mod history;
pub mod image;
pub mod initial;
pub mod input;
pub mod message;
pub mod notes;
mod output;
pub mod permissions;
pub mod plan;
pub mod plugins;
pub mod realtime;
pub mod resumed;
pub mod review;
pub mod sections;
pub mod skills;
pub mod speech;
pub mod stored;
pub mod truncate;
pub mod update;

#[cfg(test)]
mod tests;
