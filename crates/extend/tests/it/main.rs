//! What people put into folders, and what the program makes of it.

#![allow(clippy::unwrap_used, reason = "tests")]

mod import;
mod installer;
mod skills;
