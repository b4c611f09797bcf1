//! Tests of the client: against Quipu in the same process, and against scripted peers for all that a
//! good server does not do. Over sockets and as a child process Quipu is tested with in
//! `crates/cli/tests`, where its program is at hand.
#![allow(clippy::unwrap_used, reason = "tests")]

mod calls;
mod children;
mod drops;
mod events;
mod examples;
mod handshake;
mod limits;
mod observer;
mod official;
mod peers;
mod questions;
mod reconnect;
mod support;
mod threads;
mod turns;

quipu_sandbox::run_helper_in_tests!();
