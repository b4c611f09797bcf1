//! Any bytes as a rollout.

#![no_main]

#[path = "../../crates/journal/tests/it/any_bytes.rs"]
mod any_bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_bytes::check(data));
