//! Any bytes as the credential of a websocket client.

#![no_main]

#[path = "../../crates/server/tests/it/any_token.rs"]
mod any_token;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_token::check(data));
