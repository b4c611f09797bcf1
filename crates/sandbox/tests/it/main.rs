//! Real processes on a real kernel.
#![allow(clippy::unwrap_used, reason = "tests")]

mod lab;
mod process;

quipu_sandbox::run_helper_in_tests!();
