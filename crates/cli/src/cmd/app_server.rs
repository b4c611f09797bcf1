//! `quipu app-server`: serves the protocol until its clients are done.

use std::path::{Path, PathBuf};

use quipu_config::{Env, Home, Loader, Overrides};
use quipu_console::Console;
use quipu_server::{
    Admission, Certificate, Entrance, Listen, Listening, Server, Settings, WebSocketAuth,
};

use super::{console, generate};
use crate::args::{AppServerArgs, AuthArgs, AuthMode, ConfigArgs};
use crate::banner;
use crate::heap;
use crate::logging::Logging;
use crate::runtime;
use crate::version::ProgramName;

/// Seconds by which the clocks of client and server may differ, unless told otherwise.
const CLOCK_SKEW: u64 = 30;
/// The provider's marketplace of plugins.
const MARKETPLACE: &str = "https://github.com/openai/plugins.git";

pub fn run(args: AppServerArgs, common: &ConfigArgs) -> Result<(), String> {
    if let Some(command) = args.command {
        return generate::run(command);
    }
    let overrides = common.overrides(&args.config)?;
    let places = places(args.listen)?;
    let has_websocket = places.iter().any(Listen::is_websocket);
    for (flag, is_given) in [("--console", args.console), ("--metrics", args.metrics)] {
        if is_given && !has_websocket {
            return Err(format!("`{flag}` needs `--listen ws://IP:PORT`"));
        }
    }
    let mut admission = admission(args.auth, has_websocket)?;
    admission.own_pages = args.console;
    let certificate = certificate(args.tls_cert.zip(args.tls_key), &places)?;
    let config = load(Env::from_process(), overrides)?;
    let places = in_home(places, config.home())?;
    let site = args.console.then(|| {
        let console = Console::new(admission.auth != WebSocketAuth::None);
        console::site(console, &config)
    });
    let has_page = args.console;
    let mut settings = quipu_embed::settings(config);
    settings.metrics = args.metrics;
    settings.needs_model = args.need_model;
    settings.curated = Some(MARKETPLACE.to_owned());
    let entrance = Entrance {
        admission,
        site,
        certificate,
    };
    serve(settings, &places, entrance, |place| {
        banner::show(place, has_page)
    })
}

/// Where to listen: no place twice, and `off` alone.
fn places(places: Vec<Listen>) -> Result<Vec<Listen>, String> {
    if places.len() > 1 && places.contains(&Listen::Off) {
        return Err("`--listen off` goes with no other `--listen`".into());
    }
    let stdio = places.iter().filter(|it| **it == Listen::Stdio);
    match stdio.count() {
        0 | 1 => Ok(places),
        _ => Err("`--listen stdio://` can be given once: there is one standard input".into()),
    }
}

fn certificate(
    files: Option<(PathBuf, PathBuf)>,
    places: &[Listen],
) -> Result<Option<Certificate>, String> {
    let is_used = |it: &Listen| matches!(it, Listen::Secure(_));
    let Some((chain, key)) = files else {
        return Ok(None);
    };
    if !places.iter().any(is_used) {
        return Err("`--tls-cert` needs `--listen wss://IP:PORT`: it protects nothing else".into());
    }
    let loaded = Certificate::load(&chain, &key);
    loaded.map(Some).map_err(|error| error.to_string())
}

/// Serves until the last client is done or a signal comes.
pub fn serve(
    settings: Settings,
    places: &[Listen],
    entrance: Entrance,
    announce: impl FnMut(&Listening),
) -> Result<(), String> {
    heap::keep_few(runtime::WORKERS);
    let runtime = runtime::make()?;
    let logging = Logging::start(&settings.config, None);
    let server = Server::new(settings);
    let served = runtime.block_on(quipu_server::run(server, places, entrance, announce));
    // Reading standard input may hold a thread that nothing can wake.
    runtime.shutdown_background();
    logging.finish();
    served.map_err(|error| error.to_string())
}

/// Prepares the home directory. A mistake in a file is reported to clients and does not keep the server from
/// starting, but one on the command line does.
pub fn load(env: Env, overrides: Overrides) -> Result<Loader, String> {
    let overridden = !overrides.is_empty();
    let config = unchecked(env, overrides)?;
    if overridden {
        config
            .start_up()
            .map_err(|error| format!("error loading default config after config error: {error}"))?;
    }
    Ok(config)
}

