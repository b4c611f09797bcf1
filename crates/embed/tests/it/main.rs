//! Tests of the embedded server: through the example, which is a program with a `main` as any other has.
#![allow(clippy::unwrap_used, reason = "tests")]

mod example;
mod sharing;
