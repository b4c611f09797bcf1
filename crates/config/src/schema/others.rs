//! Tables about what is kept, sent and shown.

use super::words::{STRING_MAP, STRINGS, carrying, plain};
use super::{I64, Kind, Section, U32, U64, USIZE, key, tui, within};
use Kind::{Bool, Path, Str, Word};

pub static ANALYTICS: Section = Section::new(
    "AnalyticsConfigToml",
    &[key(
        "enabled",
        Bool,
        "Events about the use of plugins and apps are sent to the ChatGPT backend. The official program does that unless it is switched off.",
    )
    .default("false")],
);

static BUDGET_LIMIT: Section = Section::new(
    "BudgetLimitToml",
    &[
        key("tokens", U64, "Tokens, as providers count them.").omitted(),
        key(
            "dollars",
            Kind::Number,
            "US dollars. Answers of models without a known price count as free, with a warning.",
        )
        .omitted(),
        key("seconds", U64, "Time in which turns run.").omitted(),
    ],
);

/// Of Quipu's own; see `docs/costs.md`.
pub static BUDGET: Section = Section::new(
    "BudgetToml",
    &[
        key("turn", Kind::Table(&BUDGET_LIMIT), "Limits of one turn.").omitted(),
        key(
            "thread",
            Kind::Table(&BUDGET_LIMIT),
            "Limits of a thread, as long as it lives.",
        )
        .omitted(),
        key(
            "directory",
            Kind::Table(&BUDGET_LIMIT),
            "Limits of all threads in one working directory, per day (UTC).",
        )
        .omitted(),
        key(
            "day",
            Kind::Table(&BUDGET_LIMIT),
            "Limits of everything in the home, per day (UTC).",
        )
        .omitted(),
    ],
);

/// Of Quipu's own; see `docs/scale.md`.
pub static STORE: Section = Section::new(
    "StoreToml",
    &[
        key(
            "url",
            Str,
            "PostgreSQL database of the threads: `postgres://USER@HOST/DATABASE`. The password may be in `$PGPASSWORD`.",
        )
        .default("none: threads are files in the home directory")
        .omitted(),
        key(
            "lease_seconds",
            within("u64", 1, 3600),
            "How long after the last sign of life of a server others may take its threads over.",
        )
        .default("10")
        .omitted(),
        key(
            "node_address",
            Str,
            "Where the other servers on the database reach this one: `ws://HOST:PORT` or `wss://HOST:PORT`.",
        )
        .default("none: requests about its threads are not passed on to it")
        .omitted(),
        key(
            "node_secret",
            Str,
            "What servers on the database present to each other; the same on all of them.",
        )
        .omitted(),
        key(
            "on_takeover",
            Word(&["continue", "interrupt"]),
            "What becomes of a turn whose server died or left, on the server that takes its thread over.",
        )
        .default("continue")
        .omitted(),
        key(
            "on_restart",
            Word(&["continue", "interrupt"]),
            "The same where threads are files: when a client resumes the thread after a restart.",
        )
        .default("interrupt")
        .omitted(),
        key(
            "workspace_hook",
            STRINGS,
            "Program, with arguments, that runs before such a turn goes on, to make its working directory ready.",
        )
        .default("none")
        .omitted(),
        key(
            "workspace_hook_timeout_seconds",
            U64,
            "How long that program may take, from 1 to 3600.",
        )
        .default("300")
        .omitted(),
    ],
);

pub static FEEDBACK: Section = Section::new(
    "FeedbackConfigToml",
    &[
        key("enabled", Bool, "Accept `feedback/upload`.").default("true"),
        key(
            "endpoint",
            Str,
            "Address that reports are also sent to, as JSON in a POST request. A project cannot set it.",
        )
        .default("none: reports stay in `feedback` in the home directory")
        .omitted(),
    ],
);

static OTEL_TLS: Section = Section::new(
    "OtelTlsConfig",
    &[
        key(
            "ca-certificate",
            Path,
            "Certificate the collector's is checked against.",
        ),
        key(
            "client-certificate",
            Path,
            "Certificate shown to the collector.",
        ),
        key("client-private-key", Path, "Its key."),
    ],
);

static OTLP_HTTP: Section = Section::new(
    "OtlpHttp",
    &[
        key(
            "endpoint",
            Str,
            "Whole address that data is posted to, such as `http://localhost:4318/v1/logs`.",
        )
        .required(),
        key("headers", STRING_MAP, "Headers sent to it.").shown("{}"),
        key("protocol", Word(&["binary", "json"]), "Form of the data.").required(),
        key("tls", Kind::Table(&OTEL_TLS), "Certificates."),
    ],
);

/// Refused; its keys are known so that the refusal is all that is said about them.
static OTLP_GRPC: Section = Section::new(
    "OtlpGrpc",
    &[
        key("endpoint", Str, "Refused: use `otlp-http`.")
            .required()
            .no_effect(),
        key("headers", STRING_MAP, "Refused: use `otlp-http`.")
            .shown("{}")
            .no_effect(),
        key("tls", Kind::Table(&OTEL_TLS), "Refused: use `otlp-http`.").no_effect(),
    ],
);

