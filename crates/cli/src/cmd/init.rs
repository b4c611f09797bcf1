//! `quipu init`: finds a model that can be used, writes the few lines of configuration that it needs, and
//! tries one request. Keys stay where they are, in the environment.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use quipu_config::edit::{Edit, WriteRequest};
use quipu_config::{Env, Home, LoadRequest, Loader, Overrides, Table};
use quipu_model::{BUILT_IN, ProviderConfig, local_servers};
use serde_json::json;

use super::app_server::unchecked;
use super::{models, trial};
use crate::args::{ConfigArgs, InitArgs};
use crate::session;
use crate::version::ProgramName;

/// A provider that could be used, and why.
struct Candidate {
    id: String,
    why: String,
    is_local: bool,
}

pub fn run(args: InitArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let env = Env::from_process();
    let asks = io::stdin().is_terminal() && !args.yes;
    share(&env, args.share_codex, asks)?;
    let mut overrides = Overrides::default();
    common.add_to(&mut overrides)?;
    let load = || unchecked(Env::from_process(), overrides.clone());
    let config = load()?;
    let settings = config.load(&LoadRequest::default());
    let settings = settings.map_err(|error| error.to_string())?.model();

    let chosen = match (&args.provider, &settings.provider) {
        (Some(id), _) => Some(id.clone()),
        (None, Some(id)) => {
            let file = config.home().config_file();
            eprintln!("{} uses the provider `{id}`.", file.display());
            None
        }
        (None, None) => Some(choose(&config, asks)?),
    };
    let mut edits = Vec::new();
    if let Some(id) = chosen {
        check(&id, overrides.clone())?;
        edits.push(Edit::set(&["model_provider"], id));
    }
    if let Some(model) = &args.model {
        edits.push(Edit::set(&["model"], model.clone()));
    }
    write(&config, edits)?;
    if args.model.is_none() && settings.model.is_none() {
        write(&config, default_model(load()?)?)?;
    }
    match args.no_test {
        true => Ok(ExitCode::SUCCESS),
        false => trial::run(load()?, Duration::from_secs(args.timeout)),
    }
}

/// Whether a provider exists and has an address; nothing is written for one that has not.
fn check(id: &str, mut overrides: Overrides) -> Result<(), String> {
    let chosen = Table::from_iter([("model_provider".to_owned(), json!(id))]);
    let added = overrides.add_json(&chosen);
    added.map_err(|error| error.to_string())?;
    let config = unchecked(Env::from_process(), overrides)?;
    let found = config.load(&LoadRequest::default());
    let found = found.map_err(|error| error.to_string())?;
    session::with_client(config, async |_, server| server.provider(&found).map(drop))
}

/// Offers the home of the official program, if there is one and none of our own yet.
fn share(env: &Env, asked_for: bool, asks: bool) -> Result<(), String> {
    let own = Home::resolve(env, ProgramName::of_this_process().home());
    let own = own.map_err(|error| error.to_string())?;
    let Some(theirs) = env.user_home().map(|it| it.join(".codex")) else {
        return Ok(());
    };
    let is_free = std::fs::read_dir(own.path()).map_or(true, |mut it| it.next().is_none());
    if own.path() == theirs || !theirs.is_dir() || !(is_free || asked_for) {
        return Ok(());
    }
    let (own, theirs) = (own.path(), theirs.as_path());
    if !is_free {
        let own = own.display();
        return Err(format!(
            "{own} is in use; move it away first to share ~/.codex"
        ));
    }
    let question = format!(
        "Share settings, login and sessions with {} (make {} a link to it)? [y/N] ",
        theirs.display(),
        own.display()
    );
    let accepted = asked_for || (asks && ask(&question)?.eq_ignore_ascii_case("y"));
    if !accepted {
        eprintln!(
            "{} is not used; `quipu init --share-codex` would share it.",
            theirs.display()
        );
        return Ok(());
    }
    let linked = match own.exists() {
        true => std::fs::remove_dir(own).and_then(|()| link(theirs, own)),
        false => link(theirs, own),
    };
    linked.map_err(|error| format!("cannot make {} a link: {error}", own.display()))?;
    eprintln!("{} is a link to {} now.", own.display(), theirs.display());
    Ok(())
}

#[cfg(unix)]
fn link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(target, link)
}

