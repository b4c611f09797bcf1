//! The name this program was started under. As `codex` or `codex-app-server` it speaks as that program
//! does, so that clients which look for it need only a path.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use quipu_config::{Env, Overrides};
use quipu_server::{PROTOCOL_VERSION, announced_version};

use crate::cmd::app_server;

/// The program that callers believe they start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramName {
    Quipu,
    Codex,
    CodexAppServer,
}

impl ProgramName {
    pub fn of_this_process() -> ProgramName {
        let first = std::env::args_os().next().unwrap_or_default();
        match Path::new(&first).file_stem().and_then(|stem| stem.to_str()) {
            Some("codex") => ProgramName::Codex,
            Some("codex-app-server") => ProgramName::CodexAppServer,
            _ => ProgramName::Quipu,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            ProgramName::Quipu => "quipu",
            ProgramName::Codex => "codex-cli",
            ProgramName::CodexAppServer => "codex-app-server",
        }
    }

    /// The name of the home directory in that of the user, if no variable names another.
    pub fn home(self) -> &'static str {
        match self {
            ProgramName::Quipu => ".quipu",
            ProgramName::Codex | ProgramName::CodexAppServer => ".codex",
        }
    }

    /// What follows the name in `--version`. Under its own name there is a second line, which clients look for to know
    /// what they can use.
    pub fn version(self) -> String {
        let announced = announced();
        match self {
            ProgramName::Quipu => format!(
                "{} (app-server protocol {announced})\ncodex-cli {announced}",
                env!("CARGO_PKG_VERSION")
            ),
            ProgramName::Codex | ProgramName::CodexAppServer => announced,
        }
    }

    /// The command line, with the subcommand that the stand-alone server's name implies.
    pub fn arguments(self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = std::env::args_os().collect();
        if self == ProgramName::CodexAppServer
            && !asks_for_version(arguments.iter().skip(1).take(1))
        {
            arguments.insert(1, "app-server".into());
        }
        arguments
    }
}

/// The version that the configuration announces. It is read only if it will be shown.
fn announced() -> String {
    let is_command = std::env::args_os().nth(1).is_some_and(|it| it == "version");
    if !is_command && !asks_for_version(std::env::args_os().skip(1)) {
        return PROTOCOL_VERSION.to_owned();
    }
    let config = app_server::unchecked(Env::from_process(), Overrides::default());
    config.map_or_else(
        |_| PROTOCOL_VERSION.to_owned(),
        |config| announced_version(&config),
    )
}

fn asks_for_version(mut arguments: impl Iterator<Item = impl AsRef<OsStr>>) -> bool {
    arguments.any(|it| it.as_ref() == "--version" || it.as_ref() == "-V")
}
