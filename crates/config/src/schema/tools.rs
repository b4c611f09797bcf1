//! Tables about what the model can call.

use serde_json::Value;

use super::words::{STRING_MAP, STRINGS, TOOL_APPROVALS};
use super::{I32, Kind, Section, U64, USIZE, key, map};
use crate::Table;
use Kind::{Bool, List, Path, PlainPath, Seconds, Str, Word};

static LOCATION: Section = Section::new(
    "WebSearchLocation",
    &[
        key("country", Str, "Country, as a two-letter code."),
        key("region", Str, "Region or state."),
        key("city", Str, "City."),
        key("timezone", Str, "Time zone, as in `Europe/Berlin`."),
    ],
);

static WEB_SEARCH: Section = Section::new(
    "WebSearchToolConfig",
    &[
        key(
            "context_size",
            Word(&["low", "medium", "high"]),
            "How much of what is found reaches the model.",
        ),
        key("allowed_domains", STRINGS, "Search only these domains."),
        key(
            "location",
            Kind::Table(&LOCATION),
            "Where the user roughly is.",
        ),
    ],
);

pub static TOOLS: Section = Section::new(
    "ToolsToml",
    &[
        key(
            "web_search",
            Kind::AnyOf(
                "WebSearchToolConfigInput",
                &[Bool, Kind::Table(&WEB_SEARCH)],
            ),
            "Details of web search; whether it is on is said by the top-level `web_search`.",
        ),
        key("view_image", Bool, "The model may look at image files.").default("true"),
    ],
);

static MCP_TOOL: Section = Section::new(
    "McpServerToolConfig",
    &[key(
        "approval_mode",
        TOOL_APPROVALS,
        "Whether calls of this tool are asked about.",
    )
    .omitted()],
);

pub static MCP_SERVER: Section = Section::new(
    "RawMcpServerConfig",
    &[
        key(
            "command",
            Str,
            "Program of a server that speaks over its standard streams.",
        )
        .omitted(),
        key("args", STRINGS, "Its arguments.").omitted(),
        key("env", STRING_MAP, "Variables set for it.").omitted(),
        key("env_vars", STRINGS, "Names of variables passed on to it.").omitted(),
        key(
            "cwd",
            PlainPath,
            "Directory it starts in; a relative one is taken from the server's own directory.",
        )
        .omitted(),
        key("url", Str, "Address of a server that speaks HTTP.").omitted(),
        key(
            "bearer_token",
            Str,
            "Refused: put the token into a variable and name it in `bearer_token_env_var`.",
        )
        .omitted(),
        key(
            "bearer_token_env_var",
            Str,
            "Variable that holds the token sent to it.",
        )
        .omitted(),
        key("http_headers", STRING_MAP, "Headers sent to it.").omitted(),
        key(
            "env_http_headers",
            STRING_MAP,
            "Headers sent to it, by the name of the variable that holds the value.",
        )
        .omitted(),
        key("oauth_resource", Str, "Resource asked for when logging in.").omitted(),
        key("scopes", STRINGS, "Scopes asked for when logging in.").omitted(),
        key("enabled", Bool, "Whether the server is used.").shown("true"),
        key(
            "required",
            Bool,
            "Threads do not start when the server fails.",
        )
        .omitted()
        .default("false"),
        key(
            "startup_timeout_sec",
            Seconds,
            "How long it may take to start, in seconds.",
        )
        .omitted()
        .default("30"),
        key("startup_timeout_ms", U64, "The same in milliseconds.").omitted(),
        key(
            "tool_timeout_sec",
            Seconds,
            "How long one call may take, in seconds.",
        )
        .default("120"),
        key("enabled_tools", STRINGS, "Only these tools are offered.").omitted(),
        key("disabled_tools", STRINGS, "These tools are not offered.").omitted(),
        key(
            "tools",
            map(&Kind::Table(&MCP_TOOL)),
            "Single tools by name.",
        )
        .omitted(),
        key("name", Str, "The name is that of the table.")
            .omitted()
            .no_effect(),
    ],
)
.with_rule(mcp_server_rule)
.with_finish(mcp_server_finish);

fn mcp_server_rule(server: &Table) -> Option<String> {
    let has = |name: &&&str| server.contains_key(**name);
    let (transport, foreign): (_, &[&str]) = if server.contains_key("command") {
        let foreign = &[
            "url",
            "bearer_token_env_var",
            "bearer_token",
            "http_headers",
            "env_http_headers",
            "oauth_resource",
        ];
        ("stdio", foreign)
    } else if server.contains_key("url") {
        (
            "streamable_http",
            &["args", "env", "env_vars", "cwd", "bearer_token"],
        )
    } else {
        return Some("invalid transport".to_owned());
    };
    let name = foreign.iter().find(has)?;
    Some(format!("{name} is not supported for {transport}"))
}

