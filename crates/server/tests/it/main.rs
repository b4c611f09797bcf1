//! Tests of the server through connections in memory: what any client may say, and what it gets back.
#![allow(clippy::unwrap_used, reason = "tests")]

mod accounts;
mod agents;
mod any_token;
mod approvals;
mod bad_requests;
mod commands;
mod compaction;
mod config;
mod decode;
mod files;
mod gate;
mod guardian;
mod handshake;
mod idle;
mod journal_faults;
mod lab;
mod legacy;
mod legacy_approvals;
mod limits;
mod logins;
mod mcp;
mod mcp_servers;
mod messages;
mod methods;
mod mistakes;
mod models;
mod network;
mod order;
mod permissions;
mod plugins;
mod reviews;
mod search;
mod several;
mod shells;
mod skills;
mod stage;
mod threads;
mod tokens;
mod tool_search;
mod tools;
mod turns;
mod web_search;
mod wires;

quipu_sandbox::run_helper_in_tests!();
quipu_testkit::be_mcp_server_in_tests!();
