//! Every setting and every feature that claims to work is read by something.
//!
//! The compiler cannot say so: settings are public fields, and a public field that no other crate reads is no
//! warning. So this test walks the table of settings and demands, for each key that is not marked as one without
//! effect, the place that reads it: two pieces of code that stand together in one source file outside this crate,
//! the accessor and the field. Code of this crate counts only for the few settings that decide how settings are
//! read. Comments, tests and white space do not count.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use quipu_config::schema::{Effect, Kind, ROOT, Section};
use quipu_config::{Feature, Stage};

/// How keys of one table are read.
struct Reader {
    /// The table, empty for the top level; names that users choose are `NAME`.
    table: &'static str,
    /// What stands in the same file as the field.
    accessor: &'static str,
    /// The keys; `key=field` where the field is not called like the key.
    keys: &'static [&'static str],
}

const fn read(
    table: &'static str,
    accessor: &'static str,
    keys: &'static [&'static str],
) -> Reader {
    Reader {
        table,
        accessor,
        keys,
    }
}

/// Settings that other crates read.
const READERS: &[Reader] = &[
    read("realtime", ".realtime()", &["version", "type=transcribes"]),
    read(
        "",
        ".realtime()",
        &[
            "experimental_realtime_start_instructions=start_instructions",
            "experimental_realtime_ws_backend_prompt=backend_prompt",
            "experimental_realtime_ws_base_url=base_url",
            "experimental_realtime_ws_model=model",
            "experimental_realtime_ws_startup_context=startup_context",
        ],
    ),
    read(
        "",
        ".model()",
        &[
            "model",
            "review_model",
            "model_provider=provider",
            "oss_provider",
            "model_context_window=context_window",
            "model_auto_compact_token_limit=auto_compact_token_limit",
            "model_reasoning_effort=reasoning_effort",
            "plan_mode_reasoning_effort",
            "model_reasoning_summary=reasoning_summary",
            "model_supports_reasoning_summaries=supports_reasoning_summaries",
            "model_verbosity=verbosity",
            "service_tier",
            "personality",
            "tool_output_token_limit",
        ],
    ),
    read(
        "",
        "snapshot",
        &["openai_base_url", "model_catalog_json=catalog"],
    ),
    read(
        "",
        ".instructions()",
        &[
            "developer_instructions=developer",
            "model_instructions_file=base",
            "compact_prompt",
            "experimental_compact_prompt_file=compact_prompt",
            "commit_attribution",
        ],
    ),
    read(
        "",
        ".project_docs()",
        &[
            "project_doc_max_bytes=max_bytes",
            "project_doc_fallback_filenames=fallback_filenames",
            "project_root_markers=root_markers",
        ],
    ),
    read(
        "",
        ".permissions()",
        &[
            "approval_policy",
            "approvals_reviewer",
            "legacy_approvals",
            "sandbox_mode=sandbox_policy",
            "default_permissions=sandbox_policy",
            "allow_login_shell",
        ],
    ),
    read("", ".hidden_paths(", &["sandbox_hidden_paths=credentials"]),
    read(
        "approval_policy.granular",
        "granular",
        &[
            "sandbox_approval",
            "rules",
            "skill_approval",
            "request_permissions",
            "mcp_elicitations",
        ],
    ),
    read(
        "sandbox_workspace_write",
        "SandboxPolicy::WorkspaceWrite",
        &[
            "writable_roots",
            "network_access",
            "exclude_tmpdir_env_var",
            "exclude_slash_tmp",
        ],
    ),
    read(
        "permissions.NAME.filesystem",
        ".permissions()",
        &["NAME=sandbox_policy"],
    ),
    read(
        "permissions.NAME.network",
        ".permissions().network",
        &[
            "enabled=asks",
            "mode=reads_only",
            "allow_upstream_proxy",
            "allow_local_binding=allow_local",
        ],
    ),
    read(
        "permissions.NAME.network.domains",
        ".permissions().network",
        &["NAME=domains"],
    ),
    read(
        "shell_environment_policy",
        ".shell_environment()",
        &[
            "inherit=apply",
            "ignore_default_excludes=withholds",
            "exclude=apply",
            "include_only=apply",
            "experimental_use_profile",
        ],
    ),
    read(
        "shell_environment_policy",
        ".shell_environment()",
        &["set=apply"],
    ),
    read(
        "",
        ".tools()",
        &[
            "web_search",
            "background_terminal_max_timeout",
            "mcp_listed_tools=mcp_listed",
        ],
    ),
    read(
        "tools",
        ".tools()",
        &["web_search=web_search_details", "view_image"],
    ),
    read(
        "tools.web_search",
        "WebSearchToolConfig",
        &["context_size", "allowed_domains"],
    ),
    read(
        "tools.web_search.location",
        "WebSearchToolConfig",
        &[
            "country=location",
            "region=location",
            "city=location",
            "timezone=location",
        ],
    ),
    read(
        "",
        ".session()",
        &[
            "question_timeout_ms=question_timeout",
            "output_schema=strict_output_schema",
        ],
    ),
    read(
        "",
        ".session()",
        &[
            "hide_agent_reasoning",
            "show_raw_agent_reasoning",
            "notify",
            "announced_version",
        ],
    ),
    read("", ".storage(", &["sqlite_home", "log_dir"]),
    read(
        "store",
        ".storage(",
        &["url=store", "lease_seconds", "node_address", "node_secret"],
    ),
    read(
        "store",
        ".left_turns",
        &[
            "on_takeover=go_on",
            "on_restart=go_on",
            "workspace_hook",
            "workspace_hook_timeout_seconds=workspace_hook_timeout",
        ],
    ),
    read(
        "budget.turn",
        "BudgetLimit",
        &["tokens", "dollars", "seconds"],
    ),
    read(
        "budget.thread",
        "BudgetLimit",
        &["tokens", "dollars", "seconds"],
    ),
    read(
        "budget.directory",
        "BudgetLimit",
        &["tokens", "dollars", "seconds"],
    ),
    read(
        "budget.day",
        "BudgetLimit",
        &["tokens", "dollars", "seconds"],
    ),
    read(
        "",
        ".mcp_oauth()",
        &[
            "mcp_oauth_credentials_store=store",
            "mcp_oauth_callback_port=callback_port",
            "mcp_oauth_callback_url=callback_url",
        ],
    ),
    read(
        "mcp_servers.NAME",
        "McpTransport::Stdio{",
        &["command", "args", "env", "env_vars", "cwd"],
    ),
    read(
        "mcp_servers.NAME",
        "McpTransport::Http{",
        &[
            "url",
            "bearer_token_env_var",
            "http_headers",
            "env_http_headers",
        ],
    ),
    read(
        "mcp_servers.NAME",
        ".mcp_servers()",
        &["oauth_resource", "scopes"],
    ),
    read(
        "mcp_servers.NAME",
        "letspec=ServerSpec{",
        &[
            "enabled",
            "required",
            "startup_timeout_sec=startup_timeout",
            "startup_timeout_ms=startup_timeout",
            "tool_timeout_sec=tool_timeout",
            "enabled_tools",
            "disabled_tools",
        ],
    ),
    read(
        "mcp_servers.NAME.tools.NAME",
        "&McpServer",
        &["approval_mode=tools"],
    ),
    read("agents", ".agents()", &["max_threads", "max_depth"]),
    read("agents.NAME", ".roles", &["description", "config_file"]),
    read("agents.NAME", "roles::session(", &["nickname_candidates"]),
    read(
        "plugins.NAME",
        "Manifest::read(",
        &["enabled=enabled_plugins"],
    ),
    read(
        "apps._default",
        "AppToolHints{",
        &[
            "enabled=is_tool_enabled",
            "destructive_enabled=destructive",
            "open_world_enabled=open_world",
        ],
    ),
    read(
        "apps.NAME",
        "AppToolHints{",
        &[
            "enabled=is_tool_enabled",
            "destructive_enabled=destructive",
            "open_world_enabled=open_world",
            "default_tools_enabled=is_tool_enabled",
        ],
    ),
    read(
        "apps.NAME",
        ".apps()",
        &["default_tools_approval_mode=approvals"],
    ),
    read(
        "apps.NAME.tools.NAME",
        "AppToolHints{",
        &["enabled=is_tool_enabled"],
    ),
    read(
        "apps.NAME.tools.NAME",
        ".apps()",
        &["approval_mode=approvals"],
    ),
    read("analytics", "settings", &["enabled=analytics"]),
    read("skills.bundled", ".skills()", &["enabled=bundled"]),
    read(
        "skills.config",
        "SkillSelector::",
        &["path=Path", "name=Name", "enabled"],
    ),
    read(
        "",
        "accounts::settings(",
        &[
            "forced_login_method",
            "forced_chatgpt_workspace_id",
            "cli_auth_credentials_store=credentials_store",
            "chatgpt_base_url",
        ],
    ),
    read(
        "otel",
        ".telemetry()",
        &[
            "log_user_prompt",
            "environment",
            "exporter=logs",
            "trace_exporter=traces",
            "metrics_exporter=metrics",
        ],
    ),
    read(
        "otel.exporter.otlp-http",
        "Exporter::OtlpHttp{",
        &["endpoint", "headers", "protocol"],
    ),
    read(
        "otel.exporter.otlp-http.tls",
        "Exporter::OtlpHttp{",
        &[
            "ca-certificate=ca_certificate",
            "client-certificate=client_certificate",
            "client-private-key=client_private_key",
        ],
    ),
    read(
        "feedback",
        ".telemetry()",
        &["enabled=feedback", "endpoint=feedback_endpoint"],
    ),
];

