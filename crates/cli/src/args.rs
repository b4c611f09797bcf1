//! The command line as data. The flags of `app-server` are those of the official program.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use quipu_config::Overrides;
use quipu_server::Listen;

use crate::exec::args::ExecArgs;

/// Keeps threads of conversation between people and a coding agent.
#[derive(Debug, Parser)]
pub struct Args {
    #[command(flatten)]
    pub config: ConfigArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// Settings for this run. They are declared before and after the subcommand, rather than once as
/// global, because of a global option given in both places only the later values would count.
#[derive(Debug, Default, ClapArgs)]
pub struct ConfigArgs {
    /// Overrides a configuration value: a dotted key and a TOML value (or plain text).
    #[arg(short = 'c', long = "config", value_name = "key=value")]
    config: Vec<String>,
    /// Turns an optional feature on; the same as `-c features.NAME=true`.
    #[arg(long, value_name = "FEATURE")]
    enable: Vec<String>,
    /// Turns an optional feature off; the same as `-c features.NAME=false`.
    #[arg(long, value_name = "FEATURE")]
    disable: Vec<String>,
}

impl ConfigArgs {
    /// Adds settings that were given later.
    pub fn extend(&mut self, later: ConfigArgs) {
        self.config.extend(later.config);
        self.enable.extend(later.enable);
        self.disable.extend(later.disable);
    }

    /// Lays these settings over others.
    pub fn add_to(&self, overrides: &mut Overrides) -> Result<(), String> {
        for flag in &self.config {
            overrides
                .add_flag(flag)
                .map_err(|error| format!("error parsing -c overrides: {error}"))?;
        }
        let on = self.enable.iter().map(|name| (name, true));
        let off = self.disable.iter().map(|name| (name, false));
        for (name, enabled) in on.chain(off) {
            overrides
                .set_feature(name, enabled)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serves the app-server protocol.
    AppServer(Box<AppServerArgs>),
    /// Runs one prompt and exits.
    #[command(visible_alias = "e")]
    Exec(Box<ExecArgs>),
    /// Shows what the server does, in a few seconds and without a model.
    Demo,
    /// Logs in, with ChatGPT in the browser unless told otherwise.
    Login(LoginArgs),
    /// Forgets the stored login.
    Logout {
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Says what keeps commands inside their policy on this machine.
    Sandbox,
}

#[derive(Debug, ClapArgs)]
pub struct LoginArgs {
    #[command(subcommand)]
    pub command: Option<LoginCommand>,
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Reads an API key from standard input: `printenv OPENAI_API_KEY | quipu login --with-api-key`.
    #[arg(long, conflicts_with = "device_auth")]
    pub with_api_key: bool,
    /// Shows a code to enter in a browser on any device.
    #[arg(long)]
    pub device_auth: bool,
}

#[derive(Debug, Subcommand)]
pub enum LoginCommand {
    /// Tells how you are logged in; fails if you are not.
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
    /// Where to listen: `stdio://`, `ws://IP:PORT`, `unix://PATH` or `off`.
    #[arg(long, value_name = "URL", default_value = "stdio://")]
    pub listen: Listen,
    /// Accepted for compatibility; nothing is collected.
    #[arg(long)]
    pub analytics_default_enabled: bool,
    #[command(flatten)]
    pub auth: AuthArgs,
}

#[derive(Debug, Default, ClapArgs)]
pub struct AuthArgs {
    /// What websocket clients must present.
    #[arg(long, value_name = "MODE")]
    pub ws_auth: Option<AuthMode>,
    /// The file that holds the capability token.
    #[arg(long, value_name = "PATH")]
    pub ws_token_file: Option<PathBuf>,
    /// The file that holds the secret of signed tokens.
    #[arg(long, value_name = "PATH")]
    pub ws_shared_secret_file: Option<PathBuf>,
    /// The issuer that signed tokens must name.
    #[arg(long, value_name = "ISSUER")]
    pub ws_issuer: Option<String>,
    /// The audience that signed tokens must name.
    #[arg(long, value_name = "AUDIENCE")]
    pub ws_audience: Option<String>,
    /// Seconds by which the clocks of client and server may differ (30 unless given).
    #[arg(long, value_name = "SECONDS")]
    pub ws_max_clock_skew_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuthMode {
    CapabilityToken,
    SignedBearerToken,
}

#[derive(Debug, Subcommand)]
pub enum AppServerCommand {
    /// Writes the protocol as TypeScript.
    #[command(name = "generate-ts")]
    TypeScript {
        #[command(flatten)]
        config: ConfigArgs,
        /// The folder to write to.
        #[arg(short, long, value_name = "DIR")]
        out: PathBuf,
        /// A Prettier program to format the files with.
        #[arg(short, long, value_name = "PRETTIER_BIN")]
        prettier: Option<PathBuf>,
        /// Includes experimental methods and fields.
        #[arg(long)]
        experimental: bool,
    },
    /// Writes the protocol as JSON Schema.
    #[command(name = "generate-json-schema")]
    JsonSchema {
        #[command(flatten)]
        config: ConfigArgs,
        /// The folder to write to.
        #[arg(short, long, value_name = "DIR")]
        out: PathBuf,
        /// Includes experimental methods and fields.
        #[arg(long)]
        experimental: bool,
    },
    /// Writes the protocol reference as Markdown.
    #[command(name = "generate-reference", hide = true)]
    Reference {
        /// The file to write.
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
    },
}
