//! The switches of the program: the registry of features, their old names, and which are on.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Table;

/// How finished a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Ready.
    Stable,
    /// Not ready; a user who switches it on is warned.
    UnderDevelopment,
    /// Works, but is no longer the way to do it.
    Deprecated,
    /// The switch is gone; what it switched is always as its default says.
    Removed,
    /// Accepted and without effect here, always off. Clients see it as removed.
    NoEffect,
}

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $stage:expr, $default:literal;)+) => {
        /// A switch in `[features]`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Feature {
            /// Every feature, in the order in which they are listed.
            pub const ALL: &[Feature] = &[$(Feature::$variant,)+];

            /// The key in `[features]`.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$variant => $name,)+ }
            }

            /// How finished it is.
            pub fn stage(self) -> Stage {
                match self { $(Feature::$variant => $stage,)+ }
            }

            /// Where the switch stands when nobody moves it.
            fn initial(self) -> bool {
                match self { $(Feature::$variant => $default,)+ }
            }

            /// What it does, in a line.
            pub fn summary(self) -> &'static str {
                match self { $(Feature::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

features! {
    /// Snapshots of the work tree for undo.
    Undo = "undo", Stage::NoEffect, false;
    /// The shell tools.
    ShellTool = "shell_tool", Stage::Stable, true;
    /// Commands in sessions that can be written to and polled.
    UnifiedExec = "unified_exec", Stage::Stable, true;
    /// Commands through a patched zsh.
    ShellZshFork = "shell_zsh_fork", Stage::NoEffect, false;
    /// What the profile of the login shell defines is read once per thread, not by every command. For bash; other shells read their profile every time.
    ShellSnapshot = "shell_snapshot", Stage::Stable, true;
    /// A JavaScript session as a tool.
    JsRepl = "js_repl", Stage::NoEffect, false;
    /// Tools called from code that the model writes.
    CodeMode = "code_mode", Stage::NoEffect, false;
    /// Only code mode, no direct tool calls.
    CodeModeOnly = "code_mode_only", Stage::NoEffect, false;
    /// Tools only from the JavaScript session.
    JsReplToolsOnly = "js_repl_tools_only", Stage::NoEffect, false;
    /// Web search with live results; set `web_search` instead.
    WebSearchRequest = "web_search_request", Stage::Deprecated, false;
    /// Web search with cached results; set `web_search` instead.
    WebSearchCached = "web_search_cached", Stage::Deprecated, false;
    /// No effect.
    SearchTool = "search_tool", Stage::Removed, false;
    /// Commits made by the agent name it as co-author.
    CodexGitCommit = "codex_git_commit", Stage::UnderDevelopment, false;
    /// Timing figures after each turn.
    RuntimeMetrics = "runtime_metrics", Stage::NoEffect, false;
    /// No effect.
    Sqlite = "sqlite", Stage::Removed, true;
    /// Notes that outlive a thread.
    Memories = "memories", Stage::NoEffect, false;
    /// Tells the model about `AGENTS.md` files in subdirectories.
    ChildAgentsMd = "child_agents_md", Stage::UnderDevelopment, false;
    /// Images reach the model in full resolution.
    ImageDetailOriginal = "image_detail_original", Stage::NoEffect, false;
    /// Patches as free text rather than JSON.
    ApplyPatchFreeform = "apply_patch_freeform", Stage::UnderDevelopment, false;
    /// Commands may ask for more permissions.
    ExecPermissionApprovals = "exec_permission_approvals", Stage::UnderDevelopment, false;
    /// Programs of the user run at points of a turn ([`hooks.json`](hooks.md)).
    CodexHooks = "codex_hooks", Stage::UnderDevelopment, false;
    /// The model may ask for permissions by a tool.
    RequestPermissionsTool = "request_permissions_tool", Stage::UnderDevelopment, false;
    /// No effect.
    UseLinuxSandboxBwrap = "use_linux_sandbox_bwrap", Stage::Removed, false;
    /// Commands are sandboxed by Landlock alone, on Linux, also where namespaces could be used.
    UseLegacyLandlock = "use_legacy_landlock", Stage::Stable, false;
    /// No effect.
    RequestRule = "request_rule", Stage::Removed, false;
    /// No effect.
    ExperimentalWindowsSandbox = "experimental_windows_sandbox", Stage::Removed, false;
    /// No effect.
    ElevatedWindowsSandbox = "elevated_windows_sandbox", Stage::Removed, false;
    /// No effect.
    RemoteModels = "remote_models", Stage::Removed, false;
    /// Requests to the model are compressed for ChatGPT logins.
    EnableRequestCompression = "enable_request_compression", Stage::Stable, true;
    /// The model may start other agents.
    MultiAgent = "multi_agent", Stage::Stable, true;
    /// The next form of agents that start agents.
    MultiAgentV2 = "multi_agent_v2", Stage::NoEffect, false;
    /// One agent per line of a table.
    EnableFanout = "enable_fanout", Stage::NoEffect, false;
    /// Connected apps.
    Apps = "apps", Stage::Stable, true;
    /// The model looks up MCP tools instead of seeing all of them.
    ToolSearch = "tool_search", Stage::NoEffect, false;
    /// The model may suggest apps and plugins to install.
    ToolSuggest = "tool_suggest", Stage::NoEffect, true;
    /// Skills, MCP servers and apps of installed plugins.
    Plugins = "plugins", Stage::Stable, true;
    /// Images made by the model.
    ImageGeneration = "image_generation", Stage::UnderDevelopment, false;
    /// MCP servers that a named skill needs are installed, if the user agrees.
    SkillMcpDependencyInstall = "skill_mcp_dependency_install", Stage::Stable, true;
    /// Asks for environment variables that a skill needs.
    SkillEnvVarDependencyPrompt = "skill_env_var_dependency_prompt", Stage::NoEffect, false;
    /// No effect.
    Steer = "steer", Stage::Removed, true;
    /// The model may ask questions outside plan mode.
    DefaultModeRequestUserInput = "default_mode_request_user_input", Stage::UnderDevelopment, false;
    /// A reviewer model answers approvals; set `approvals_reviewer` instead.
    GuardianApproval = "guardian_approval", Stage::NoEffect, false;
    /// No effect.
    CollaborationModes = "collaboration_modes", Stage::Removed, true;
    /// Approval of MCP tool calls through elicitation.
    ToolCallMcpElicitation = "tool_call_mcp_elicitation", Stage::Stable, true;
    /// The `personality` setting.
    Personality = "personality", Stage::Stable, true;
    /// Documents and slides as tools.
    Artifact = "artifact", Stage::NoEffect, false;
    /// The `fast` service tier.
    FastMode = "fast_mode", Stage::Stable, true;
    /// Voice conversations.
    RealtimeConversation = "realtime_conversation", Stage::UnderDevelopment, false;
    /// No effect.
    TuiAppServer = "tui_app_server", Stage::Removed, true;
    /// No sleep during a turn.
    PreventIdleSleep = "prevent_idle_sleep", Stage::NoEffect, false;
    /// No effect.
    ResponsesWebsockets = "responses_websockets", Stage::Removed, false;
    /// No effect.
    ResponsesWebsocketsV2 = "responses_websockets_v2", Stage::Removed, false;
    /// Clients may change the model, effort and tier of a running turn (`turn/settings/update`).
    StepModelSwitching = "step_model_switching", Stage::UnderDevelopment, false;
}

/// Old names and what they mean now.
pub const ALIASES: &[(&str, Feature)] = &[
    ("collab", Feature::MultiAgent),
    ("connectors", Feature::Apps),
    (
        "enable_experimental_windows_sandbox",
        Feature::ExperimentalWindowsSandbox,
    ),
    (
        "experimental_use_freeform_apply_patch",
        Feature::ApplyPatchFreeform,
    ),
    ("experimental_use_unified_exec_tool", Feature::UnifiedExec),
    ("include_apply_patch_tool", Feature::ApplyPatchFreeform),
    ("memory_tool", Feature::Memories),
    ("request_permissions", Feature::ExecPermissionApprovals),
    ("web_search", Feature::WebSearchRequest),
];

/// Old settings outside `[features]` that switch a feature, at the top level and in profiles.
const SETTINGS: &[&str] = &[
    "experimental_use_freeform_apply_patch",
    "experimental_use_unified_exec_tool",
    "include_apply_patch_tool",
];

impl Feature {
    /// The feature of this name, old names included.
    pub fn named(name: &str) -> Option<Feature> {
        Self::canonical(name).or_else(|| {
            ALIASES
                .iter()
                .find(|(alias, _)| *alias == name)
                .map(|(_, feature)| *feature)
        })
    }

    /// The feature of this current name.
    pub fn canonical(name: &str) -> Option<Feature> {
        Self::ALL
            .iter()
            .copied()
            .find(|feature| feature.name() == name)
    }

    /// Whether it is on when nobody says otherwise.
    pub fn default_enabled(self) -> bool {
        self.initial() && self.stage() != Stage::NoEffect
    }

    /// The features a client may switch while the server runs.
    pub const RUNTIME: &[Feature] = &[
        Feature::Apps,
        Feature::Plugins,
        Feature::ToolSearch,
        Feature::ToolSuggest,
        Feature::ToolCallMcpElicitation,
    ];
}

/// Which features are on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    switches: Vec<bool>,
}

/// Features switched by clients while the server runs; they last as long as the process.
pub type Enablement = BTreeMap<String, bool>;

/// Why a switch of features is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnablementError {
    /// No feature has this name.
    #[error("invalid feature enablement `{0}`")]
    Unknown(String),
    /// The name is an old one.
    #[error("invalid feature enablement `{alias}`: use canonical feature key `{name}`")]
    Alias {
        /// What was given.
        alias: String,
        /// What it is called now.
        name: &'static str,
    },
    /// The feature cannot be switched while the server runs.
    #[error(
        "unsupported feature enablement `{0}`: currently supported features are apps, plugins, \
         tool_search, tool_suggest, tool_call_mcp_elicitation"
    )]
    Unsupported(String),
}

