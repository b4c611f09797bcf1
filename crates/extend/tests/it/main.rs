//! What people put into directories, and what the program makes of it.

#![allow(clippy::unwrap_used, reason = "tests")]

mod import;
mod installer;
mod skills;
