//! The name this program was started under. As `codex` or `codex-app-server` it speaks as that program
//! does, so that clients which look for it need only a path.

use std::ffi::OsString;
use std::path::Path;

use quipu_server::PROTOCOL_VERSION;

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

    /// What follows the name in `--version`.
    pub fn version(self) -> String {
        match self {
            ProgramName::Quipu => {
                format!(
                    "{} (app-server protocol {PROTOCOL_VERSION})",
                    env!("CARGO_PKG_VERSION")
                )
            }
            ProgramName::Codex | ProgramName::CodexAppServer => PROTOCOL_VERSION.to_owned(),
        }
    }

    /// The command line, with the subcommand that the stand-alone server's name implies.
    pub fn arguments(self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = std::env::args_os().collect();
        let asks_about_itself = arguments
            .get(1)
            .is_some_and(|it| it == "--version" || it == "-V");
        if self == ProgramName::CodexAppServer && !asks_about_itself {
            arguments.insert(1, "app-server".into());
        }
        arguments
    }
}
