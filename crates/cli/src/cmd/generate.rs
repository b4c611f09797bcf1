//! `quipu app-server generate-*`: the published forms of the protocol, written to disk.

use std::io;
use std::path::{Path, PathBuf};

use quipu_wire::schema::{self, Files, Protocol, Surface};

use crate::args::{AppServerCommand, ProtocolVersion};

/// Runs one generator. None of them starts a server.
pub fn run(command: AppServerCommand) -> Result<(), String> {
    match command {
        AppServerCommand::Proxy { sock, .. } => super::proxy::run(sock),
        AppServerCommand::JsonSchema {
            out,
            experimental,
            protocol,
            ..
        } => {
            let surface = surface(protocol, experimental);
            write_all(&out, &schema::json_schemas(surface)).map(drop)
        }
        AppServerCommand::TypeScript {
            out,
            prettier,
            experimental,
            protocol,
            ..
        } => {
            let surface = surface(protocol, experimental);
            let written = write_all(&out, &schema::typescript(surface))?;
            prettier.map_or(Ok(()), |prettier| format(&prettier, &written))
        }
        AppServerCommand::TypeScriptClient { out } => {
            write_all(&out, &schema::typescript_client()).map(drop)
        }
        AppServerCommand::Reference { out } => {
            write(&out, &schema::reference()).map_err(|error| cannot_write(&out, &error))
        }
    }
}

fn surface(protocol: ProtocolVersion, experimental: bool) -> Surface {
    Surface {
        protocol: match protocol {
            ProtocolVersion::V0_118 => Protocol::V0_118,
            ProtocolVersion::V0_166 => Protocol::V0_166,
            ProtocolVersion::Union => Protocol::Union,
        },
        experimental,
    }
}

fn write_all(directory: &Path, files: &Files) -> Result<Vec<PathBuf>, String> {
    let mut written = Vec::new();
    for (name, text) in files {
        let path = directory.join(name);
        write(&path, text).map_err(|error| cannot_write(&path, &error))?;
        written.push(path);
    }
    Ok(written)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::write(path, text)
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a formatter the user named, awaited before this program ends"
)]
fn format(prettier: &Path, files: &[PathBuf]) -> Result<(), String> {
    let status = std::process::Command::new(prettier)
        .args(["--write", "--log-level", "warn"])
        .args(files)
        .status()
        .map_err(|error| {
            format!(
                "Failed to invoke Prettier at {}: {error}",
                prettier.display()
            )
        })?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("Prettier failed with status {status}"))
    }
}
