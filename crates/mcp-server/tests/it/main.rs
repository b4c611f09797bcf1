//! Tests of the MCP server with a real agent server behind it and the offline model behind that.
#![allow(clippy::unwrap_used, reason = "tests")]

mod http;
mod peer;
mod stdio;

quipu_sandbox::run_helper_in_tests!();
