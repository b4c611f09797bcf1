//! The patch language against what the reference implementation was seen to do, and against laws it
//! must keep.
#![allow(clippy::unwrap_used, reason = "tests")]

mod any_bytes;
mod apply;
mod command;
mod detect;
mod laws;
mod turn_diff;
mod turns;
mod workspace;
