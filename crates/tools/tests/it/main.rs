//! Tools driven by a scripted host: real files, real processes and a real sandbox, but no server and no model.
#![allow(clippy::unwrap_used, reason = "tests")]

mod calls;
mod commands;
mod lab;
mod specs;
#[cfg(target_os = "linux")]
mod writable;

quipu_sandbox::run_helper_in_tests!();
