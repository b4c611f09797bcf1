//! What may stand in `requirements.toml`, the limits an administrator sets.

use super::safety::{APPROVAL_POLICIES, DOMAINS, UNIX_SOCKETS};
use super::words::{STRINGS, WEB_SEARCH_MODES};
use super::{Kind, Section, U16, key};
use crate::Table;
use Kind::{Bool, List, Str, Word};

static FEATURES: Section = Section::new("FeatureRequirementsToml", &[]).with_rest(&Bool);

static COMMAND: Section = Section::new(
    "Command",
    &[key("command", Str, "The server must be this program.").required()],
);
static URL: Section = Section::new(
    "Url",
    &[key("url", Str, "The server must be at this address.").required()],
);

static MCP_SERVER: Section = Section::new(
    "McpServerRequirement",
    &[key(
        "identity",
        Kind::AnyOf(
            "McpServerIdentity",
            &[Kind::Table(&COMMAND), Kind::Table(&URL)],
        ),
        "What the server must be to be used.",
    )
    .required()],
);

static APP: Section = Section::new(
    "AppRequirementToml",
    &[key("enabled", Bool, "`false` switches the app off.")],
);
static APPS: Section = Section::new("AppsRequirementsToml", &[]).with_rest(&Kind::Table(&APP));

static PATTERN_TOKEN: Section = Section::new(
    "RequirementsExecPolicyPatternTokenToml",
    &[
        key("token", Str, "Exactly this word."),
        key("any_of", STRINGS, "Any of these words."),
    ],
);

static PREFIX_RULE: Section = Section::new(
    "RequirementsExecPolicyPrefixRuleToml",
    &[
        key(
            "pattern",
            List(&Kind::Table(&PATTERN_TOKEN)),
            "The first words of a command.",
        )
        .required(),
        key(
            "decision",
            Word(&["allow", "prompt", "forbidden"]),
            "`prompt` or `forbidden`.",
        ),
        key("justification", Str, "Why; shown to the user."),
    ],
);

static RULES: Section = Section::new(
    "RequirementsExecPolicyToml",
    &[key(
        "prefix_rules",
        List(&Kind::Table(&PREFIX_RULE)),
        "Rules by the first words of a command.",
    )
    .required()],
);

static NETWORK: Section = Section::new(
    "NetworkRequirementsToml",
    &[
        key("enabled", Bool, "Filter the network of commands."),
        key("http_port", U16, "Port of the HTTP proxy.").no_effect(),
        key("socks_port", U16, "Port of the SOCKS5 proxy.").no_effect(),
        key(
            "allow_upstream_proxy",
            Bool,
            "Go through the proxy of the environment.",
        ),
        key(
            "dangerously_allow_non_loopback_proxy",
            Bool,
            "The proxy may listen on other than loopback addresses.",
        )
        .no_effect(),
        key(
            "dangerously_allow_all_unix_sockets",
            Bool,
            "Any unix socket may be used.",
        )
        .no_effect(),
        key(
            "domains",
            Kind::Table(&DOMAINS),
            "`allow` or `deny` by domain pattern.",
        ),
        key("allowed_domains", STRINGS, "Older form of `domains`."),
        key("denied_domains", STRINGS, "Older form of `domains`."),
        key(
            "managed_allowed_domains_only",
            Bool,
            "Users cannot allow more domains.",
        ),
        key(
            "unix_sockets",
            Kind::Table(&UNIX_SOCKETS),
            "`allow` or `none` by socket path.",
        )
        .no_effect(),
        key(
            "allow_unix_sockets",
            STRINGS,
            "Older form of `unix_sockets`.",
        )
        .no_effect(),
        key(
            "allow_local_binding",
            Bool,
            "Commands may reach addresses of this machine and of private networks.",
        ),
    ],
)
.with_rule(network_rule);

fn network_rule(network: &Table) -> Option<String> {
    let has = |name: &str| network.contains_key(name);
    if has("domains") && (has("allowed_domains") || has("denied_domains")) {
        let text = "`experimental_network.domains` cannot be combined with legacy `allowed_domains` or `denied_domains`";
        return Some(text.to_owned());
    }
    let both = has("unix_sockets") && has("allow_unix_sockets");
    both.then(|| {
        "`experimental_network.unix_sockets` cannot be combined with legacy `allow_unix_sockets`"
            .to_owned()
    })
}

/// The top level of the file.
pub static REQUIREMENTS: Section = Section::new(
    "ConfigRequirementsToml",
    &[
        key(
            "allowed_approval_policies",
            List(&APPROVAL_POLICIES),
            "Values `approval_policy` may have; the first stands in for others.",
        ),
        key(
            "allowed_sandbox_modes",
            List(&Word(&[
                "read-only",
                "workspace-write",
                "danger-full-access",
                "external-sandbox",
            ])),
            "Values `sandbox_mode` may have; must contain `read-only`.",
        ),
        key(
            "allowed_web_search_modes",
            List(&WEB_SEARCH_MODES),
            "Values `web_search` may have; `disabled` always may.",
        ),
        key(
            "features",
            Kind::Table(&FEATURES),
            "Features fixed on or off.",
        )
        .alias("feature_requirements"),
        key(
            "mcp_servers",
            super::map(&Kind::Table(&MCP_SERVER)),
            "The only MCP servers that may be used, by name.",
        ),
        key("apps", Kind::Table(&APPS), "Apps switched off, by id."),
        key(
            "rules",
            Kind::Table(&RULES),
            "Rules for commands, on top of the users' own.",
        ),
        key(
            "enforce_residency",
            Word(&["us"]),
            "Where data must stay: sent to OpenAI with every request.",
        ),
        key(
            "guardian_developer_instructions",
            Str,
            "More instructions for the reviewer model.",
        ),
        key(
            "experimental_network",
            Kind::Table(&NETWORK),
            "The network of commands.",
        ),
    ],
);
