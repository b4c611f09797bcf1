//! Tests of the runner: sessions against scripted servers and against Quipu.
#![allow(clippy::unwrap_used, reason = "tests")]

mod session;

quipu_sandbox::run_helper_in_tests!();
