//! Tests of the runner: sessions against scripted servers and against Quipu.
#![allow(clippy::unwrap_used, reason = "tests")]

mod service;
mod session;
mod ssh;
mod trackers;

quipu_sandbox::run_helper_in_tests!();
