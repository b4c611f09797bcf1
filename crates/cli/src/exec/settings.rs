//! The configuration of a run. Some flags are more than a setting: they add to what is configured, or
//! depend on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_config::{Env, LoadRequest, Loader, Overrides, Snapshot, Table};
use serde_json::{Value, json};

use super::job::Job;
use super::local;
use crate::cmd::app_server::unchecked;

/// A key for this run alone, which programs give it.
const KEY: &str = "CODEX_API_KEY";

/// The configuration with all that the command line says, as a whole and as it is where the job runs.
pub fn load(job: &mut Job) -> Result<(Loader, Arc<Snapshot>), String> {
    let mut overrides = std::mem::take(&mut job.overrides);
    if job.local.is_some() || !job.add_dirs.is_empty() {
        complete(job, &mut overrides)?;
    }
    let env = Env::from_process();
    if let Some(key) = env.get(KEY).filter(|key| !key.trim().is_empty()) {
        job.api_key = Some(key.to_owned());
        let mut unstored = Table::new();
        unstored.insert("cli_auth_credentials_store".into(), json!("ephemeral"));
        overrides
            .add_json(&unstored)
            .map_err(|error| error.to_string())?;
    }
    let config = unchecked(env, overrides)?;
    let found = at(&config, &job.cwd)?;
    Ok((config, found))
}

/// The configuration in a directory. A server would start with the defaults where it is invalid, but a run
/// without what its user configured is not the run that was asked for.
fn at(config: &Loader, cwd: &Path) -> Result<Arc<Snapshot>, String> {
    let request = LoadRequest {
        cwd: Some(cwd),
        ..LoadRequest::default()
    };
    config.load(&request).map_err(|error| error.to_string())
}

/// Settles what depends on the rest of the configuration.
fn complete(job: &mut Job, overrides: &mut Overrides) -> Result<(), String> {
    let config = unchecked(Env::from_process(), overrides.clone())?;
    let found = at(&config, &job.cwd)?;
    let mut settings = Table::new();
    if let Some(local) = job.local.take() {
        let provider = local.provider(&found)?;
        let model = local::model(&provider).map(str::to_owned);
        job.model = job.model.take().or(model);
        settings.insert("model_provider".into(), json!(provider));
    }
    if !job.add_dirs.is_empty() {
        let roots = writable(&found, std::mem::take(&mut job.add_dirs));
        settings.insert("sandbox_workspace_write.writable_roots".into(), roots);
    }
    overrides
        .add_json(&settings)
        .map_err(|error| error.to_string())
}

/// The directories that are configured to be writable, and these.
fn writable(found: &Snapshot, more: Vec<PathBuf>) -> Value {
    let configured: Option<Value> = found.get("sandbox_workspace_write");
    let mut roots = match configured {
        Some(mut it) => it["writable_roots"].take(),
        None => Value::Null,
    };
    match &mut roots {
        Value::Array(roots) => roots.extend(more.into_iter().map(|it| json!(it))),
        _ => roots = json!(more),
    }
    roots
}
