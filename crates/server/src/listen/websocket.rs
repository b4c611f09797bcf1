//! The websocket listener: health probes, the checks before an upgrade, and the clients after it.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::sync::Arc;

use quipu_rpc::OnFull;
use quipu_rpc::http::{HeadLimits, HttpRequest, Response, UpgradeError};
use tokio::net::{TcpListener, TcpStream};

use super::{ListenError, MESSAGE_LIMIT, WebSocketAuth, stop};
use crate::{Server, serve};

/// Serves clients of a port until the server stops.
pub(super) async fn run(
    server: Arc<Server>,
    address: SocketAddr,
    auth: WebSocketAuth,
) -> Result<(), ListenError> {
    if !address.ip().is_loopback() && auth == WebSocketAuth::None {
        return Err(ListenError::OpenToTheNetwork(address));
    }
    let bind_error = |source| ListenError::Bind {
        place: format!("ws://{address}"),
        source,
    };
    let listener = TcpListener::bind(address).await.map_err(bind_error)?;
    let address = listener.local_addr().map_err(bind_error)?;
    banner(address);
    let auth = Arc::new(auth);
    let accepting = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    tokio::spawn(greet(Arc::clone(&server), stream, Arc::clone(&auth)));
                }
                Err(error) => tracing::error!(%error, "accepting a client failed"),
            }
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop::on_signal(&server) => {}
    }
    Ok(())
}

/// Says on standard error where to connect; tools read the addresses from it.
fn banner(address: SocketAddr) {
    let note = if address.ip().is_loopback() {
        "binds localhost only (use SSH port-forwarding for remote access)"
    } else {
        "every client must present its credential as `Authorization: Bearer TOKEN`"
    };
    let (bold, plain) = if std::io::stderr().is_terminal() {
        ("\x1b[1m", "\x1b[0m")
    } else {
        ("", "")
    };
    eprintln!(
        "{bold}codex app-server (WebSockets){plain}\n  listening on: ws://{address}\n  readyz: \
         http://{address}/readyz\n  healthz: http://{address}/healthz\n  note: {note}"
    );
}

async fn greet(server: Arc<Server>, stream: TcpStream, auth: Arc<WebSocketAuth>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a client's socket keeps its delay");
    }
    let request = match HttpRequest::read(stream, HeadLimits::default()).await {
        Ok(request) => request,
        Err(error) => {
            tracing::debug!(%error, "a client sent no request");
            return;
        }
    };
    let answered = match refusal(&request, &auth) {
        Some(refusal) => request.respond(refusal.response()).await,
        None => match request.upgrade(MESSAGE_LIMIT).await {
            Ok(connection) => {
                serve(server, connection, OnFull::Disconnect).await;
                Ok(())
            }
            Err(UpgradeError::Unsuitable { request, why }) => {
                let body = why.to_string();
                request
                    .respond(Response {
                        status: why.status(),
                        headers: &[],
                        body: &body,
                    })
                    .await
            }
            Err(UpgradeError::Io(error)) => Err(error),
        },
    };
    if let Err(error) = answered {
        tracing::debug!(%error, "a client left before its answer");
    }
}

/// What is answered instead of an upgrade.
struct Refusal {
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: String,
}

impl Refusal {
    fn status(status: u16) -> Refusal {
        Refusal {
            status,
            headers: &[],
            body: String::new(),
        }
    }

    fn response(&self) -> Response<'_> {
        Response {
            status: self.status,
            headers: self.headers,
            body: &self.body,
        }
    }
}

/// Browsers are turned away first, probes are answered without credentials, then credentials decide.
fn refusal(request: &HttpRequest, auth: &WebSocketAuth) -> Option<Refusal> {
    let head = request.head();
    if head.header("origin").is_some() {
        return Some(Refusal::status(403));
    }
    if matches!(head.path.as_str(), "/readyz" | "/healthz") {
        return Some(match head.method.as_str() {
            "GET" | "HEAD" => Refusal::status(200),
            _ => Refusal {
                status: 405,
                headers: &[("allow", "GET,HEAD")],
                body: String::new(),
            },
        });
    }
    if let Err(why) = head.upgrade_key() {
        return Some(Refusal {
            status: why.status(),
            headers: &[],
            body: why.to_string(),
        });
    }
    let refused = auth.check(head.header("authorization")).err()?;
    Some(Refusal {
        status: 401,
        headers: &[],
        body: refused.to_owned(),
    })
}
