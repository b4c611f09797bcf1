//! Tests of the client against scripted servers: real processes, real HTTP.
#![allow(clippy::unwrap_used, reason = "tests")]

mod fleet;
mod http;
mod lab;
mod login;
mod stdio;

quipu_sandbox::run_helper_in_tests!();
quipu_testkit::be_mcp_server_in_tests!();
