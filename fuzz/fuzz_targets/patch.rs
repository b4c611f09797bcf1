//! Any bytes as a file and a patch for it.

#![no_main]

#[path = "../../crates/patch/tests/it/any_bytes.rs"]
mod any_bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_bytes::check(data));