/// The configuration of this process, whatever it holds.
pub fn unchecked(env: Env, overrides: Overrides) -> Result<Loader, String> {
    let home = Home::resolve(&env, ProgramName::of_this_process().home())
        .map_err(|error| error.to_string())?;
    let unusable = |error| format!("cannot use {} as home: {error}", home.path().display());
    home.ensure().map_err(unusable)?;
    let home = home.settled().map_err(unusable)?;
    Ok(Loader::new(env, home, overrides))
}

/// The places with a path for every unix socket; one without a path is in the home directory.
fn in_home(mut places: Vec<Listen>, home: &Home) -> Result<Vec<Listen>, String> {
    for place in &mut places {
        if matches!(place, Listen::Unix(path) if path.as_os_str().is_empty()) {
            let path = control_socket(home.path());
            let directory = Path::new(CONTROL_DIRECTORY);
            quipu_disk::private_dirs(home.path(), directory)
                .map_err(|error| format!("cannot create {}: {error}", path.display()))?;
            *place = Listen::Unix(path);
        }
    }
    Ok(places)
}

/// The directory of the socket that `unix://` without a path means.
const CONTROL_DIRECTORY: &str = "app-server-control";

/// The socket that `unix://` without a path means, where clients of the official server look for it.
pub fn control_socket(home: &Path) -> PathBuf {
    home.join(CONTROL_DIRECTORY).join("app-server-control.sock")
}

/// Authentication that protects nothing would be taken for protection.
fn listens_there(has_websocket: bool) -> Result<(), String> {
    match has_websocket {
        true => Ok(()),
        false => Err("`--ws-auth` needs `--listen ws://IP:PORT`: it protects nothing else".into()),
    }
}

fn admission(mut args: AuthArgs, has_websocket: bool) -> Result<Admission, String> {
    let origins = std::mem::take(&mut args.ws_allow_origin);
    if !origins.is_empty() && !has_websocket {
        return Err("`--ws-allow-origin` needs `--listen ws://IP:PORT`".into());
    }
    let auth = auth(args, has_websocket)?;
    Ok(Admission {
        auth,
        origins,
        own_pages: false,
    })
}

fn auth(args: AuthArgs, has_websocket: bool) -> Result<WebSocketAuth, String> {
    let signed_flags = args.ws_shared_secret_file.is_some()
        || args.ws_issuer.is_some()
        || args.ws_audience.is_some()
        || args.ws_max_clock_skew_seconds.is_some();
    let auth = match args.ws_auth {
        None if args.ws_token_file.is_some() || args.ws_token_sha256.is_some() || signed_flags => {
            return Err("websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`".into());
        }
        None => return Ok(WebSocketAuth::None),
        Some(AuthMode::CapabilityToken) if signed_flags => {
            return Err("`--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and `--ws-max-clock-skew-seconds` require `--ws-auth signed-bearer-token`".into());
        }
        Some(AuthMode::CapabilityToken) => {
            let made = match (args.ws_token_file, args.ws_token_sha256) {
                (_, Some(digest)) => WebSocketAuth::capability_token_digest(&digest),
                (Some(file), None) => WebSocketAuth::capability_token(&file),
                (None, None) => {
                    return Err("`--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set".into());
                }
            };
            listens_there(has_websocket)?;
            made
        }
        Some(AuthMode::SignedBearerToken) if args.ws_token_sha256.is_some() => {
            return Err("`--ws-token-sha256` requires `--ws-auth capability-token`, not `signed-bearer-token`".into());
        }
        Some(AuthMode::SignedBearerToken) if args.ws_token_file.is_some() => {
            return Err("`--ws-token-file` requires `--ws-auth capability-token`, not `signed-bearer-token`".into());
        }
        Some(AuthMode::SignedBearerToken) => {
            let file = args.ws_shared_secret_file.ok_or(
                "`--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set",
            )?;
            listens_there(has_websocket)?;
            let skew = args.ws_max_clock_skew_seconds.unwrap_or(CLOCK_SKEW);
            WebSocketAuth::signed_bearer(&file, args.ws_issuer, args.ws_audience, skew)
        }
    };
    auth.map_err(|error| error.to_string())
}
