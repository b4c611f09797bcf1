//! `quipu threads show`, `export` and `import`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use quipu_client::Client;
use quipu_client::wire::{Thread, ThreadForkParams};

use super::args::{ExportArgs, Format, ImportArgs, ShowArgs};
use super::transcript::Transcript;
use crate::args::ConfigArgs;
use crate::exec::thread::{stored, text};
use crate::session;

pub fn show(args: ShowArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let format = match args.json {
        true => Format::Json,
        false => Format::Markdown,
    };
    let args = ExportArgs {
        config: args.config,
        id: args.id,
        format,
        out: None,
    };
    run(args, common)
}

pub fn run(args: ExportArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let config = super::config(common, &args.config)?;
    let thread = session::with_client(config, async |client, _| read(client, &args.id).await)?;
    let content = match args.format {
        Format::Markdown => Transcript::new(&thread).markdown().into_bytes(),
        Format::Html => Transcript::new(&thread).html().into_bytes(),
        Format::Json => serde_json::to_vec_pretty(&thread).map_err(|error| error.to_string())?,
        Format::Rollout => rollout(&thread)?,
    };
    write(args.out.as_deref(), &content)?;
    Ok(ExitCode::SUCCESS)
}

async fn read(client: &Client, name: &str) -> Result<Thread, String> {
    let id = stored(client, name).await?;
    client.read_thread(id, true).await.map_err(text)
}

/// The stored records as they are.
fn rollout(thread: &Thread) -> Result<Vec<u8>, String> {
    let path = thread.path.as_deref().map(PathBuf::from);
    let path = path.ok_or("nothing of this session is stored")?;
    std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(file: Option<&Path>, content: &[u8]) -> Result<(), String> {
    let Some(file) = file else {
        return match io::stdout().write_all(content) {
            // A reader that has seen enough, such as `head`, is not an error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|error| error.to_string()),
        };
    };
    quipu_disk::Target::lock(file)
        .and_then(|target| target.replace(content))
        .map_err(|error| format!("cannot write {}: {error}", file.display()))
}

pub fn import(args: ImportArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let file = args.file.canonicalize();
    let file = file.map_err(|error| format!("{}: {error}", args.file.display()))?;
    let config = super::config(common, &args.config)?;
    let id = session::with_client(config, async |client, _| {
        let params = ThreadForkParams {
            path: Some(file.display().to_string()),
            ..ThreadForkParams::default()
        };
        let forked = client.thread_fork(params).await.map_err(text)?;
        Ok(forked.thread.id)
    })?;
    crate::cmd::print::lines([id])
}
