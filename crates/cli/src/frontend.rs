//! The server that a front end (chat, editor, MCP) talks to: one in this process, or one that is running elsewhere. A front
//! end is a client of the protocol and does not see the difference.

use std::path::PathBuf;
use std::sync::Arc;

use quipu_client::{Connect, Options};
use quipu_config::{Env, Overrides};
use quipu_embed::Embedded;

use crate::args::{ConfigArgs, RemoteArgs};
use crate::cmd::app_server;
use crate::logging::Logging;
use crate::runtime;

/// A way to the server, and what a front end needs to know about it.
pub struct Server {
    pub connect: Connect,
    /// The directory in which this process was started, if the server shares its file system.
    pub base: Option<PathBuf>,
    /// The home directory of this process.
    pub home: PathBuf,
}

/// Finds the server, does the work, and ends the server if it is ours. What the front end shows itself is `quiet` in
/// the log.
pub fn with_server<T>(
    remote: &RemoteArgs,
    config: &[&ConfigArgs],
    quiet: Option<&str>,
    work: impl AsyncFnOnce(Server) -> Result<T, String>,
) -> Result<T, String> {
    let mut overrides = Overrides::default();
    for config in config {
        config.add_to(&mut overrides)?;
    }
    let connect = match &remote.remote {
        Some(_) if !overrides.is_empty() => {
            return Err("`-c`, `--enable` and `--disable` have no effect on a server that is running; give them to that server".into());
        }
        Some(url) => Some(to_remote(url, remote.remote_auth_token_env.as_deref())?),
        None => None,
    };
    let config = app_server::load(Env::from_process(), overrides)?;
    let runtime = runtime::make()?;
    let logging = Logging::start(&config, quiet);
    let home = config.home().path().to_owned();
    let done = runtime.block_on(async {
        let Some(connect) = connect else {
            let mut settings = quipu_embed::settings(config);
            settings.needs_model = true;
            let server = Embedded::with(settings);
            let local = server.clone();
            let base = std::env::current_dir().ok();
            let connect: Connect = Arc::new(move || local.options());
            let done = work(Server {
                connect,
                base,
                home,
            })
            .await;
            server.stop().await;
            return done;
        };
        work(Server {
            connect,
            base: None,
            home,
        })
        .await
    });
    // Reading standard input may hold a thread that nothing can wake.
    runtime.shutdown_background();
    logging.finish();
    done
}

/// How to reach a server at this address.
fn to_remote(url: &str, token_variable: Option<&str>) -> Result<Connect, String> {
    let token = match token_variable {
        None => None,
        Some(name) => {
            let value = std::env::var(name).ok().filter(|it| !it.trim().is_empty());
            let missing = || format!("the environment variable `{name}` has no token");
            Some(value.ok_or_else(missing)?.trim().to_owned())
        }
    };
    if let Some(path) = url.strip_prefix("unix://") {
        let path = PathBuf::from(path);
        return Ok(Arc::new(move || Options::unix(&path)));
    }
    if !url.starts_with("ws://") && !url.starts_with("wss://") {
        return Err(format!(
            "`--remote {url}` is not the address of a server; use `ws://HOST:PORT`, `wss://HOST:PORT` or \
             `unix://PATH`"
        ));
    }
    let url = url.to_owned();
    Ok(Arc::new(move || {
        let options = Options::websocket(&url);
        match &token {
            Some(token) => options.bearer_token(token),
            None => options,
        }
    }))
}