/// Checks names given to `experimentalFeature/enablement/set`.
pub fn check_enablement(enablement: &Enablement) -> Result<(), EnablementError> {
    for name in enablement.keys() {
        match (Feature::canonical(name), Feature::named(name)) {
            (Some(feature), _) if Feature::RUNTIME.contains(&feature) => {}
            (Some(_), _) => return Err(EnablementError::Unsupported(name.clone())),
            (None, Some(feature)) => {
                let alias = name.clone();
                return Err(EnablementError::Alias {
                    alias,
                    name: feature.name(),
                });
            }
            (None, None) => return Err(EnablementError::Unknown(name.clone())),
        }
    }
    Ok(())
}

impl Features {
    /// Works out which features are on. Later ones win: built-in defaults, what clients switched, the
    /// settings, the profile; then what the administrator pinned.
    pub fn resolve(
        settings: &Table,
        profile: Option<&Table>,
        enablement: &Enablement,
        pinned: &BTreeMap<String, bool>,
    ) -> Self {
        let switches = Feature::ALL.iter().map(|feature| feature.initial());
        let mut features = Self {
            switches: switches.collect(),
        };
        for (name, enabled) in enablement {
            features.set_named(name, *enabled);
        }
        for table in [Some(settings), profile].into_iter().flatten() {
            features.apply(table);
        }
        for (name, enabled) in pinned {
            features.set_named(name, *enabled);
        }
        features
    }

