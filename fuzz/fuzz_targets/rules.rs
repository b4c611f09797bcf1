//! Any bytes as a rules file.

#![no_main]

#[path = "../../crates/policy/tests/it/any_rules.rs"]
mod any_rules;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_rules::check(data));
