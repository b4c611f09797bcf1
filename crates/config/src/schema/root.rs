//! The top level of the configuration file, and what a profile may set.

use super::others::{
    ANALYTICS, AUDIO, BUDGET, FEEDBACK, GHOST_SNAPSHOT, HISTORY, MEMORIES, NOTICE, OTEL, REALTIME,
    STORE, TUI, WINDOWS,
};
use super::providers::{MODEL_PROVIDER, providers_rule};
use super::safety::{
    APPROVAL_POLICIES, PERMISSIONS, PROJECT, SANDBOX_WORKSPACE_WRITE, SHELL_ENVIRONMENT_POLICY,
};
use super::tools::{AGENTS, APPS, MARKETPLACE, MCP_SERVER, PLUGIN, SKILLS, TOOL_SUGGEST, TOOLS};
use super::words::{
    EFFORTS, PERSONALITIES, REVIEWERS, SANDBOX_MODES, STRINGS, SUMMARIES, TIERS, VERBOSITIES,
    WEB_SEARCH_MODES,
};
use super::{Key, Kind, Section, U16, U64, USIZE, WINDOW, key, map, tui, within};
use Kind::{Bool, List, Path, Str, Word};

const MODEL: Key =
    key("model", Str, "Model for new threads.").default("the provider's default model");
const MODEL_PROVIDER_ID: Key = key(
    "model_provider",
    Str,
    "Provider to use: a built-in one or a table in `model_providers`.",
)
.default("the one whose login or key is found");
const APPROVAL_POLICY: Key = key(
    "approval_policy",
    APPROVAL_POLICIES,
    "When to ask before a command runs.",
)
.default("`on-request`; `untrusted` in a project marked so");
const APPROVALS_REVIEWER: Key = key(
    "approvals_reviewer",
    REVIEWERS,
    "Who answers approval requests: the user, or a reviewer model.",
)
.default("`user`");
const ANNOUNCED_VERSION: Key = key(
    "announced_version",
    Str,
    "The version of the official server that clients see, in `userAgent`, `cliVersion` and `codex --version`.",
)
.default("`0.166.0`")
.omitted();
const LEGACY_APPROVALS: Key = key(
    "legacy_approvals",
    Bool,
    "Ask by `execCommandApproval` and `applyPatchApproval`, for clients of the first protocol version.",
)
.default("false")
.omitted();
const SANDBOX_MODE: Key = key(
    "sandbox_mode",
    SANDBOX_MODES,
    "What commands may touch without asking.",
)
.default("`read-only`; `workspace-write` once the project's trust is decided");
const SANDBOX_HIDDEN_PATHS: Key = key(
    "sandbox_hidden_paths",
    STRINGS,
    "What sandboxed commands without network cannot read, below the user's home directory unless absolute; \
     `default` stands for the list in [the sandbox](sandbox.md#what-commands-may-read).",
)
.default("`[\"default\"]`")
.omitted();
const EFFORT: Key = key(
    "model_reasoning_effort",
    EFFORTS,
    "How much the model thinks.",
)
.default("the model's own");
const PLAN_EFFORT: Key = key(
    "plan_mode_reasoning_effort",
    EFFORTS,
    "How much the model reasons in plan mode, unless the client says. `collaborationMode/list` offers it.",
)
.default("offered: `medium`; otherwise the model's own");
const SUMMARY: Key = key(
    "model_reasoning_summary",
    SUMMARIES,
    "How its thoughts are summed up for the user.",
)
.default("the model's own");
const VERBOSITY: Key =
    key("model_verbosity", VERBOSITIES, "How long its answers are.").default("the model's own");
const TIER: Key =
    key("service_tier", TIERS, "Price and speed of requests.").default("the provider's standard");
const PERSONALITY: Key =
    key("personality", PERSONALITIES, "Tone of the agent.").default("`pragmatic`");
