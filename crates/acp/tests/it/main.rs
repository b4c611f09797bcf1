//! Tests of the agent for editors with a real agent server behind it and the offline model behind that.
#![allow(clippy::unwrap_used, reason = "tests")]

mod editor;
mod input;
mod login;
mod prompts;

quipu_sandbox::run_helper_in_tests!();
