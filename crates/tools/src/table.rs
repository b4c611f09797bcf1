//! The tools that the model can call by a fixed name, in the order in which it reads about them.

use crate::agents::{CloseAgent, ResumeAgent, SendInput, SpawnAgent, WaitAgent};
use crate::apply_patch::ApplyPatch;
use crate::dynamic;
use crate::exec::{ExecCommand, WriteStdin};
use crate::image_generation::ImageGeneration;
use crate::local_shell::LocalShell;
use crate::mcp::{self, ResourceTool};
use crate::request_permissions::RequestPermissions;
use crate::request_user_input::RequestUserInput;
use crate::scope::Scope;
use crate::shell::{ContainerExec, Shell};
use crate::shell_command::ShellCommand;
use crate::spec::Spec;
use crate::tool::Tool;
use crate::tool_search::ToolSearch;
use crate::update_goal::UpdateGoal;
use crate::update_plan::UpdatePlan;
use crate::view_image::ViewImage;
use crate::web_search::ProviderSearch;

static TOOLS: &[&dyn Tool] = &[
    &ExecCommand,
    &WriteStdin,
    &ShellCommand,
    &Shell,
    &ContainerExec,
    &LocalShell,
    &ResourceTool::List,
    &ResourceTool::ListTemplates,
    &ResourceTool::Read,
    &UpdatePlan,
    &UpdateGoal,
    &RequestUserInput,
    &RequestPermissions,
    &ToolSearch,
    &ApplyPatch,
    &ProviderSearch,
    &ImageGeneration,
    &ViewImage,
    &SpawnAgent,
    &SendInput,
    &ResumeAgent,
    &WaitAgent,
    &CloseAgent,
];

/// The tool with this name.
pub(crate) fn named(name: &str) -> Option<&'static dyn Tool> {
    TOOLS.iter().copied().find(|tool| tool.name() == name)
}

/// Which tools a model gets, in order: those of the table, then those of MCP servers and of the client.
#[must_use]
pub fn specs(scope: &Scope) -> Vec<Spec> {
    let mut specs: Vec<Spec> = TOOLS.iter().filter_map(|tool| tool.spec(scope)).collect();
    specs.extend(mcp::specs(scope));
    specs.extend(dynamic::specs(scope));
    specs
}

/// The names of the tools in the table, in order.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name())
}
