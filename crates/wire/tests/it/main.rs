//! Tests of the protocol's types: what they read, what they write, and what is published about them.
#![allow(clippy::unwrap_used, reason = "tests")]

mod absence;
mod examples;
mod fuzz_corpus;
mod gate;
mod open_words;
mod paths;
mod reference;
mod rights;
mod round_trip;
mod table;
mod tolerance;
mod typescript;
