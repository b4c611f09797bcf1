//! Tests of the mechanics through real transports, and properties of the framing.
#![allow(clippy::unwrap_used, reason = "tests")]

mod calls;
mod frames;
mod fuzz_corpus;
mod http;
mod lines;
mod outbox;
mod peer;
mod stdio;
mod support;
mod transports;
mod websocket;
