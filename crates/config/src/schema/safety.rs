//! Tables about what commands may do.

use super::words::{STRING_MAP, STRINGS, carrying, plain};
use super::{Kind, Section, key, map};
use Kind::{Bool, List, Path, Str, Word};

pub const APPROVAL_POLICIES: Kind = Kind::Variant(&[
    plain("untrusted"),
    plain("on-failure"),
    plain("on-request"),
    carrying("granular", &GRANULAR, "newtype variant"),
    plain("never"),
]);

pub static GRANULAR: Section = Section::new(
    "GranularApprovalConfig",
    &[
        key(
            "sandbox_approval",
            Bool,
            "Ask before a command runs outside the sandbox.",
        )
        .required(),
        key("rules", Bool, "Ask where a rules file says so.").required(),
        key("skill_approval", Bool, "Ask before a skill's script runs.").shown("false"),
        key(
            "request_permissions",
            Bool,
            "Pass on the model's requests for permissions.",
        )
        .shown("false"),
        key(
            "mcp_elicitations",
            Bool,
            "Pass on questions of MCP servers.",
        )
        .required(),
    ],
);

pub static SANDBOX_WORKSPACE_WRITE: Section = Section::new(
    "SandboxWorkspaceWrite",
    &[
        key(
            "writable_roots",
            List(&Path),
            "Directories commands may write to besides the working directory.",
        )
        .shown("[]"),
        key("network_access", Bool, "Commands may use the network.").shown("false"),
        key(
            "exclude_tmpdir_env_var",
            Bool,
            "Keep the directory in `$TMPDIR` read-only.",
        )
        .shown("false"),
        key("exclude_slash_tmp", Bool, "Keep `/tmp` read-only.").shown("false"),
    ],
);

pub static SHELL_ENVIRONMENT_POLICY: Section = Section::new(
    "ShellEnvironmentPolicyToml",
    &[
        key(
            "inherit",
            Word(&["core", "all", "none"]),
            "Which variables commands start from: all, only those every program needs, or none.",
        )
        .default("`all`"),
        key(
            "ignore_default_excludes",
            Bool,
            "Keep (or drop) variables whose names contain KEY, SECRET or TOKEN for all commands.",
        )
        .default(
            "kept, but for sandboxed commands without network, which also get none with PASSWORD",
        ),
        key("exclude", STRINGS, "Patterns (`*`, `?`) of names to drop."),
        key("set", STRING_MAP, "Variables to set."),
        key(
            "include_only",
            STRINGS,
            "If given, only names that match one of these patterns are kept.",
        ),
        key(
            "experimental_use_profile",
            Bool,
            "Run commands in a shell that loads the user's profile.",
        )
        .default("false"),
    ],
);

static PERMISSION_NETWORK: Section = Section::new(
    "NetworkToml",
    &[
        key(
            "enabled",
            Bool,
            "Commands may use the network, through a filtering proxy.",
        ),
        key("proxy_url", Str, "Address of the HTTP proxy.").no_effect(),
        key("enable_socks5", Bool, "Offer SOCKS5 too.").no_effect(),
        key("socks_url", Str, "Address of the SOCKS5 proxy.").no_effect(),
        key("enable_socks5_udp", Bool, "UDP over SOCKS5.").no_effect(),
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
            "mode",
            Word(&["limited", "full"]),
            "`limited` lets only requests that read pass: GET, HEAD and OPTIONS over plain HTTP. HTTPS is refused, since it cannot be inspected.",
        ),
        key(
            "domains",
            Kind::Table(&DOMAINS),
            "`allow` or `deny` by domain pattern.",
        ),
        key(
            "unix_sockets",
            Kind::Table(&UNIX_SOCKETS),
            "`allow` or `none` by socket path.",
        )
        .no_effect(),
        key(
            "allow_local_binding",
            Bool,
            "Commands may reach addresses of this machine and of private networks.",
        ),
    ],
);

pub static DOMAINS: Section =
    Section::new("NetworkDomainPermissionsToml", &[]).with_rest(&Word(&["allow", "deny"]));
pub static UNIX_SOCKETS: Section =
    Section::new("NetworkUnixSocketPermissionsToml", &[]).with_rest(&Word(&["allow", "none"]));

const FILE_ACCESS: Kind = Word(&["read", "write", "none"]);
static PERMISSION_FILES: Section =
    Section::new("FilesystemPermissionsToml", &[]).with_rest(&Kind::AnyOf(
        "FilesystemPermissionToml",
        &[FILE_ACCESS, map(&FILE_ACCESS)],
    ));

static PERMISSION_PROFILE: Section = Section::new(
    "PermissionProfileToml",
    &[
        key(
            "filesystem",
            Kind::Table(&PERMISSION_FILES),
            "`read`, `write` or `none` by path; see [the sandbox](sandbox.md#permission-profiles).",
        ),
        key(
            "network",
            Kind::Table(&PERMISSION_NETWORK),
            "What commands may reach.",
        ),
    ],
);

pub static PERMISSIONS: Section =
    Section::new("PermissionsToml", &[]).with_rest(&Kind::Table(&PERMISSION_PROFILE));

pub static PROJECT: Section = Section::new(
    "ProjectConfig",
    &[key(
        "trust_level",
        Word(&["trusted", "untrusted"]),
        "Whether the project's own settings count. Once that is decided, `sandbox_mode` is `workspace-write` there unless set.",
    )
    .default("not decided")],
);
