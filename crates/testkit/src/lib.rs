//! Scripted model over real HTTP, scripted client, fixtures, fault injection.

pub mod model;
