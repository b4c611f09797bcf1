//! Any bytes as a configuration file and an edit of it.

#![no_main]

#[path = "../../crates/config/tests/it/any_bytes.rs"]
mod any_bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_bytes::check(data));
