//! Scripted model over real HTTP, scripted client, fixtures, fault injection.

pub mod client;
pub mod conversation;
pub mod model;
pub mod process;
pub mod raw;