/// Settings that decide which settings hold, or that check them, and the file of this crate that does so.
const DECIDED_HERE: &[(&str, &str)] = &[
    ("features", "features.rs"),
    ("suppress_unstable_features_warning", "warning.rs"),
    ("experimental_use_freeform_apply_patch", "features.rs"),
    ("experimental_use_unified_exec_tool", "features.rs"),
    ("profile", "snapshot.rs"),
    ("projects.NAME.trust_level", "project.rs"),
    ("marketplaces.NAME.source_type", "settings/plugins.rs"),
    ("marketplaces.NAME.source", "settings/plugins.rs"),
    ("marketplaces.NAME.ref", "settings/plugins.rs"),
    ("marketplaces.NAME.sparse_paths", "settings/plugins.rs"),
    ("mcp_servers.NAME.bearer_token", "schema/tools.rs"),
    ("profiles.NAME.include_apply_patch_tool", "features.rs"),
    ("profiles.NAME.tools_view_image", "settings/tools.rs"),
];

/// Tables that another crate reads as a whole into a structure of the same field names.
const WHOLE: &[(&str, &str)] = &[
    ("model_providers.NAME", "model/src/provider.rs"),
    ("model_providers.NAME.auth", "model/src/provider.rs"),
    ("model_providers.NAME.prices.NAME", "model/src/usage.rs"),
];

