//! Real processes on a real kernel.
#![allow(clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

mod actor;
mod container;
mod escape;
mod hidden;
mod lab;
mod ownership;
mod process;
mod roots;
mod terminal;
mod work;
mod worktree;

quipu_sandbox::run_helper_in_tests!();
