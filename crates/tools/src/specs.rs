//! What the model is told about each tool.

use quipu_mcp::OfferedTool;
use quipu_wire::{DynamicToolSpec, Json};
use serde_json::{Value, json};

use crate::agents;
use crate::mcp;
use crate::scope::Scope;
use crate::shell_specs;
use crate::tool_search;
use crate::web_search::WebSearch;

/// A tool as the model is offered it.
#[derive(Debug, Clone)]
pub struct Spec {
    pub name: String,
    pub description: String,
    pub kind: SpecKind,
}

/// How a tool is called.
#[derive(Debug, Clone)]
pub enum SpecKind {
    /// With a JSON object that matches this schema.
    Function(Json),
    /// With a patch, as free text.
    Patch,
    /// By the provider itself; this is how it is asked for.
    Hosted(Json),
}

/// Which tools a model gets, in order.
#[must_use]
pub fn specs(scope: &Scope) -> Vec<Spec> {
    let mut specs = shell_specs::specs(scope);
    if !scope.mcp.fleet.is_empty() {
        specs.extend(mcp_resources());
    }
    specs.push(update_plan());
    if !scope.is_subagent {
        specs.push(request_user_input());
    }
    if scope.features.request_permissions_tool {
        specs.push(request_permissions());
    }
    specs.extend(tool_search::spec(&scope.dynamic_tools));
    specs.extend(scope.patch_as_text.map(apply_patch));
    specs.extend(scope.web_search.as_ref().map(WebSearch::spec));
    specs.extend(scope.features.image_generation.then(image_generation));
    specs.extend(scope.features.view_image.then(view_image));
    specs.extend(scope.agents.iter().flat_map(|roles| agents::specs(roles)));
    specs.extend(scope.mcp.fleet.tools().iter().map(mcp_tool));
    let offered = scope
        .dynamic_tools
        .iter()
        .filter(|tool| !tool.defer_loading || scope.found_tools.contains(&tool.name));
    specs.extend(offered.map(dynamic));
    specs
}

pub(crate) fn function(
    name: &str,
    description: &str,
    properties: Value,
    required: &[&str],
) -> Spec {
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    Spec {
        name: name.to_owned(),
        description: description.to_owned(),
        kind: SpecKind::Function(schema.into()),
    }
}

pub(crate) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(crate) fn number(description: &str) -> Value {
    json!({ "type": "number", "description": description })
}

pub(crate) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn update_plan() -> Spec {
    let step = json!({
        "type": "object",
        "properties": { "step": text("What is to be done."), "status": text("`pending`, `in_progress` or `completed`.") },
        "required": ["step", "status"],
        "additionalProperties": false,
    });
    function(
        "update_plan",
        "Shows the user your plan for a longer task and how far it has come. Keep one step in progress at a time.",
        json!({
            "explanation": text("Why the plan changed."),
            "plan": { "type": "array", "items": step, "description": "All steps, in order." },
        }),
        &["plan"],
    )
}

fn request_user_input() -> Spec {
    let option = json!({
        "type": "object",
        "properties": { "label": text("The answer in a few words."), "description": text("What choosing it means.") },
        "required": ["label", "description"],
        "additionalProperties": false,
    });
    let question = json!({
        "type": "object",
        "properties": {
            "id": text("A name for the question, in snake_case."),
            "header": text("One or two words that say what it is about."),
            "question": text("The question, in one sentence."),
            "options": { "type": "array", "items": option, "description": "Two or three answers, the best first." },
        },
        "required": ["id", "header", "question", "options"],
        "additionalProperties": false,
    });
    function(
        "request_user_input",
        "Asks the user one to three short questions and waits for the answers. Only in plan mode.",
        json!({ "questions": { "type": "array", "items": question } }),
        &["questions"],
    )
}

/// Permissions as a model writes them.
pub(crate) fn wanted() -> Value {
    let paths =
        |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    json!({
        "type": "object",
        "properties": {
            "network": { "type": "object", "properties": { "enabled": flag("Whether to reach the network.") }, "additionalProperties": false },
            "file_system": {
                "type": "object",
                "properties": { "read": paths("Paths to read."), "write": paths("Paths to write.") },
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
    })
}

fn request_permissions() -> Spec {
    function(
        "request_permissions",
        "Asks the user for permissions that later commands of this turn need.",
        json!({
            "reason": text("Why they are needed, for the user."),
            "permissions": wanted(),
        }),
        &["permissions"],
    )
}

fn apply_patch(as_text: bool) -> Spec {
    let description = "Adds, changes, moves and deletes files. A patch starts with `*** Begin Patch` and ends with \
        `*** End Patch`; between them come `*** Add File: PATH` with `+` lines, `*** Delete File: PATH`, or `*** Update \
        File: PATH` (and `*** Move to: PATH`) with hunks: `@@` and a line to find the place by, then lines that begin \
        with a space (kept), `-` (removed) or `+` (added).";
    if as_text {
        let name = "apply_patch".to_owned();
        return Spec {
            name,
            description: description.to_owned(),
            kind: SpecKind::Patch,
        };
    }
    function(
        "apply_patch",
        description,
        json!({ "input": text("The whole patch.") }),
        &["input"],
    )
}

fn image_generation() -> Spec {
    let tool = json!({ "type": "image_generation", "output_format": "png" });
    Spec {
        name: "image_generation".to_owned(),
        description: String::new(),
        kind: SpecKind::Hosted(tool.into()),
    }
}

fn view_image() -> Spec {
    function(
        "view_image",
        "Looks at an image in the file system.",
        json!({ "path": text("The file.") }),
        &["path"],
    )
}

fn mcp_tool(offered: &OfferedTool) -> Spec {
    let schema = serde_json::from_str(offered.tool.input_schema.get()).unwrap_or_default();
    Spec {
        name: offered.qualified.clone(),
        description: offered.tool.description.clone().unwrap_or_default(),
        kind: SpecKind::Function(mcp::reduced(&schema).into()),
    }
}

fn mcp_resources() -> [Spec; 3] {
    let list = |name: &str, what: &str| {
        let description = format!(
            "Lists the {what} that MCP servers share: files, records and other data to work with."
        );
        let properties = json!({
            "server": text("Only those of this server; of all servers if left out."),
            "cursor": text("Where the last list of the same server said that it goes on."),
        });
        function(name, &description, properties, &[])
    };
    let [resources, templates, read] = mcp::RESOURCE_TOOLS;
    [
        list(resources, "resources"),
        list(templates, "templates of resource addresses"),
        function(
            read,
            "Reads one resource of an MCP server.",
            json!({
                "server": text("The server, as a list of resources names it."),
                "uri": text("The address, as a list of resources has it."),
            }),
            &["server", "uri"],
        ),
    ]
}

fn dynamic(tool: &DynamicToolSpec) -> Spec {
    Spec {
        name: tool.name.clone(),
        description: tool.description.clone(),
        kind: SpecKind::Function(tool.input_schema.clone()),
    }
}