const EXPORTERS: Kind = Kind::Variant(&[
    plain("none"),
    plain("statsig"),
    carrying("otlp-http", &OTLP_HTTP, "struct variant"),
    carrying("otlp-grpc", &OTLP_GRPC, "struct variant"),
]);

pub static OTEL: Section = Section::new(
    "OtelConfigToml",
    &[
        key(
            "log_user_prompt",
            Bool,
            "Put user prompts into the exported data; they are redacted otherwise.",
        )
        .default("false"),
        key(
            "environment",
            Str,
            "Value of the attribute `env` in the exported data.",
        )
        .default("`dev`"),
        key(
            "exporter",
            EXPORTERS,
            "Where log events go; `statsig` sends nothing, `otlp-grpc` is refused.",
        )
        .default("`none`"),
        key("trace_exporter", EXPORTERS, "Where traces go, likewise.").default("`none`"),
        key("metrics_exporter", EXPORTERS, "Where metrics go, likewise.").default("`none`"),
    ],
);

pub static MEMORIES: Section = Section::new(
    "MemoriesToml",
    &[
        key(
            "no_memories_if_mcp_or_web_search",
            Bool,
            "Learn nothing from threads that used MCP or the web.",
        ),
        key("generate_memories", Bool, "Write memories."),
        key("use_memories", Bool, "Give memories to the model."),
        key(
            "max_raw_memories_for_consolidation",
            USIZE,
            "How many notes are brought together at once.",
        ),
        key(
            "max_unused_days",
            I64,
            "Forget what was not used for so many days.",
        ),
        key(
            "max_rollout_age_days",
            I64,
            "Learn only from threads younger than this.",
        ),
        key(
            "max_rollouts_per_startup",
            USIZE,
            "How many threads are learnt from per start.",
        ),
        key(
            "min_rollout_idle_hours",
            I64,
            "Learn only from threads idle for so long.",
        ),
        key("extract_model", Str, "Model that takes notes."),
        key(
            "consolidation_model",
            Str,
            "Model that brings notes together.",
        ),
    ],
);

pub static HISTORY: Section = Section::new(
    "History",
    &[
        tui("persistence", Word(&["save-all", "none"])).required(),
        tui("max_bytes", USIZE),
    ],
);

pub static GHOST_SNAPSHOT: Section = Section::new(
    "GhostSnapshotToml",
    &[
        key(
            "ignore_large_untracked_files",
            I64,
            "Leave untracked files above this size out of snapshots.",
        ),
        key(
            "ignore_large_untracked_dirs",
            I64,
            "Leave untracked directories with more files than this out of snapshots.",
        )
        .alias("large_untracked_dir_warning_threshold"),
        key(
            "disable_warnings",
            Bool,
            "Do not warn about what is left out.",
        ),
    ],
);

pub static AUDIO: Section = Section::new(
    "RealtimeAudioToml",
    &[
        key("microphone", Str, "Device voice is taken from."),
        key("speaker", Str, "Device voice is played on."),
    ],
);

pub static REALTIME: Section = Section::new(
    "RealtimeToml",
    &[
        key(
            "version",
            Word(&["v1", "v2"]),
            "Version of the voice protocol.",
        ),
        key(
            "type",
            Word(&["conversational", "transcription"]),
            "Talk, or only write down.",
        ),
    ],
);

pub static NOTICE: Section = Section::new(
    "Notice",
    &[
        tui("hide_full_access_warning", Bool),
        tui("hide_world_writable_warning", Bool),
        tui("hide_rate_limit_model_nudge", Bool),
        tui("hide_gpt5_1_migration_prompt", Bool),
        tui("hide_gpt-5.1-codex-max_migration_prompt", Bool),
        tui("model_migrations", STRING_MAP).shown("{}"),
    ],
);

static MODEL_NUX: Section = Section::new("ModelAvailabilityNuxConfig", &[]).with_rest(&U32);

pub static TUI: Section = Section::new(
    "Tui",
    &[
        tui(
            "notifications",
            Kind::AnyOf("Notifications", &[Bool, STRINGS]),
        )
        .shown("true"),
        tui("notification_method", Word(&["auto", "osc9", "bel"])).shown("\"auto\""),
        tui("animations", Bool).shown("true"),
        tui("show_tooltips", Bool).shown("true"),
        tui("alternate_screen", Word(&["auto", "always", "never"])).shown("\"auto\""),
        tui("status_line", STRINGS),
        tui("terminal_title", STRINGS),
        tui("theme", Str),
        tui("model_availability_nux", Kind::Table(&MODEL_NUX)).shown("{}"),
    ],
);

pub static WINDOWS: Section = Section::new(
    "WindowsToml",
    &[
        key(
            "sandbox",
            Word(&["elevated", "unelevated"]),
            "Kind of sandbox on Windows.",
        ),
        key(
            "sandbox_private_desktop",
            Bool,
            "Sandboxed programs get a desktop of their own.",
        ),
    ],
);
