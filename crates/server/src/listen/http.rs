//! What a socket that speaks HTTP is answered: health probes, the checks before an upgrade, and the
//! websocket after it.

use std::io;
use std::sync::Arc;

use quipu_rpc::http::{Head, HeadLimits, HttpRequest, NoUpgrade, Response, UpgradeError};
use quipu_rpc::site::{Page, Site};
use quipu_rpc::websocket::ByteStream;

use super::admission::SUBPROTOCOL;
use super::{Admission, MESSAGE_LIMIT};
use crate::Server;
use crate::connection::serve_guest;
use crate::metrics;
use crate::peer::Guest;

/// What a listener shows of itself before a client is upgraded.
pub(super) struct Front {
    pub admission: Admission,
    pub site: Option<Arc<dyn Site>>,
}

impl Front {
    /// No page at all, for everyone who can reach the listener.
    pub const PROGRAMS: Front = Front {
        admission: Admission::ALL_PROGRAMS,
        site: None,
    };

    /// The page that a request of an allowed origin asks for. Making it may block.
    fn page(&self, head: &Head) -> Option<Page> {
        let site = self.site.as_ref()?;
        if !self.admission.allows_origin(head) {
            return None;
        }
        let is_admitted = self.admission.check(head).is_ok();
        tokio::task::block_in_place(|| site.answer(head, is_admitted))
    }
}

/// Answers one request, or serves the client once it is upgraded.
pub(super) async fn greet(
    server: Arc<Server>,
    stream: impl ByteStream,
    guest: Guest,
    front: &Front,
) {
    let read = tokio::select! {
        read = HttpRequest::read(stream, HeadLimits::default()) => read,
        why = guest.slot.lost() => {
            return tracing::info!(peer = %guest.peer, reason = %why, "connection dropped");
        }
    };
    let request = match read {
        Ok(request) => request,
        Err(error) => return tracing::debug!(peer = %guest.peer, %error, "invalid HTTP request"),
    };
    let peer = guest.peer.clone();
    if let Err(error) = answer(server, request, guest, front).await {
        tracing::debug!(%peer, %error, "client disconnected before its response");
    }
}

async fn answer(
    server: Arc<Server>,
    request: HttpRequest,
    guest: Guest,
    front: &Front,
) -> io::Result<()> {
    if let Some(page) = front.page(request.head()) {
        return respond(request, &page).await;
    }
    if is_metrics(&server, request.head(), &front.admission) {
        let body = metrics::text(&server).await;
        let headers = [("content-type", "text/plain; version=0.0.4")];
        return request
            .respond(Response {
                status: 200,
                headers: &headers,
                body: &body,
            })
            .await;
    }
    if is_probe(request.head())
        && front.admission.allows_origin(request.head())
        && !metrics::responds(&server).await
    {
        return request.respond(Answer::status(503).response()).await;
    }
    let answer = plain_answer(request.head(), &front.admission);
    if let Some(answer) = answer.filter(|it| it.status != 401 || !is_node(&server, request.head()))
    {
        if answer.status == 401 {
            let reason = &answer.body;
            tracing::warn!(peer = %guest.peer, reason, "authentication failed");
        }
        return request.respond(answer.response()).await;
    }
    match request.upgrade(MESSAGE_LIMIT, &[SUBPROTOCOL]).await {
        Ok(connection) => {
            serve_guest(server, connection, guest).await;
            Ok(())
        }
        Err(UpgradeError::Unsuitable { request, why }) => {
            request.respond(Answer::from(why).response()).await
        }
        Err(UpgradeError::Io(error)) => Err(error),
    }
}

/// Whether a request comes from another node on the same database.
fn is_node(server: &Server, head: &Head) -> bool {
    let nodes = server.nodes.as_ref();
    nodes.is_some_and(|nodes| nodes.admits(head.header("authorization")))
}

/// Whether an admitted request asks for the metrics, where they are served.
fn is_metrics(server: &Server, head: &Head, admission: &Admission) -> bool {
    server.settings.metrics
        && head.method == "GET"
        && head.path == "/metrics"
        && admission.allows_origin(head)
        && admission.check(head).is_ok()
}

fn is_probe(head: &Head) -> bool {
    matches!(head.path.as_str(), "/readyz" | "/healthz")
}

async fn respond(request: HttpRequest, page: &Page) -> io::Result<()> {
    let headers = page.headers();
    request.respond(page.response(&headers)).await
}

/// An answer other than an upgrade.
struct Answer {
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: String,
}

impl Answer {
    fn status(status: u16) -> Answer {
        Answer {
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

impl From<NoUpgrade> for Answer {
    fn from(why: NoUpgrade) -> Answer {
        Answer {
            body: why.to_string(),
            ..Answer::status(why.status())
        }
    }
}

/// Pages that are not allowed are turned away first, probes are answered without credentials, then credentials decide.
fn plain_answer(head: &Head, admission: &Admission) -> Option<Answer> {
    if !admission.allows_origin(head) {
        return Some(Answer::status(403));
    }
    if is_probe(head) {
        return Some(match head.method.as_str() {
            "GET" | "HEAD" => Answer::status(200),
            _ => Answer {
                headers: &[("allow", "GET,HEAD")],
                ..Answer::status(405)
            },
        });
    }
    if let Err(why) = head.upgrade_key() {
        return Some(why.into());
    }
    let refused = admission.check(head).err()?;
    Some(Answer {
        body: refused.to_owned(),
        ..Answer::status(401)
    })
}
