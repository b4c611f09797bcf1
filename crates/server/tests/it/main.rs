//! Tests of the server through connections in memory: what any client may say, and what it gets back.
#![allow(clippy::unwrap_used, reason = "tests")]

mod decode;
mod gate;
mod handshake;
mod lab;
mod messages;
mod methods;
