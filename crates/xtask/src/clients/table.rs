//! The clients that `cargo xtask clients` runs: where each comes from, and which script drives it.

/// A client at one version.
pub struct Client {
    pub name: &'static str,
    pub version: &'static str,
    /// When that version was published.
    pub released: &'static str,
    pub source: Source,
    /// What to install besides the package itself.
    pub with: &'static [&'static str],
    pub path: Path,
    /// The script in `crates/xtask/clients` that drives it, and its arguments.
    pub driver: &'static [&'static str],
}

/// The registry that has the package, and its name there.
pub enum Source {
    Npm(&'static str),
    /// Installed without what it depends on, which for an SDK is a second copy of the official program.
    PyPi(&'static str),
}

/// How a client reaches the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// It connects to a websocket.
    WebSocket,
    /// It starts `codex app-server` and speaks with it over standard input and output.
    Stdio,
    /// It starts `codex exec`, a server of its own on the same home.
    Exec,
}

impl Path {
    pub fn text(self) -> &'static str {
        match self {
            Path::WebSocket => "websocket",
            Path::Stdio => "stdio",
            Path::Exec => "`exec`",
        }
    }
}

impl Client {
    /// The name and version that the registry knows.
    pub fn package(&self) -> String {
        match self.source {
            Source::Npm(name) => format!("{name}@{}", self.version),
            Source::PyPi(name) => format!("{name}=={}", self.version),
        }
    }
}

const TUI: Client = Client {
    name: "official terminal interface",
    version: "0.118.0",
    released: "2026-04",
    source: Source::Npm("@openai/codex"),
    with: &[],
    path: Path::WebSocket,
    // This version asks its own configuration whether to ask for a login.
    driver: &["tui.mjs", "-c", "model_provider=ollama"],
};

const PYTHON_SDK: Client = Client {
    name: "official Python SDK",
    version: "0.163.0",
    released: "2026-10",
    source: Source::PyPi("openai-codex"),
    with: &["pydantic", "packaging"],
    path: Path::Stdio,
    driver: &["python_sdk.py"],
};

const TYPESCRIPT_SDK: Client = Client {
    name: "official TypeScript SDK",
    version: "0.118.0",
    released: "2026-04",
    source: Source::Npm("@openai/codex-sdk"),
    with: &[],
    path: Path::Exec,
    driver: &["codex_sdk.mjs"],
};

const ACP: Client = Client {
    name: "ACP bridge for editors",
    version: "1.0.0",
    released: "2026-06",
    source: Source::Npm("@agentclientprotocol/codex-acp"),
    with: &[],
    path: Path::Stdio,
    driver: &["acp.mjs", "codex-acp", "agent"],
};

const AI_SDK: Client = Client {
    name: "`ai-sdk-provider-codex-app-server`",
    version: "1.1.7",
    released: "2026-03",
    source: Source::Npm("ai-sdk-provider-codex-app-server"),
    with: &["ai@6"],
    path: Path::Stdio,
    driver: &["ai_sdk.mjs", "ai-sdk-provider-codex-app-server"],
};

const PYTHON: Client = Client {
    name: "`codex-app-server-client`",
    version: "0.1.0",
    released: "2026-02",
    source: Source::PyPi("codex-app-server-client"),
    with: &["pydantic"],
    path: Path::Stdio,
    driver: &["python_clients.py", "codex-app-server-client"],
};

pub const CLIENTS: &[Client] = &[
    TUI,
    Client {
        version: "0.166.0",
        released: "2026-10",
        driver: &["tui.mjs"],
        ..TUI
    },
    Client {
        name: "official Python SDK, republished as `tdai-codex-sdk`",
        version: "0.3.2",
        released: "2026-05",
        source: Source::PyPi("tdai-codex-sdk"),
        ..PYTHON_SDK
    },
    Client {
        version: "0.144.4",
        released: "2026-07",
        ..PYTHON_SDK
    },
    PYTHON_SDK,
    TYPESCRIPT_SDK,
    Client {
        version: "0.163.0",
        released: "2026-10",
        ..TYPESCRIPT_SDK
    },
    ACP,
    Client {
        version: "2.6.0",
        released: "2026-11",
        driver: &["acp.mjs", "codex-acp", "workspace-write"],
        ..ACP
    },
    AI_SDK,
    Client {
        name: "`ai-sdk-provider-codex-cli`",
        version: "2.2.1",
        released: "2026-09",
        source: Source::Npm("ai-sdk-provider-codex-cli"),
        with: &["ai@7", "zod@4"],
        driver: &["ai_sdk.mjs", "ai-sdk-provider-codex-cli"],
        ..AI_SDK
    },
    PYTHON,
    Client {
        name: "`codex-python-sdk`",
        version: "0.2.1",
        released: "2026-03",
        source: Source::PyPi("codex-python-sdk"),
        driver: &["python_clients.py", "codex-python-sdk"],
        ..PYTHON
    },
    Client {
        name: "`codex-sdk-python`",
        version: "0.117.0",
        source: Source::PyPi("codex-sdk-python"),
        released: "2026-03",
        driver: &["python_clients.py", "codex-sdk-python"],
        ..PYTHON
    },
    Client {
        name: "`codex-python-sdk-unofficial`",
        version: "0.128.0",
        released: "2026-05",
        source: Source::PyPi("codex-python-sdk-unofficial"),
        driver: &["python_clients.py", "codex-python-sdk-unofficial"],
        ..PYTHON
    },
];