const CATALOG: Key = key(
    "model_catalog_json",
    Path,
    "File with the list of models, instead of the built-in one.",
);
const INSTRUCTIONS_FILE: Key = key(
    "model_instructions_file",
    Path,
    "File with the agent's base instructions, instead of the built-in ones.",
);
const OLD_INSTRUCTIONS_FILE: Key = key(
    "experimental_instructions_file",
    Path,
    "Use `model_instructions_file` instead.",
)
.no_effect();
const COMPACT_FILE: Key = key(
    "experimental_compact_prompt_file",
    Path,
    "File with the text of `compact_prompt`.",
);
const WEB_SEARCH_MODE: Key = key(
    "web_search",
    WEB_SEARCH_MODES,
    "Whether the model searches the web, in a cache or live.",
)
.default("`cached`");
const TOOLS_TABLE: Key = key("tools", Kind::Table(&TOOLS), "Details of single tools.");
const CHATGPT_URL: Key = key("chatgpt_base_url", Str, "Address of the ChatGPT backend.")
    .default("`https://chatgpt.com/backend-api/`");
const OSS_PROVIDER: Key = key(
    "oss_provider",
    Str,
    "Local provider for `--oss`: `ollama`, `lmstudio`, `llamacpp` or `vllm`.",
);
const ZSH_PATH: Key = key("zsh_path", Path, "The zsh that `shell_zsh_fork` uses.").no_effect();
const NODE_PATH: Key = key("js_repl_node_path", Path, "The Node that `js_repl` uses.").no_effect();
const NODE_DIRS: Key = key(
    "js_repl_node_module_dirs",
    List(&Path),
    "Directories where `js_repl` looks for modules.",
)
.no_effect();
const FREEFORM: Key = key(
    "experimental_use_freeform_apply_patch",
    Bool,
    "Old: use `features.apply_patch_freeform`.",
);
const UNIFIED: Key = key(
    "experimental_use_unified_exec_tool",
    Bool,
    "Old: use `features.unified_exec`.",
);
const ANALYTICS_TABLE: Key = key("analytics", Kind::Table(&ANALYTICS), "Events about use.");
const WINDOWS_TABLE: Key =
    key("windows", Kind::Table(&WINDOWS), "Settings on Windows.").no_effect();

pub static PROFILE: Section = Section::new(
    "ConfigProfile",
    &[
        MODEL,
        MODEL_PROVIDER_ID,
        APPROVAL_POLICY,
        APPROVALS_REVIEWER,
        LEGACY_APPROVALS,
        SANDBOX_MODE,
        EFFORT,
        PLAN_EFFORT,
        SUMMARY,
        VERBOSITY,
        TIER,
        PERSONALITY,
        CATALOG,
        INSTRUCTIONS_FILE,
        OLD_INSTRUCTIONS_FILE,
        COMPACT_FILE,
        WEB_SEARCH_MODE,
        TOOLS_TABLE,
        CHATGPT_URL,
        OSS_PROVIDER,
        ZSH_PATH,
        NODE_PATH,
        NODE_DIRS,
        FREEFORM,
        UNIFIED,
        ANALYTICS_TABLE,
        WINDOWS_TABLE,
        key(
            "features",
            Kind::Switches,
            "Switches; see the list of features.",
        ),
        key(
            "include_apply_patch_tool",
            Bool,
            "Old: use `features.apply_patch_freeform`.",
        ),
        key("tools_view_image", Bool, "Old: use `tools.view_image`."),
    ],
);

