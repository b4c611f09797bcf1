//! `quipu config`: reads, changes and explains settings, with the file each of them comes from.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use quipu_client::wire::{ConfigReadParams, ConfigReadResponse};
use quipu_config::edit::{Edit, WriteRequest};
use quipu_config::schema::{Effect, Key, Kind, ROOT, Section, nearest};
use quipu_config::{Env, Loader, split_key_path};
use serde_json::{Value, json};

use super::{app_server, print};
use crate::args::ConfigArgs;
use crate::doctor::source;
use crate::exec::thread::text;
use crate::session;

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective value of a setting, or all of them
    Get(GetArgs),
    /// Write a setting to config.toml
    Set(SetArgs),
    /// Remove a setting from config.toml
    Unset(KeyArgs),
    /// Open config.toml in $VISUAL or $EDITOR, and check what was written
    Edit(EditArgs),
    /// Say what a setting is for, its type and default, its value here and where that comes from
    Explain(KeyArgs),
}

#[derive(Debug, Args)]
pub struct GetArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Dotted key such as `sandbox_workspace_write.network_access`; all settings if omitted
    #[arg(value_name = "KEY")]
    key: Option<String>,
}

#[derive(Debug, Args)]
pub struct SetArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Dotted key
    #[arg(value_name = "KEY")]
    key: String,
    /// TOML value, or plain text
    #[arg(value_name = "VALUE")]
    value: String,
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Dotted key
    #[arg(value_name = "KEY")]
    key: String,
}

#[derive(Debug, Args)]
pub struct EditArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

pub fn run(command: ConfigCommand, common: &ConfigArgs) -> Result<ExitCode, String> {
    match command {
        ConfigCommand::Get(args) => get(args, common),
        ConfigCommand::Set(args) => {
            let value = parse(&args.value);
            write(&load(common, &args.config)?, &args.key, value)
        }
        ConfigCommand::Unset(args) => write(&load(common, &args.config)?, &args.key, Value::Null),
        ConfigCommand::Edit(args) => edit(&load(common, &args.config)?),
        ConfigCommand::Explain(args) => explain(args, common),
    }
}

fn load(common: &ConfigArgs, own: &ConfigArgs) -> Result<Loader, String> {
    let overrides = common.overrides(own)?;
    app_server::unchecked(Env::from_process(), overrides)
}

/// The effective configuration, as every client gets it.
fn read(config: Loader) -> Result<ConfigReadResponse, String> {
    let cwd = config.env().cwd().display().to_string();
    session::with_client(config, async |client, _| {
        let params = ConfigReadParams {
            include_layers: false,
            cwd: Some(cwd),
        };
        client.config_read(params).await.map_err(text)
    })
}

fn get(args: GetArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let read = read(load(common, &args.config)?)?;
    let all = serde_json::to_value(&read.config).map_err(|error| error.to_string())?;
    let Some(key) = args.key else {
        let mut lines = Vec::new();
        for (path, layer) in &read.origins {
            let value = at(&all, path)?.cloned().unwrap_or(Value::Null);
            lines.push(format!("{path} = {value}  # {}", source(&layer.name)));
        }
        return print::lines(lines);
    };
    match at(&all, &key)? {
        None | Some(Value::Null) => {
            check_known(&key)?;
            eprintln!("`{key}` is not set");
            Ok(ExitCode::FAILURE)
        }
        Some(Value::String(text)) => print::lines([text.clone()]),
        Some(value) => print::lines([value.to_string()]),
    }
}

fn at<'a>(all: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let keys = split_key_path(path).map_err(|error| error.to_string())?;
    Ok(keys.iter().try_fold(all, |value, key| value.get(key)))
}

/// A value as TOML has it; what is no TOML is text.
fn parse(text: &str) -> Value {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}"));
    let value = parsed.ok().and_then(|mut it| it.remove("value"));
    let value = value.and_then(|it| serde_json::to_value(it).ok());
    value.unwrap_or_else(|| json!(text))
}

