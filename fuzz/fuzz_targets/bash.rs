//! Any bytes as a shell script.

#![no_main]

#[path = "../../crates/policy/tests/it/any_script.rs"]
mod any_script;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_script::check(data));