/// The top level of the file.
pub static ROOT: Section = Section::new(
    "ConfigToml",
    &[
        // The model.
        MODEL,
        key("review_model", Str, "Model for reviews.").default("the thread's model"),
        MODEL_PROVIDER_ID,
        key("model_providers", Kind::Map(&Kind::Table(&MODEL_PROVIDER), Some(providers_rule)), "Providers besides the built-in ones, by id.").shown("{}"),
        key("openai_base_url", Str, "Address of the OpenAI API.").default("`https://api.openai.com/v1`"),
        OSS_PROVIDER,
        key("model_context_window", WINDOW, "Size of the model's context, in tokens.").default("built in, else asked of the provider"),
        key("model_auto_compact_token_limit", within("i64", 1, i64::MAX), "Compact the history above so many tokens.").default("the model's own"),
        EFFORT,
        PLAN_EFFORT,
        SUMMARY,
        key("model_supports_reasoning_summaries", Bool, "Treat the model as one that sums up its thoughts.").default("the model's own"),
        VERBOSITY,
        TIER,
        PERSONALITY,
        CATALOG,
        key("tool_output_token_limit", USIZE, "How much of a tool's output the model sees.").default("the model's own"),
        // Instructions.
        key("instructions", Str, "Use `developer_instructions` or `model_instructions_file` instead.").no_effect(),
        key("developer_instructions", Str, "Text given to the model as developer instructions."),
        INSTRUCTIONS_FILE,
        OLD_INSTRUCTIONS_FILE,
        key("compact_prompt", Str, "Text that asks the model for a summary when the history is compacted.").default("built in"),
        COMPACT_FILE,
        key("commit_attribution", Str, "Co-author (`Name <address>`) that the agent adds to commits, with `features.codex_git_commit`."),
        key("project_doc_max_bytes", USIZE, "How much of the `AGENTS.md` files reaches the model; 0 for none.").default("32768"),
        key("project_doc_fallback_filenames", STRINGS, "Files read where there is no `AGENTS.md`."),
        key("project_root_markers", STRINGS, "Files that mark the root of a project; `[]` stops the search.").default("`[\".git\"]`"),
        // Safety.
        APPROVAL_POLICY,
        APPROVALS_REVIEWER,
        LEGACY_APPROVALS,
        ANNOUNCED_VERSION,
        SANDBOX_MODE,
        key("sandbox_workspace_write", Kind::Table(&SANDBOX_WORKSPACE_WRITE), "Details of `sandbox_mode = \"workspace-write\"`."),
        SANDBOX_HIDDEN_PATHS,
        key("default_permissions", Str, "Permission profile in force, from `permissions`."),
        key("permissions", Kind::Table(&PERMISSIONS), "Permission profiles by name."),
        key("projects", map(&Kind::Table(&PROJECT)), "Projects by absolute path."),
        key("shell_environment_policy", Kind::Table(&SHELL_ENVIRONMENT_POLICY), "Environment of commands.")
            .shown("{\"inherit\": null, \"ignore_default_excludes\": null, \"exclude\": null, \"set\": null, \
                     \"include_only\": null, \"experimental_use_profile\": null}")
            .default("everything is inherited"),
        key("allow_login_shell", Bool, "Commands may run in a login shell.").default("true"),
        // Tools and agents.
        WEB_SEARCH_MODE,
        TOOLS_TABLE,
        key("features", Kind::Switches, "Switches; see the list of features."),
        key("suppress_unstable_features_warning", Bool, "Do not warn about features under development that are on.").default("false"),
        key("question_timeout_ms", U64, "How long questions to the user wait while nobody follows their thread, in milliseconds; then they are declined.").default("1800000").omitted(),
        key("budget", Kind::Table(&BUDGET), "How much may be used before turns end as failed; see [costs](costs.md). A project can only lower it.").default("no limit").omitted(),
        key("output_schema", Word(&["lenient", "strict"]), "What a final message does that breaks the output schema of its turn, after the model was asked once to correct it: `lenient` completes the turn with a `warning`, `strict` fails it. Text that is not JSON fails it either way.").default("`lenient`").omitted(),
        key("background_terminal_max_timeout", U64, "How long a poll of a background terminal may wait, in milliseconds.").default("300000"),
        key("mcp_servers", map(&Kind::Table(&MCP_SERVER)), "MCP servers by name.").shown("{}"),
        key("mcp_listed_tools", USIZE, "How many tools of all MCP servers together the model is shown. It finds the others with `tool_search`.").default("100").omitted(),
        key("mcp_oauth_credentials_store", Word(&["auto", "file", "keyring"]), "Where tokens of MCP servers are kept.").default("`auto`"),
        key("mcp_oauth_callback_port", U16, "Port of the login page for MCP servers.").default("any free one"),
        key("mcp_oauth_callback_url", Str, "Address of that page as the browser sees it.").default("on loopback"),
        key("agents", Kind::Table(&AGENTS), "Agents started by the model, and roles for them by name."),
        key("apps", Kind::Table(&APPS), "Connected apps by id."),
        key("plugins", map(&Kind::Table(&PLUGIN)), "Plugins by id. A project cannot set them.").shown("{}"),
        key("marketplaces", map(&Kind::Table(&MARKETPLACE)), "Marketplaces by name, as `marketplace/add` writes them. A project cannot set them.").omitted(),
        key("skills", Kind::Table(&SKILLS), "Skills."),
        key("tool_suggest", Kind::Table(&TOOL_SUGGEST), "What the model may suggest to install.").no_effect(),
        key("memories", Kind::Table(&MEMORIES), "Notes that outlive threads.").no_effect(),
        key("ghost_snapshot", Kind::Table(&GHOST_SNAPSHOT), "Snapshots for undo.").no_effect(),
        FREEFORM,
        UNIFIED,
        ZSH_PATH,
        NODE_PATH,
        NODE_DIRS,
        // Profiles.
        key("profile", Str, "Profile in force, from `profiles`."),
        key("profiles", map(&Kind::Table(&PROFILE)), "Sets of settings by name; they win over the top level.").shown("{}"),
        // The account.
        key("forced_login_method", Word(&["chatgpt", "api"]), "The only way to log in."),
        key("forced_chatgpt_workspace_id", Str, "The only ChatGPT workspace that may be used."),
        key("cli_auth_credentials_store", Word(&["file", "keyring", "auto", "ephemeral"]), "Where credentials are kept.").default("`file`"),
        CHATGPT_URL,
        // What is shown, kept and sent.
        key("hide_agent_reasoning", Bool, "Do not show the model's reasoning: clients get none, live or later.").default("false"),
        key("show_raw_agent_reasoning", Bool, "Keep the model's reasoning in full, not only its summary, for `thread/read` and resumed threads. Clients that follow a turn get it anyway, where the provider sends it.").default("false"),
        key("notify", STRINGS, "Program started when a turn went as it should, with a description as its [last argument](hooks.md#notify)."),
        tui("history", Kind::Table(&HISTORY)),
        key("sqlite_home", Path, "Directory of the database files.").default("`$CODEX_SQLITE_HOME`, else the home directory"),
        key("store", Kind::Table(&STORE), "Where threads are kept, if not in the home; see [scale](scale.md). A project cannot set it; changes count from the next start.").omitted(),
        key("log_dir", Path, "Directory of the log file `quipu.log`.").default("none: logs go to standard error only"),
        key("otel", Kind::Table(&OTEL), "Telemetry for a collector of your own. A project cannot set it; changes count from the next start."),
        ANALYTICS_TABLE,
        key("feedback", Kind::Table(&FEEDBACK), "Feedback to the makers."),
        // Voice.
        key("audio", Kind::Table(&AUDIO), "Devices for voice.").no_effect(),
        key("realtime", Kind::Table(&REALTIME), "Voice conversations."),
        key("experimental_realtime_start_instructions", Str, "What the agent's model is told while the user speaks; built in if unset."),
        key("experimental_realtime_ws_backend_prompt", Str, "Instructions of the voice model, in place of those that the client gives."),
        key("experimental_realtime_ws_base_url", Str, "Address of the voice API; the provider's own if unset."),
        key("experimental_realtime_ws_model", Str, "Voice model."),
        key("experimental_realtime_ws_startup_context", Str, "What the voice model is told about the thread; by default what was said last. Empty for nothing."),
        // Other programs that share the file.
        tui("tui", Kind::Table(&TUI)),
        tui("notice", Kind::Table(&NOTICE)),
        tui("file_opener", Word(&["vscode", "vscode-insiders", "windsurf", "cursor", "none"])),
        tui("check_for_update_on_startup", Bool),
        tui("disable_paste_burst", Bool),
        WINDOWS_TABLE,
        tui("windows_wsl_setup_acknowledged", Bool),
    ],
);
