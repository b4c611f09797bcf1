//! The command line as data. The flags of `app-server` are those of the official program.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use quipu_server::{Listen, Origin};

use crate::cmd::config::ConfigCommand;
use crate::cmd::mcp::McpCommand;
use crate::cmd::store::StoreCommand;
use crate::cmd::usage::UsageArgs;
use crate::exec::args::ExecArgs;
use crate::lazy::Lazy;
use crate::runner::args::RunnerArgs;
use crate::threads::args::ThreadsArgs;

pub use crate::config_args::ConfigArgs;

/// Agent server compatible with `codex app-server`, for any model provider
#[derive(Debug, Parser)]
pub struct Args {
    #[command(flatten)]
    pub config: ConfigArgs,
    #[command(flatten)]
    pub chat: ChatArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The generations of the protocol that `generate-json-schema` and `generate-ts` print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolVersion {
    #[value(name = "0.118")]
    V0_118,
    #[value(name = "0.166")]
    V0_166,
    /// Everything that the server speaks
    Union,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve clients over stdio, a websocket or a unix socket
    AppServer(Lazy<Box<AppServerArgs>>),
    /// Open the console: a page in the browser to talk to agents
    Console(Lazy<ConsoleArgs>),
    /// Run one prompt and exit
    #[command(visible_alias = "e")]
    Exec(Lazy<Box<ExecArgs>>),
    /// Compare the prompts of a directory over its cases
    Eval(Lazy<EvalArgs>),
    /// Run a short demo of the server without a model
    Demo,
    /// Chat in the terminal, as without a command
    Chat(Lazy<PromptArgs>),
    /// Be an agent for editors, over the Agent Client Protocol
    Acp(Lazy<crate::cmd::acp::Args>),
    /// Offer the agent as a tool to other agents, over MCP
    McpServer(Lazy<McpServerArgs>),
    /// Work through the issues of a tracker, unattended
    Runner(Lazy<Box<RunnerArgs>>),
    /// Set up a model: find keys and local servers, write config.toml, try one request
    Init(Lazy<InitArgs>),
    /// List model providers and whether their keys are set
    Providers(Lazy<ProvidersArgs>),
    /// List the models of a provider
    Models(Lazy<ModelsArgs>),
    /// Log in, by default with ChatGPT in the browser
    Login(Lazy<LoginArgs>),
    /// Remove the stored login
    Logout {
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Run a command under a sandbox policy, or show which sandbox this machine supports
    Sandbox(Lazy<SandboxArgs>),
    /// List, show, search, export, archive and delete stored sessions
    Threads(Lazy<Box<ThreadsArgs>>),
    /// Read and change the configuration
    #[command(subcommand)]
    Config(Lazy<ConfigCommand>),
    /// List, add, remove and test MCP servers
    #[command(subcommand)]
    Mcp(Lazy<McpCommand>),
    /// Sum up what answers of models cost
    Usage(Lazy<UsageArgs>),
    /// Prepare and check a PostgreSQL database for threads, and copy threads in and out
    #[command(subcommand)]
    Store(Lazy<StoreCommand>),
    /// Check everything a run depends on, and say what to do about each finding
    Doctor(Lazy<DoctorArgs>),
    /// Print a completion script for a shell
    Completions {
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Write the manual pages
    Man {
        /// Directory to write to
        #[arg(short, long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Print the version
    Version,
}

/// Which server to use.
#[derive(Debug, Default, ClapArgs)]
pub struct RemoteArgs {
    /// Use a running server, `ws://HOST:PORT`, `wss://HOST:PORT` or `unix://PATH`, instead of one in this process
    #[arg(long, value_name = "URL")]
    pub remote: Option<String>,
    /// Environment variable with the bearer token for `--remote ws://…`
    #[arg(long, value_name = "NAME", requires = "remote")]
    pub remote_auth_token_env: Option<String>,
}

/// How to chat. Declared before the subcommand and after `chat`, as [`ConfigArgs`] are.
#[derive(Debug, Default, ClapArgs)]
pub struct ChatArgs {
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// Continue a conversation; choose one if no id is given
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Model of a new conversation
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Directory to work in
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Do not use colour
    #[arg(long)]
    pub no_color: bool,
}

impl ChatArgs {
    /// Lays arguments that were given later over these.
    pub fn extend(self, later: ChatArgs) -> ChatArgs {
        let remote = match later.remote.remote {
            Some(_) => later.remote,
            None => self.remote,
        };
        ChatArgs {
            remote,
            resume: later.resume.or(self.resume),
            model: later.model.or(self.model),
            cwd: later.cwd.or(self.cwd),
            no_color: later.no_color || self.no_color,
        }
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.remote.remote.is_none()
            && self.resume.is_none()
            && self.model.is_none()
            && self.cwd.is_none()
            && !self.no_color
    }
}

#[derive(Debug, Default, ClapArgs)]
pub struct PromptArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    #[command(flatten)]
    pub chat: ChatArgs,
    /// What to say first
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct McpServerArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// Serve streamable HTTP at `http://ADDRESS/mcp` instead of standard input and output
    #[arg(long, value_name = "IP:PORT")]
    pub http: Option<SocketAddr>,
    /// File with the bearer token that HTTP clients must show; needed beyond loopback
    #[arg(long, value_name = "PATH", requires = "http")]
    pub http_token_file: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct SandboxArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Sandbox policy of the command [default: `sandbox_mode` of the configuration]
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<PolicyArg>,
    /// Command to run, with its arguments, as the agent's commands run. It has no terminal; its output and
    /// exit code are passed on. If omitted, show which sandbox this machine supports
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PolicyArg {
    /// Read files, write none, no network
    ReadOnly,
    /// Write in the current directory and temporary directories too
    WorkspaceWrite,
    /// No sandbox
    FullAccess,
}

impl PolicyArg {
    /// The value of `sandbox_mode`.
    pub fn mode(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::FullAccess => "danger-full-access",
        }
    }
}

#[derive(Debug, ClapArgs)]
pub struct InitArgs {
    /// Provider to use; `quipu providers` lists them
    #[arg(long, value_name = "ID")]
    pub provider: Option<String>,
    /// Model to use; the provider's default if omitted
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Do not prompt; use the first provider found
    #[arg(short, long)]
    pub yes: bool,
    /// Share settings, login and sessions with the official program by linking the home directory to ~/.codex
    #[arg(long)]
    pub share_codex: bool,
    /// Do not try a request
    #[arg(long)]
    pub no_test: bool,
    /// How long to wait for the answer to that request; local servers may have to load their model first
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
}

#[derive(Debug, ClapArgs)]
pub struct ProvidersArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ModelsArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Provider to ask, instead of the one in use
    #[arg(long, value_name = "ID")]
    pub provider: Option<String>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct EvalArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Directory with prompts/*.md and cases.jsonl, and maybe eval.toml and schema.json
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Where the report goes; DIR/report if omitted
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How many evaluations run at once, instead of what eval.toml says
    #[arg(short = 'j', long, value_name = "COUNT")]
    pub concurrency: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Also write a report without secrets that can be attached to a bug report
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct LoginArgs {
    #[command(subcommand)]
    pub command: Option<LoginCommand>,
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Read an API key from stdin: `printenv OPENAI_API_KEY | quipu login --with-api-key`
    #[arg(long, conflicts_with = "device_auth")]
    pub with_api_key: bool,
    /// Show a code to enter in a browser on any device
    #[arg(long)]
    pub device_auth: bool,
}

#[derive(Debug, Subcommand)]
pub enum LoginCommand {
    /// Show how you are logged in; fails if you are not
    Status {
        #[command(flatten)]
        config: ConfigArgs,
    },
}

#[derive(Debug, ClapArgs)]
pub struct AppServerArgs {
    #[command(subcommand)]
    pub command: Option<AppServerCommand>,
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Where to listen: `stdio://`, `ws://IP:PORT`, `wss://IP:PORT` (with TLS), `unix://PATH`, `unix://` (a socket in
    /// the home directory) or `off`; may be repeated
    #[arg(long, value_name = "URL", default_value = "stdio://")]
    pub listen: Vec<Listen>,
    /// Listen on standard input and output, as `--listen stdio://` does
    #[arg(long, conflicts_with = "listen")]
    pub stdio: bool,
    /// Accepted for compatibility; nothing is collected
    #[arg(long)]
    pub analytics_default_enabled: bool,
    #[command(flatten)]
    pub auth: AuthArgs,
    /// Certificate chain for `--listen wss://…`, a PEM file; a renewed one is used without a restart
    #[arg(long, value_name = "PATH", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate, a PEM file
    #[arg(long, value_name = "PATH", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Refuse threads while no model is configured, instead of answering with the offline model
    #[arg(long)]
    pub need_model: bool,
    /// Also serve `/metrics` for Prometheus on the websocket's port, to those who may connect
    #[arg(long)]
    pub metrics: bool,
    /// Also serve the console, a page in the browser, on the websocket's port
    #[arg(long)]
    pub console: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ConsoleArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Port of localhost to serve the page on [default: the last one used, or a free one]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Print the address without opening a browser
    #[arg(long)]
    pub no_open: bool,
    /// Open the console of this server, which `app-server --console` runs, instead of starting one
    #[arg(long, value_name = "URL", conflicts_with = "port")]
    pub remote: Option<String>,
}

#[derive(Debug, Default, ClapArgs)]
pub struct AuthArgs {
    /// Authentication method for websocket clients
    #[arg(long, value_name = "MODE")]
    pub ws_auth: Option<AuthMode>,
    /// File with the capability token
    #[arg(long, value_name = "PATH")]
    pub ws_token_file: Option<PathBuf>,
    /// SHA-256 digest of the capability token in hexadecimal, instead of a file with the token
    #[arg(long, value_name = "HEX", conflicts_with = "ws_token_file")]
    pub ws_token_sha256: Option<String>,
    /// File with the secret that tokens are signed with
    #[arg(long, value_name = "PATH")]
    pub ws_shared_secret_file: Option<PathBuf>,
    /// Required issuer (`iss`) of signed tokens
    #[arg(long, value_name = "ISSUER")]
    pub ws_issuer: Option<String>,
    /// Required audience (`aud`) of signed tokens
    #[arg(long, value_name = "AUDIENCE")]
    pub ws_audience: Option<String>,
    /// Tolerated clock difference between client and server, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub ws_max_clock_skew_seconds: Option<u64>,
    /// Web page whose scripts may connect, such as `http://localhost:5173`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub ws_allow_origin: Vec<Origin>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuthMode {
    CapabilityToken,
    SignedBearerToken,
}

#[derive(Debug, Subcommand)]
pub enum AppServerCommand {
    /// Connect standard input and output to a server that listens on a unix socket
    Proxy {
        #[command(flatten)]
        config: ConfigArgs,
        /// Socket of the server; the one of `--listen unix://` if omitted
        #[arg(long, value_name = "SOCKET_PATH")]
        sock: Option<PathBuf>,
    },
    /// Write the protocol as TypeScript
    #[command(name = "generate-ts")]
    TypeScript {
        #[command(flatten)]
        config: ConfigArgs,
        /// Directory to write to
        #[arg(short, long, value_name = "DIR")]
        out: PathBuf,
        /// Prettier executable to format the files with
        #[arg(short, long, value_name = "PRETTIER_BIN")]
        prettier: Option<PathBuf>,
        /// Include experimental methods and fields
        #[arg(long)]
        experimental: bool,
        /// The generation of the protocol to print
        #[arg(long, value_enum, default_value = "0.118")]
        protocol: ProtocolVersion,
    },
    /// Write the protocol as JSON Schema
    #[command(name = "generate-json-schema")]
    JsonSchema {
        #[command(flatten)]
        config: ConfigArgs,
        /// Directory to write to
        #[arg(short, long, value_name = "DIR")]
        out: PathBuf,
        /// Include experimental methods and fields
        #[arg(long)]
        experimental: bool,
        /// The generation of the protocol to print
        #[arg(long, value_enum, default_value = "0.118")]
        protocol: ProtocolVersion,
    },
    /// Write the generated part of the TypeScript client
    #[command(name = "generate-ts-client", hide = true)]
    TypeScriptClient {
        /// Directory to write to
        #[arg(short, long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Write the protocol reference as Markdown
    #[command(name = "generate-reference", hide = true)]
    Reference {
        /// File to write
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
    },
}
