//! The tools a model can call. Each has a file with its arguments, what the model reads about it, and its run; the
//! [table](specs) lists them.
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
mod command_arguments;
mod dynamic;
mod exec;
mod guardian;
mod hooks;
mod host;
mod image_generation;
mod legacy_approval;
mod local_shell;
mod login_shell;
mod mcp;
mod memo;
mod network;
mod process;
mod request_permissions;
mod request_user_input;
mod run_command;
mod sandboxing;
mod schema;
mod scope;
mod shell;
mod shell_command;
mod spec;
mod table;
mod text;
mod tool;
mod tool_search;
mod toolbox;
mod update_goal;
mod update_plan;
mod user_shell;
mod view_image;
mod wanted;
mod web_search;

pub use call::{Finished, Output, output_item};
pub use clock::Clock;
pub use dynamic::namespace_prefix;
pub use guardian::Action;
pub use hooks::Advice;
pub use host::{Answer, Host};
pub use mcp::{Approvals, McpScope, ToolApprovals, elicitation_request, reaction};
pub use network::Network;
pub use sandboxing::{Guarded, hidden as hidden_from_commands, policy as sandbox_policy};
pub use scope::{Drops, Features, Scope, ShellTool};
pub use spec::{Spec, SpecKind};
pub use table::{specs, tool_names};
pub use tool_search::{TOOL_SEARCH, found_tools};
pub use toolbox::{Access, Cancel, Toolbox};
pub use user_shell::{ShellRun, UserShell};
pub use web_search::WebSearch;