    /// Whether a feature is on. One that is gone or has no effect is as it is, wherever its switch stands.
    pub fn enabled(&self, feature: Feature) -> bool {
        match feature.stage() {
            Stage::Removed | Stage::NoEffect => feature.default_enabled(),
            Stage::Stable | Stage::UnderDevelopment | Stage::Deprecated => {
                self.switched_on(feature)
            }
        }
    }

    /// Where the switch of a feature stands.
    pub(crate) fn switched_on(&self, feature: Feature) -> bool {
        let switch = self.switches.get(feature as usize);
        switch.copied().unwrap_or_default()
    }

    /// Features that are on although they are not ready.
    pub fn unstable(&self) -> impl Iterator<Item = Feature> + '_ {
        Feature::ALL
            .iter()
            .copied()
            .filter(|feature| feature.stage() == Stage::UnderDevelopment && self.enabled(*feature))
    }

    fn apply(&mut self, table: &Table) {
        for name in SETTINGS {
            if let Some(enabled) = table.get(*name).and_then(Value::as_bool) {
                self.set_named(name, enabled);
            }
        }
        let Some(Value::Object(switches)) = table.get("features") else {
            return;
        };
        let sorted: BTreeMap<_, _> = switches.iter().collect();
        for (name, enabled) in sorted {
            self.set_named(name, enabled.as_bool().unwrap_or_default());
        }
    }

    fn set_named(&mut self, name: &str, enabled: bool) {
        if let Some(feature) = Feature::named(name) {
            self.set(feature, enabled);
        }
    }

    fn set(&mut self, feature: Feature, enabled: bool) {
        if let Some(switch) = self.switches.get_mut(feature as usize) {
            *switch = enabled;
        }
    }
}

/// A setting that still works, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deprecation {
    /// What is deprecated.
    pub summary: String,
    /// What to do.
    pub details: String,
}

