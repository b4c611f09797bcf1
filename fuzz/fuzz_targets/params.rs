//! Any bytes as the params of any method.

#![no_main]

#[path = "../src/params.rs"]
mod params;

libfuzzer_sys::fuzz_target!(|data: &[u8]| params::check(data));
