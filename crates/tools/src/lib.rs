//! The tools a model can call: schema, permission, run, output; one file each.
//!
//! A [`Toolbox`] belongs to one thread and outlives its turns: it holds the processes that go on in the
//! background and what the user has agreed to. A call gets the settings of its turn as a [`Scope`] and
//! tells what happens through a [`Host`]. What goes wrong inside a tool is text for the model; a call
//! never fails a turn.

pub mod agents;
mod apply_patch;
mod approval;
mod call;
mod clock;
mod dynamic;
mod exec;
mod guardian;
mod hooks;
mod host;
mod legacy_approval;
mod login_shell;
mod mcp;
mod network;
mod process;
mod request_permissions;
mod request_user_input;
mod sandboxing;
mod scope;
mod shell;
mod shell_specs;
mod specs;
mod text;
mod tool_search;
mod toolbox;
mod update_plan;
mod user_shell;
mod view_image;
mod wanted;
mod web_search;

pub use call::{Finished, output_item};
pub use clock::Clock;
pub use guardian::Action;
pub use hooks::Advice;
pub use host::{Answer, Host};
pub use mcp::{McpScope, elicitation_request, reaction};
pub use network::Network;
pub use sandboxing::{Guarded, hidden as hidden_from_commands, policy as sandbox_policy};
pub use scope::{Drops, Features, Scope, ShellTool};
pub use specs::{Spec, SpecKind, specs};
pub use tool_search::{TOOL_SEARCH, found_tools};
pub use toolbox::{Access, Cancel, Toolbox};
pub use user_shell::{ShellRun, UserShell};
pub use web_search::WebSearch;
