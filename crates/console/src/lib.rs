//! The console: a page in the browser that is an ordinary client of the protocol. This crate has its files, which
//! `cargo xtask codegen` bundles from `clients/console`, the one-time codes with which a browser gets its token, and
//! what the page may ask besides the protocol: the state of runners on this machine.

mod assets;
mod codes;
mod policy;
mod site;

pub use codes::{Codes, NoRandomness, secret};
pub use site::{Console, Runners};