/// The id of the provider to use: the only one that was found, or the one that the user picks.
fn choose(config: &Loader, asks: bool) -> Result<String, String> {
    let mut found = candidates(config)?;
    for (number, it) in found.iter().enumerate() {
        eprintln!("{}. {}: {}", number + 1, it.id, it.why);
    }
    let at = match found.len() {
        0 => {
            if let Some(incomplete) = without_address(config) {
                return Err(incomplete);
            }
            return Err(format!(
                "no model was found: no API key is set, and no model server listens on this machine.\n\
                 Set one of {}, or start a model server, and run `quipu init` again.",
                quipu_model::known_keys()
            ));
        }
        1 => 0,
        count if asks => {
            let answer = ask(&format!("Which one? [1-{count}, default 1] "))?;
            match answer.parse::<usize>() {
                _ if answer.is_empty() => 0,
                Ok(number) if (1..=count).contains(&number) => number - 1,
                _ => return Err(format!("`{answer}` is not a number from 1 to {count}")),
            }
        }
        _ => {
            eprintln!("Taking the first; `--provider ID` takes another.");
            0
        }
    };
    Ok(found.swap_remove(at).id)
}

/// Providers with a key, in the order of the table, then servers on this machine.
fn candidates(config: &Loader) -> Result<Vec<Candidate>, String> {
    let env = config.env();
    let keys = BUILT_IN.iter().filter_map(|it| {
        let variable = it.key_in(|name| env.get(name).map(str::to_owned))?;
        // Without an address of its own it cannot be reached by a key alone.
        it.default_model?;
        Some(Candidate {
            id: it.id.to_owned(),
            why: format!("{variable} is set"),
            is_local: false,
        })
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let listening = runtime.block_on(local_servers());
    let local = |it: ProviderConfig| Candidate {
        why: format!("a server listens at {}", it.base_url.unwrap_or_default()),
        id: it.id,
        is_local: true,
    };
    let mut found: Vec<Candidate> = keys.chain(listening.into_iter().map(local)).collect();
    found.sort_by_key(|it| it.is_local);
    Ok(found)
}

/// What to do about a key of a provider that everybody reaches at an address of their own.
fn without_address(config: &Loader) -> Option<String> {
    let env = |name: &str| config.env().get(name).map(str::to_owned);
    let found = BUILT_IN.iter().filter(|it| it.default_model.is_none());
    let (it, variable) = found.filter_map(|it| Some((it, it.key_in(env)?))).next()?;
    let (id, name, home) = (it.id, it.name, config.home().path().display());
    Some(format!(
        "{variable} is set, but not where your {name} resource is.\n\
         Write the table [model_providers.{id}] with `name` and `base_url` into {home}/config.toml, then run \
         `quipu init --provider {id} --model NAME`."
    ))
}

/// The model must be named where the provider has no default of its own.
fn default_model(config: Loader) -> Result<Vec<Edit>, String> {
    let found = config.load(&LoadRequest::default());
    let found = found.map_err(|error| error.to_string())?;
    let provider = found.model().provider.unwrap_or_default();
    if quipu_model::BuiltIn::named(&provider).is_some_and(|it| it.default_model.is_some()) {
        return Ok(Vec::new());
    }
    let offer = session::with_client(config, async |_, server| {
        models::offer(server, &found).await
    })?;
    match offer.default {
        Some(model) => Ok(vec![Edit::set(&["model"], model)]),
        None => Err(format!(
            "`{provider}` lists no model: load one, or give `--model NAME`"
        )),
    }
}

fn write(config: &Loader, edits: Vec<Edit>) -> Result<(), String> {
    if edits.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = edits
        .iter()
        .map(|it| format!("{} = {}", it.path.join("."), it.value))
        .collect();
    let request = WriteRequest {
        edits,
        ..WriteRequest::default()
    };
    config.write(&request).map_err(|error| error.to_string())?;
    let file = config.home().config_file();
    eprintln!("Wrote to {}: {}", file.display(), lines.join(", "));
    Ok(())
}

fn ask(question: &str) -> Result<String, String> {
    let asked = io::stderr().lock().write_all(question.as_bytes());
    asked.map_err(|error| error.to_string())?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| error.to_string())?;
    Ok(answer.trim().to_owned())
}
