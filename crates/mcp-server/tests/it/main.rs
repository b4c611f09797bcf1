//! Tests of the MCP server with a real agent server behind it and the offline model behind that.
#![allow(clippy::unwrap_used, reason = "tests")]

mod http;
mod peer;
mod questions;
mod stdio;

quipu_testkit::be_mcp_server_in_tests!();
quipu_sandbox::run_helper_in_tests!();