/// A server shows arguments only if it is a command, and its start-up time in seconds.
fn mcp_server_finish(table: &Table, out: &mut Table) {
    if table.contains_key("command") && !table.contains_key("args") {
        out.insert("args".to_owned(), Value::Array(Vec::new()));
    }
    let millis = out
        .remove("startup_timeout_ms")
        .and_then(|millis| millis.as_f64());
    if let (Some(millis), false) = (millis, table.contains_key("startup_timeout_sec")) {
        out.insert(
            "startup_timeout_sec".to_owned(),
            Value::from(millis / 1000.0),
        );
    }
    out.remove("name");
}

static AGENT_ROLE: Section = Section::new(
    "AgentRoleToml",
    &[
        key(
            "description",
            Str,
            "What the role is for; the model reads it.",
        ),
        key("config_file", Path, "Settings of agents in this role."),
        key(
            "nickname_candidates",
            STRINGS,
            "Names to give to agents in this role.",
        ),
    ],
);

pub static AGENTS: Section = Section::new(
    "AgentsToml",
    &[
        key(
            "max_threads",
            USIZE,
            "How many agents may be open at once; at least 1.",
        )
        .default("6"),
        key(
            "max_depth",
            I32,
            "How deep agents may start agents; at least 1.",
        )
        .default("1"),
        key(
            "job_max_runtime_seconds",
            U64,
            "How long an agent of a table job may run.",
        )
        .no_effect(),
    ],
)
.with_rest(&Kind::Table(&AGENT_ROLE));

static APPS_DEFAULT: Section = Section::new(
    "AppsDefaultConfig",
    &[
        key("enabled", Bool, "Apps not named here are on.").shown("true"),
        key(
            "destructive_enabled",
            Bool,
            "Their destructive tools are on.",
        )
        .shown("true"),
        key(
            "open_world_enabled",
            Bool,
            "Their tools that reach the outside world are on.",
        )
        .shown("true"),
    ],
);

static APP_TOOL: Section = Section::new(
    "AppToolConfig",
    &[
        key("enabled", Bool, "Whether the tool is on."),
        key(
            "approval_mode",
            TOOL_APPROVALS,
            "Whether its calls are asked about.",
        ),
    ],
);

static APP_TOOLS: Section = Section::new("AppToolsConfig", &[]).with_rest(&Kind::Table(&APP_TOOL));

static APP: Section = Section::new(
    "AppConfig",
    &[
        key("enabled", Bool, "Whether the app is on.").shown("true"),
        key(
            "destructive_enabled",
            Bool,
            "Whether its destructive tools are on.",
        ),
        key(
            "open_world_enabled",
            Bool,
            "Whether its tools that reach the outside world are on.",
        ),
        key(
            "default_tools_approval_mode",
            TOOL_APPROVALS,
            "Whether calls of its tools are asked about.",
        ),
        key(
            "default_tools_enabled",
            Bool,
            "Whether its tools are on unless named below.",
        ),
        key("tools", Kind::Table(&APP_TOOLS), "Single tools by name."),
    ],
);

pub static APPS: Section = Section::new(
    "AppsConfigToml",
    &[key(
        "_default",
        Kind::Table(&APPS_DEFAULT),
        "What holds for apps not named here.",
    )],
)
.with_rest(&Kind::Table(&APP));

static SKILL: Section = Section::new(
    "SkillConfig",
    &[
        key("path", Path, "The skill's `SKILL.md`.").omitted(),
        key("name", Str, "The skill's name, instead of its path.").omitted(),
        key("enabled", Bool, "Whether it is on.").required(),
    ],
);

static BUNDLED_SKILLS: Section = Section::new(
    "BundledSkillsConfig",
    &[key(
        "enabled",
        Bool,
        "Whether the skills that come with the program are there.",
    )
    .shown("true")],
);

pub static SKILLS: Section = Section::new(
    "SkillsConfig",
    &[
        key(
            "bundled",
            Kind::Table(&BUNDLED_SKILLS),
            "Skills that come with the program.",
        )
        .omitted(),
        key(
            "config",
            List(&Kind::Table(&SKILL)),
            "Single skills switched on or off.",
        )
        .omitted(),
    ],
);

static DISCOVERABLE: Section = Section::new(
    "ToolSuggestDiscoverable",
    &[
        key("type", Word(&["connector", "plugin"]), "What is suggested.").required(),
        key("id", Str, "Its id.").required(),
    ],
);

pub static TOOL_SUGGEST: Section = Section::new(
    "ToolSuggestConfig",
    &[key(
        "discoverables",
        List(&Kind::Table(&DISCOVERABLE)),
        "What the model may suggest to install.",
    )
    .shown("[]")],
);

pub static MARKETPLACE: Section = Section::new(
    "MarketplaceConfig",
    &[
        key("source_type", Word(&["local", "git"]), "What `source` is."),
        key(
            "source",
            Str,
            "A directory, or the URL of a Git repository.",
        ),
        key("ref", Str, "Branch, tag or commit of the repository.").default("its default branch"),
        key(
            "sparse_paths",
            STRINGS,
            "Directories of the repository that are fetched, besides the files at its top.",
        )
        .default("all"),
    ],
);
pub static PLUGIN: Section = Section::new(
    "PluginConfig",
    &[key("enabled", Bool, "Whether the plugin is on.").shown("true")],
);