/// The deprecated settings in use.
pub(crate) fn deprecations(settings: &Table, profile: Option<&Table>) -> Vec<Deprecation> {
    let mut used: BTreeMap<&str, Feature> = BTreeMap::new();
    for table in [Some(settings), profile].into_iter().flatten() {
        for name in SETTINGS {
            if let (true, Some(feature)) = (table.contains_key(*name), Feature::named(name)) {
                used.insert(name, feature);
            }
        }
        let Some(Value::Object(switches)) = table.get("features") else {
            continue;
        };
        for name in switches.keys() {
            let Some(feature) = Feature::named(name) else {
                continue;
            };
            if name != feature.name() || feature.stage() == Stage::Deprecated {
                used.insert(name, feature);
            }
        }
    }
    let mut found: Vec<_> = used
        .into_iter()
        .map(|(name, feature)| deprecated_feature(name, feature))
        .collect();
    let mut tables = std::iter::once(settings).chain(profiles(settings));
    if tables.any(|table| table.contains_key("experimental_instructions_file")) {
        found.push(Deprecation {
            summary: "`experimental_instructions_file` is deprecated and ignored. \
                      Use `model_instructions_file` instead."
                .to_owned(),
            details:
                "Move the setting to `model_instructions_file` in config.toml (or under a profile) \
                      to load instructions from a file."
                    .to_owned(),
        });
    }
    found
}

fn profiles(settings: &Table) -> impl Iterator<Item = &Table> {
    let profiles = settings.get("profiles").and_then(Value::as_object);
    profiles
        .into_iter()
        .flat_map(|profiles| profiles.values().filter_map(Value::as_object))
}

fn deprecated_feature(name: &str, feature: Feature) -> Deprecation {
    if feature.stage() == Stage::Deprecated {
        return Deprecation {
            summary: format!(
                "`[features].{name}` is deprecated because web search is enabled by default."
            ),
            details:
                "Set `web_search` to `\"live\"`, `\"cached\"`, or `\"disabled\"` at the top level \
                      (or under a profile) in config.toml if you want to override it."
                    .to_owned(),
        };
    }
    let current = feature.name();
    Deprecation {
        summary: format!("`[features].{name}` is deprecated. Use `[features].{current}` instead."),
        details: format!(
            "Enable it with `--enable {current}` or `[features].{current}` in config.toml. \
             See https://developers.openai.com/codex/config-basic#feature-flags for details."
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(settings: Value) -> Vec<(&'static str, bool)> {
        let Value::Object(settings) = settings else {
            panic!("not a table")
        };
        let profile = settings
            .get("profiles")
            .and_then(|p| p.get("p"))
            .and_then(Value::as_object);
        let features = Features::resolve(&settings, profile, &Enablement::new(), &BTreeMap::new());
        let differs = |feature: &&Feature| features.enabled(**feature) != feature.default_enabled();
        let all = Feature::ALL.iter().filter(differs);
        all.map(|feature| (feature.name(), features.enabled(*feature)))
            .collect()
    }

    #[test]
    fn settings_switch_features() {
        for (settings, expected) in [
            (
                json!({"features": {"collab": false}}),
                vec![("multi_agent", false)],
            ),
            (
                json!({"features": {"exec_permission_approvals": false, "request_permissions": true}}),
                vec![("exec_permission_approvals", true)],
            ),
            // What is gone or has no effect stays as it is.
            (
                json!({"features": {"steer": false, "js_repl": true, "apps": true}}),
                vec![],
            ),
            (
                json!({"experimental_use_unified_exec_tool": false}),
                vec![("unified_exec", false)],
            ),
            (
                json!({"experimental_use_unified_exec_tool": false, "features": {"unified_exec": true}}),
                vec![],
            ),
            (
                json!({
                    "features": {"personality": true},
                    "profiles": {"p": {"include_apply_patch_tool": true, "features": {"personality": false}}},
                }),
                vec![("apply_patch_freeform", true), ("personality", false)],
            ),
        ] {
            let mut got = changed(settings.clone());
            got.sort_unstable();
            assert_eq!(got, expected, "{settings}");
        }
    }

    #[test]
    fn only_some_features_change_at_run_time() {
        let check = |name: &str| {
            check_enablement(&Enablement::from([(name.to_owned(), true)]))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(check("zz"), "invalid feature enablement `zz`");
        assert_eq!(
            check("connectors"),
            "invalid feature enablement `connectors`: use canonical feature key `apps`"
        );
        assert_eq!(
            check("personality"),
            "unsupported feature enablement `personality`: currently supported features are apps, \
             plugins, tool_search, tool_suggest, tool_call_mcp_elicitation"
        );
        let all = Feature::RUNTIME
            .iter()
            .map(|feature| (feature.name().to_owned(), true))
            .collect();
        assert_eq!(check_enablement(&all), Ok(()));
    }

    #[test]
    fn names_are_unique_and_listed_in_order() {
        assert_eq!(Feature::ALL.len(), 53);
        for (index, feature) in Feature::ALL.iter().enumerate() {
            assert_eq!(*feature as usize, index);
            assert_eq!(Feature::named(feature.name()), Some(*feature));
        }
    }
}
