//! The providers against a real HTTP server that plays scripts and breaks on request.

#![allow(clippy::unwrap_used, reason = "tests")]

mod anthropic;
mod any_answer;
mod chat;
mod errors;
mod faults;
mod fuzz_corpus;
mod llama;
mod models;
mod offline;
mod responses;
mod retries;
mod secrets;
mod structured;
mod support;
mod websocket;
