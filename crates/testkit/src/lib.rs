//! Scripted model over real HTTP, scripted client, fixtures, fault injection.

pub mod backend;
pub mod balancer;
pub mod browser;
pub mod client;
pub mod cluster;
pub mod collector;
pub mod conversation;
pub mod cut;
pub mod http;
pub mod identity;
pub mod mcp;
pub mod model;
pub mod process;
pub mod process_table;
pub mod raw;
pub mod small_disk;
pub mod stream;
pub mod trace;
pub mod voice;
pub mod wait;
pub mod web;
