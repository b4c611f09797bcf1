//! Any bytes as the answer of a provider, in each of the three formats.

#![no_main]

#[path = "../../crates/model/tests/it/any_answer.rs"]
mod any_answer;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_answer::check(data));
