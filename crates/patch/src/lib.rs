//! The patch language: parse, match, apply, diff.
//!
//! A model edits files by writing patches in a small language of its own. This crate knows
//! everything about that language and nothing about threads, approvals or sandboxes. The way of one
//! patch:
//!
//! 1. [`detect`] finds a patch inside a shell command (the model may call `apply_patch` that way
//!    too);
//! 2. [`Patch::parse`] turns the text into operations;
//! 3. [`Plan::new`] computes, reading only, what every file would become; all that can be known to
//!    be wrong is found here;
//! 4. somebody may be asked, with [`Plan::changes`] and [`Plan::targets`] in hand;
//! 5. [`Plan::apply`] writes, each file at once or not at all;
//! 6. [`TurnDiff`] shows what all patches of a turn did together.
//!
//! Texts that the model reads are those of the reference implementation. Where the reference would
//! damage a file, this crate does not follow it: context lines stay as the file has them even if
//! they matched only loosely, added lines take the file's line ending, blank lines at the end of a
//! file survive, a move onto itself is no deletion, several operations on one file see each other,
//! and a patch that cannot be applied wholly is refused before the first write.

mod anchor;
mod apply;
mod blob;
mod changes;
mod command;
mod detect;
mod diff;
mod files;
mod overlay;
mod parse;
mod plan;
mod rewrite;
mod seek;
mod turn_diff;
mod write;

pub use apply::{ApplyError, Report};
pub use changes::{Change, ChangeKind};
pub use command::{CommandOutput, run};
pub use detect::{Call, detect};
pub use files::MAX_FILE_BYTES;
pub use overlay::Content;
pub use parse::{Hunk, HunkLine, LineProblem, Operation, ParseError, Patch};
pub use plan::{Plan, PlanError, PlanProblem, PrepareError, Target, prepare};
pub use rewrite::{Mismatch, rewrite};
pub use turn_diff::TurnDiff;