#[test]
fn every_setting_that_works_has_a_reader() {
    let sources = Sources::read();
    let mut problems = Vec::new();
    let keys = keys();
    for key in &keys {
        let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
        let here = DECIDED_HERE.iter().find(|(path, _)| path == key);
        let whole = WHOLE.iter().find(|(path, _)| *path == table);
        let found = match (here, whole) {
            (Some((_, file)), _) => {
                sources.has(&format!("config/src/{file}"), &format!("\"{name}\""))
            }
            (None, Some((_, file))) => sources.has(file, &format!("pub{name}:")),
            (None, None) => sources.reads(table, name),
        };
        if !found {
            problems.push(key);
        }
    }
    assert!(
        problems.is_empty(),
        "nothing reads these settings: {problems:?}. Implement them, mark them `no_effect()`, or say in this \
         file where they are read."
    );
    let listed = READERS.iter().flat_map(|reader| {
        let names = reader.keys.iter().map(|key| key.split('=').next().unwrap());
        names.map(|name| match reader.table {
            "" => name.to_owned(),
            table => format!("{table}.{name}"),
        })
    });
    let stale: Vec<String> = listed.filter(|key| !keys.contains(key)).collect();
    assert!(stale.is_empty(), "no such settings: {stale:?}");
}

/// What is listed as a feature is looked at by something that runs.
#[test]
fn every_feature_that_is_not_removed_has_a_reader() {
    let sources = Sources::read();
    for feature in Feature::ALL {
        let reader = format!("Feature::{feature:?}");
        let outside = |(path, code): &&(String, String)| {
            path != "config/src/features.rs" && contains_word(code, &reader)
        };
        let is_read = sources.0.iter().any(|source| outside(&source));
        match feature.stage() {
            Stage::Stable | Stage::UnderDevelopment => {
                assert!(
                    is_read,
                    "nothing reads {reader}; its stage must be `NoEffect`"
                );
            }
            Stage::NoEffect => assert!(!is_read, "{reader} is read; it has an effect"),
            Stage::Deprecated | Stage::Removed => {}
        }
    }
}

