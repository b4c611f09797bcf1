//! `quipu app-server`: serves the protocol until its clients are done.

use quipu_server::{Server, Settings, WebSocketAuth};

use super::generate;
use crate::args::{AppServerArgs, AuthArgs, AuthMode, ConfigArgs};
use crate::{home, logging};

pub fn run(args: AppServerArgs, config: ConfigArgs) -> Result<(), String> {
    if let Some(command) = args.command {
        return generate::run(command);
    }
    let overrides = overrides(&config)?;
    let auth = auth(args.auth, &args.listen)?;
    logging::start();
    let cwd = std::env::current_dir()
        .map_err(|error| format!("cannot find the current folder: {error}"))?;
    let settings = Settings {
        overrides,
        ..Settings::new(home::home()?, cwd)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(2)
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let served = runtime.block_on(quipu_server::run(Server::new(settings), args.listen, auth));
    // Reading standard input holds a thread that nothing can wake.
    runtime.shutdown_background();
    served.map_err(|error| error.to_string())
}

fn overrides(config: &ConfigArgs) -> Result<Vec<(String, String)>, String> {
    let mut overrides = Vec::new();
    for text in &config.config {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            format!("error parsing -c overrides: Invalid override (missing '='): {text}")
        })?;
        overrides.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    let features = |names: &[String], on: &str| {
        names
            .iter()
            .map(|name| (format!("features.{name}"), on.to_owned()))
            .collect::<Vec<_>>()
    };
    overrides.extend(features(&config.enable, "true"));
    overrides.extend(features(&config.disable, "false"));
    Ok(overrides)
}

fn auth(args: AuthArgs, listen: &quipu_server::Listen) -> Result<WebSocketAuth, String> {
    let signed_flags = args.ws_shared_secret_file.is_some()
        || args.ws_issuer.is_some()
        || args.ws_audience.is_some()
        || args.ws_max_clock_skew_seconds.is_some();
    let listens = matches!(listen, quipu_server::Listen::WebSocket(_));
    let auth = match args.ws_auth {
        None if args.ws_token_file.is_some() || signed_flags => {
            return Err("websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`".into());
        }
        None => return Ok(WebSocketAuth::None),
        Some(AuthMode::CapabilityToken) if signed_flags => {
            return Err("`--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and `--ws-max-clock-skew-seconds` require `--ws-auth signed-bearer-token`".into());
        }
        Some(AuthMode::CapabilityToken) => {
            let file = args
                .ws_token_file
                .ok_or("`--ws-token-file` is required when `--ws-auth capability-token` is set")?;
            if !listens {
                return Ok(WebSocketAuth::None);
            }
            WebSocketAuth::capability_token(&file)
        }
        Some(AuthMode::SignedBearerToken) if args.ws_token_file.is_some() => {
            return Err("`--ws-token-file` requires `--ws-auth capability-token`, not `signed-bearer-token`".into());
        }
        Some(AuthMode::SignedBearerToken) => {
            let file = args.ws_shared_secret_file.ok_or(
                "`--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set",
            )?;
            if !listens {
                return Ok(WebSocketAuth::None);
            }
            let skew = args.ws_max_clock_skew_seconds.unwrap_or(30);
            WebSocketAuth::signed_bearer(&file, args.ws_issuer, args.ws_audience, skew)
        }
    };
    auth.map_err(|error| error.to_string())
}
