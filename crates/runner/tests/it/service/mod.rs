//! The service, by the rows of the test matrix of the Symphony specification (section 17).

mod accounting;
mod faults;
mod hosts;
mod http;
mod machine;
mod parsing;
pub mod support;
mod traces;
mod trackers;
mod workspaces;