fn write(config: &Loader, key: &str, value: Value) -> Result<ExitCode, String> {
    check_known(key)?;
    let keys = split_key_path(key).map_err(|error| error.to_string())?;
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let request = WriteRequest {
        edits: vec![Edit::set(&keys, value)],
        ..WriteRequest::default()
    };
    config.write(&request).map_err(|error| error.to_string())?;
    eprintln!("Wrote to {}", config.home().config_file().display());
    Ok(ExitCode::SUCCESS)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user's editor, which is waited for"
)]
fn edit(config: &Loader) -> Result<ExitCode, String> {
    let env = config.env();
    let editor = env.get("VISUAL").or_else(|| env.get("EDITOR"));
    let editor = editor.filter(|it| !it.trim().is_empty());
    let editor = editor.ok_or("set VISUAL or EDITOR to the editor to use")?;
    let file = config.home().config_file();
    // Through the shell, since the variable may hold arguments, as in `code --wait`.
    let status = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(&file)
        .status()
        .map_err(|error| format!("cannot start `{editor}`: {error}"))?;
    if !status.success() {
        return Err(format!("`{editor}` ended with {status}"));
    }
    let started = config.start_up().map_err(|error| error.to_string())?;
    if let Some(invalid) = started.invalid {
        let details = invalid.details.unwrap_or(invalid.summary);
        return Err(format!(
            "{details}\nUntil it is corrected, no thread can be started."
        ));
    }
    for warning in started.warnings {
        eprintln!("Warning: {}", warning.summary);
    }
    Ok(ExitCode::SUCCESS)
}

fn explain(args: KeyArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let found = check_known(&args.key)?;
    let read = read(load(common, &args.config)?)?;
    let all = serde_json::to_value(&read.config).map_err(|error| error.to_string())?;
    let mut lines = Vec::new();
    if let Some(key) = found {
        lines.push(key.doc.to_owned());
        lines.push(format!("default: {}", key.default));
        match key.effect {
            Effect::Works => {}
            Effect::Nothing => lines.push("effect: none, it is accepted and ignored".to_owned()),
            Effect::OfficialTui => {
                lines.push("effect: only in the official terminal interface".to_owned())
            }
        }
    }
    let prefix = format!("{}.", args.key);
    let mut set = false;
    for (path, layer) in &read.origins {
        if *path == args.key || path.starts_with(&prefix) {
            let value = at(&all, path)?.cloned().unwrap_or(Value::Null);
            lines.push(format!("set: {path} = {value} by {}", source(&layer.name)));
            set = true;
        }
    }
    if !set {
        lines.push("set: nowhere".to_owned());
    }
    print::lines(lines)
}

/// The name that was probably meant, else all that there are.
fn unknown(name: &str, section: &'static Section) -> String {
    let known = || section.keys.iter().map(|it| it.name);
    match nearest(name, known()) {
        Some(meant) => format!("no setting is named `{name}`; did you mean `{meant}`?"),
        None => {
            let known: Vec<&str> = known().collect();
            format!("no setting is named `{name}`; known: {}", known.join(", "))
        }
    }
}

/// The setting with this path, or none for names that users choose; an error lists what there is.
fn check_known(path: &str) -> Result<Option<&'static Key>, String> {
    let keys = split_key_path(path).map_err(|error| error.to_string())?;
    let mut section: &'static Section = &ROOT;
    let mut found = None;
    let mut keys = keys.iter();
    while let Some(name) = keys.next() {
        let Some(key) = section.key(name) else {
            if section.rest.is_some() {
                return Ok(None);
            }
            return Err(unknown(name, section));
        };
        found = Some(key);
        match &key.kind {
            Kind::Table(inner) => section = inner,
            Kind::Map(Kind::Table(inner), _) => match keys.next() {
                Some(_) => section = inner,
                None => return Ok(found),
            },
            _ => return Ok(found),
        }
    }
    Ok(found)
}
