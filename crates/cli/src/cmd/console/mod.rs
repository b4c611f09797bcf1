//! `quipu console`: a server on this machine and the page in the browser that talks to it. The page is an ordinary
//! client; what is special is how it gets its token, by a code in the address that is good once.

mod address;
mod browser;
mod place;
mod runners;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;

use quipu_config::{Env, Loader};
use quipu_console::{Codes, Console, secret};
use quipu_rpc::site::Site;
use quipu_server::{Admission, Entrance, Listen, Listening, WebSocketAuth};

use super::app_server;
use crate::args::{ConfigArgs, ConsoleArgs};
use address::Address;
use place::Place;

pub fn run(args: ConsoleArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    if let Some(url) = &args.remote {
        let address: Address = url.parse()?;
        address.check()?;
        show(&address.page(None), args.no_open);
        return Ok(ExitCode::SUCCESS);
    }
    let overrides = common.overrides(&args.config)?;
    let config = app_server::load(Env::from_process(), overrides)?;
    let home = config.home().path().to_owned();
    let known = Place::read(&home)?;
    let asked_for = |place: &&Place| args.port.is_none_or(|port| port == place.port);
    if let Some(place) = known.as_ref().filter(asked_for)
        && let Some(code) = place.address().code(&place.token)
    {
        eprintln!("joining the console that is running");
        show(&place.address().page(Some(&code)), args.no_open);
        return Ok(ExitCode::SUCCESS);
    }
    serve(config, &args, known)
}

/// Starts a server. It keeps token and port of the last one, so that pages that are still open find it again.
fn serve(config: Loader, args: &ConsoleArgs, known: Option<Place>) -> Result<ExitCode, String> {
    let home = config.home().path().to_owned();
    let last = known.as_ref().map_or(0, |it| it.port);
    let wanted = args
        .port
        .unwrap_or_else(|| if is_free(last) { last } else { 0 });
    let token = match known {
        Some(place) => place.token,
        None => secret().map_err(|error| error.to_string())?,
    };
    let codes = Arc::new(Codes::default());
    let code = codes.issue().map_err(|error| error.to_string())?;
    let admission = Admission {
        auth: WebSocketAuth::token(&token),
        origins: Vec::new(),
        own_pages: true,
    };
    let console = Console::with_codes(token.clone(), codes);
    let site = site(console, &config);
    let listen = Listen::WebSocket(SocketAddr::from((Ipv4Addr::LOCALHOST, wanted)));
    let settings = quipu_embed::settings(config);
    let entrance = Entrance {
        admission,
        site: Some(site),
        certificate: None,
    };
    app_server::serve(settings, &[listen], entrance, |listening| {
        let Listening::WebSocket(address) = listening else {
            return;
        };
        let place = Place {
            port: address.port(),
            token: token.clone(),
        };
        if let Err(error) = place.write(&home) {
            eprintln!("a second `quipu console` will not find this one: {error}");
        }
        show(&place.address().page(Some(&code)), args.no_open);
        eprintln!("The address works once. Stop with Ctrl-C.");
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The page with the runners of this user.
pub fn site(console: Console, config: &Loader) -> Arc<dyn Site> {
    let runners = runners::Local::new(config.home().path());
    Arc::new(console.with_runners(Box::new(runners)))
}

fn show(page: &str, no_open: bool) {
    eprintln!("console: {page}");
    if !no_open && let Err(error) = browser::open(page) {
        eprintln!("open the address in a browser of this machine; none could be started: {error}");
    }
}

fn is_free(port: u16) -> bool {
    port != 0 && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
