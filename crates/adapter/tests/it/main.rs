//! Tests of the adapter: against Quipu in the same process with its offline model, and against a scripted
//! peer for all that a good server does not do. As a child process Quipu is tested with in
//! `crates/cli/tests`, where its program is at hand.
#![allow(clippy::unwrap_used, reason = "tests")]

mod ends;
mod evaluations;
mod examples;
mod faults;
mod limits;
mod official;
mod peer;
mod prompts;
mod questions;
mod replays;
mod sessions;
mod settings;
mod starts;
mod support;
mod workspaces;

quipu_sandbox::run_helper_in_tests!();