/// The paths of all settings that claim to work.
fn keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    section("", &ROOT, &mut keys);
    keys
}

fn section(prefix: &str, section: &Section, keys: &mut BTreeSet<String>) {
    let is_profile = section.name == "ConfigProfile";
    for key in section.keys {
        // A profile repeats settings of the top level, which are then read in the same way.
        let repeated = is_profile && ROOT.key(key.name).is_some();
        if key.effect == Effect::Works && !repeated {
            value(&format!("{prefix}{}", key.name), &key.kind, keys);
        }
    }
    if let Some(rest) = section.rest {
        value(&format!("{prefix}NAME"), rest, keys);
    }
}

fn value(path: &str, kind: &Kind, keys: &mut BTreeSet<String>) {
    match kind {
        Kind::Table(table) => section(&format!("{path}."), table, keys),
        Kind::Map(inner @ Kind::Table(_), _) => value(&format!("{path}.NAME"), inner, keys),
        Kind::List(inner) if matches!(inner, Kind::Table(_)) => value(path, inner, keys),
        Kind::AnyOf(_, kinds) => kinds.iter().for_each(|kind| value(path, kind, keys)),
        Kind::Variant(variants) => {
            keys.insert(path.to_owned());
            for variant in variants.iter() {
                if let Some(table) = variant.section
                    && !["otel.trace_exporter", "otel.metrics_exporter"].contains(&path)
                {
                    section(&format!("{path}.{}.", variant.name), table, keys);
                }
            }
        }
        _ => {
            keys.insert(path.to_owned());
        }
    }
}

/// The source files of all crates by path, without comments, tests and white space.
struct Sources(Vec<(String, String)>);

impl Sources {
    fn read() -> Sources {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        for each in fs::read_dir(crates).unwrap() {
            let source = each.unwrap().path().join("src");
            if source.is_dir() {
                collect(crates, &source, &mut files);
            }
        }
        assert!(files.len() > 100, "the sources are not where they were");
        Sources(files)
    }

    fn has(&self, file: &str, code: &str) -> bool {
        self.0
            .iter()
            .any(|(path, text)| path == file && text.contains(code))
    }

    /// Whether a file outside this crate has the accessor and the field of a key.
    fn reads(&self, table: &str, name: &str) -> bool {
        let outside = || {
            self.0
                .iter()
                .filter(|(path, _)| !path.starts_with("config/"))
        };
        READERS.iter().filter(|it| it.table == table).any(|reader| {
            reader.keys.iter().any(|key| {
                let (key, field) = key.split_once('=').unwrap_or((key, key));
                key == name
                    && outside()
                        .any(|(_, code)| code.contains(reader.accessor) && mentions(code, field))
            })
        })
    }
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<(String, String)>) {
    for each in fs::read_dir(directory).unwrap() {
        let path = each.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code
                .lines()
                .map(|line| line.split("//").next().unwrap_or_default());
            let code: String = lines
                .flat_map(str::chars)
                .filter(|it| !it.is_whitespace())
                .collect();
            let name = path.strip_prefix(root).unwrap().to_string_lossy();
            files.push((name.replace('\\', "/"), code));
        }
    }
}

/// Whether a field is read or taken out of its structure.
fn mentions(code: &str, field: &str) -> bool {
    [".", "{", ",", "::"]
        .iter()
        .any(|before| contains_word(code, &format!("{before}{field}")))
}

fn contains_word(code: &str, word: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_');
    code.match_indices(word)
        .any(|(at, _)| ends(&code[at + word.len()..]))
}
