//! Tests of hooks against what the official program was seen to do.

mod calls;
mod decisions;
mod files;
