//! Any bytes on a line-framed connection.

#![no_main]

#[path = "../src/frames.rs"]
mod frames;

libfuzzer_sys::fuzz_target!(|data: &[u8]| frames::check(data));
