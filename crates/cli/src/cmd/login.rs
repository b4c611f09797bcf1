//! `quipu login`: the same logins as `account/login/start`, for people at a terminal. What is said goes to
//! standard error, in the words that scripts of the official program look for.

use std::io::{self, IsTerminal as _, Read as _};

use quipu_auth::{BrowserLogin, DeviceLogin, Login, Record};
use quipu_wire::ForcedLoginMethod;

use super::account::{Desk, warn_of_file};
use crate::args::{ConfigArgs, LoginArgs, LoginCommand};

/// No key is longer.
const MAX_KEY: u64 = 64 * 1024;
/// How much of a key is shown at its beginning and its end.
const SHOWN: (usize, usize) = (8, 5);

pub fn run(args: LoginArgs, common: &ConfigArgs) -> Result<(), String> {
    if let Some(LoginCommand::Status { config }) = &args.command {
        return status(&Desk::open(&[common, &args.config, config])?);
    }
    let desk = Desk::open(&[common, &args.config])?;
    if args.with_api_key {
        with_key(&desk)?;
    } else {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        runtime.block_on(with_chatgpt(&desk, args.device_auth))?;
    }
    eprintln!("Successfully logged in");
    Ok(())
}

fn status(desk: &Desk) -> Result<(), String> {
    match desk.accounts.current() {
        None => return Err("Not logged in".to_owned()),
        Some(Login::ApiKey(key)) => eprintln!("Logged in using an API key - {}", masked(&key)),
        Some(Login::ChatGpt(_) | Login::External(_)) => eprintln!("Logged in using ChatGPT"),
    }
    Ok(())
}

/// Enough of a key to recognise it.
fn masked(key: &str) -> String {
    let (start, end) = SHOWN;
    let letters: Vec<char> = key.chars().collect();
    if letters.len() <= start + end {
        return "***".to_owned();
    }
    let text = |letters: &[char]| letters.iter().collect::<String>();
    let (start, end) = (&letters[..start], &letters[letters.len() - end..]);
    format!("{}***{}", text(start), text(end))
}

fn with_key(desk: &Desk) -> Result<(), String> {
    if desk.settings.forced_login_method == Some(ForcedLoginMethod::Chatgpt) {
        return Err("API key login is disabled. Use ChatGPT login instead.".to_owned());
    }
    let keep = desk.keep()?;
    if io::stdin().is_terminal() {
        let text = "--with-api-key reads the key from standard input: \
                    printenv OPENAI_API_KEY | quipu login --with-api-key";
        return Err(text.to_owned());
    }
    let mut key = String::new();
    let read = io::stdin().take(MAX_KEY).read_to_string(&mut key);
    read.map_err(|error| format!("the key cannot be read: {error}"))?;
    match key.trim() {
        "" => Err("No API key provided via stdin.".to_owned()),
        key => {
            let set = desk.accounts.set_key(key, keep);
            warn_of_file(set.map_err(|error| error.to_string())?);
            Ok(())
        }
    }
}

async fn with_chatgpt(desk: &Desk, device: bool) -> Result<(), String> {
    if desk.settings.forced_login_method == Some(ForcedLoginMethod::Api) {
        return Err("ChatGPT login is disabled. Use API key login instead.".to_owned());
    }
    let keep = desk.keep()?;
    let store = |record: Record| desk.accounts.store(record, keep).map(warn_of_file);
    let workspace = desk.settings.forced_chatgpt_workspace_id.clone();
    if device {
        let login = DeviceLogin::start(&desk.accounts, workspace).await;
        let login = login.map_err(|error| error.to_string())?;
        eprintln!(
            "Open {} in a browser on any device, log in there, and enter this code within 15 minutes:\n\n    \
             {}\n\nEnter it only if you asked for it here, and tell it to nobody.",
            login.verification_url(),
            login.user_code()
        );
        let record = login.granted(&desk.accounts).await?;
        return store(record).map_err(|error| error.to_string());
    }
    let login = BrowserLogin::start(&desk.accounts, "quipu", workspace).await;
    let mut login = login.map_err(|error| format!("failed to start login server: {error}"))?;
    eprintln!(
        "Open this page in a browser on this machine to log in; `quipu login --device-auth` works from \
         any other.\n\n    {}\n",
        login.auth_url()
    );
    let record = login.granted(&desk.accounts).await?;
    login.conclude(store(record))?.await;
    Ok(())
}
