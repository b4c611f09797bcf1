//! The policy crate as its users see it, compared with what codex 0.118.0 was seen to do.
#![allow(clippy::unwrap_used, reason = "tests")]

mod any_rules;
mod any_script;
mod approvals;
mod decisions;
mod properties;
mod real_shell;
mod recorded;
mod rules;
mod starlark;
mod support;
