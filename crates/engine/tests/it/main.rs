//! The laws of a thread, checked on every trace: of random inputs, of a simulated world, and of the
//! conversations that the reference was seen to have.
#![allow(clippy::unwrap_used, reason = "tests")]

mod bounds;
mod checker;
mod endless;
mod facts;
mod hooks;
mod lines;
mod make;
mod raw;
mod resumed;
mod run;
mod second_tries;
mod too_long;
mod transcripts;
mod turns;
mod world;
