//! Text that repeats itself, for every reader.

#![no_main]

#[path = "../../crates/server/tests/it/any_nesting.rs"]
mod any_nesting;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_nesting::check(data));
