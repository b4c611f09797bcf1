//! Several servers on one database. A thread is run by the node that has its lease; a request about a thread that another
//! node runs is passed on to that node, over the same protocol, and what comes back is passed on to the client.
//!
//! Nothing here is in the way of a server whose threads are in its home.

mod upstream;
mod watch;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use quipu_config::settings::StoreAddress;
use quipu_postgres::{Owner, Postgres};
use quipu_rpc::{CloseCode, ErrorObject, Request};
use quipu_wire::method::{Method as _, request};
use serde::Deserialize;
use uuid::Uuid;

use crate::hub::ClientId;
use crate::lanes::Key;
use crate::listen::WebSocketAuth;
use crate::{Cx, Refusal, router};
use upstream::{Unopened, Upstream};
pub(crate) use watch::watch;

/// How long a thread whose node is gone may wait for another one to look for it, at most.
const MAX_LOOK: Duration = Duration::from_secs(2);

/// The other nodes, as this one knows them.
pub(crate) struct Nodes {
    database: Arc<Postgres>,
    /// What nodes present to each other.
    secret: Option<String>,
    /// The connections of clients to other nodes. They live as long as their clients.
    upstreams: Mutex<HashMap<(ClientId, Uuid), Slot>>,
    /// How often it is looked for threads whose node is gone.
    look: Duration,
}

/// One connection, which those that need it wait for while it is made.
type Slot = Arc<tokio::sync::Mutex<Weak<Upstream>>>;

/// What says which thread a request is about.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    thread_id: Option<String>,
    idempotency_key: Option<String>,
}

/// What a request is about.
enum Subject {
    Thread(Uuid),
    /// The thread that it makes, or made when it was sent before with this key, and the one that it copies.
    Made(String, Option<Uuid>),
}

impl Nodes {
    pub fn new(database: Arc<Postgres>, settings: &StoreAddress) -> Nodes {
        let look = Duration::from_secs(settings.lease_seconds) / 5;
        Nodes {
            database,
            secret: settings.node_secret.clone(),
            upstreams: Mutex::default(),
            look: look.min(MAX_LOOK),
        }
    }

    /// Whether an `Authorization` header is that of another node.
    pub fn admits(&self, header: Option<&[u8]>) -> bool {
        let secret = self.secret.as_deref();
        secret.is_some_and(|secret| WebSocketAuth::token(secret).check(header).is_ok())
    }

    /// Forgets a connection that has ended.
    fn forget(&self, client: ClientId, node: Uuid) {
        self.upstreams.lock().remove(&(client, node));
    }

    /// The connection of a client to another node, made if there is none.
    async fn upstream(&self, cx: &Cx, owner: &Owner) -> Result<Arc<Upstream>, Unopened> {
        let key = (cx.client.id, owner.node);
        let slot = Arc::clone(self.upstreams.lock().entry(key).or_default());
        let mut known = slot.lock().await;
        if let Some(upstream) = known.upgrade() {
            return Ok(upstream);
        }
        let opened = Upstream::open(cx, owner, self.secret.as_deref()).await;
        let upstream = opened.inspect_err(|error| {
            tracing::warn!(node = %owner.node, address = owner.address, %error, "node cannot be reached");
            self.forget(cx.client.id, owner.node);
        })?;
        *known = Arc::downgrade(&upstream);
        Ok(upstream)
    }
}

/// Gives a request to its handler here, or to the node that runs its thread. Requests about one thread keep their order.
pub(crate) async fn route(cx: Cx, request: Request) {
    if is_for_another(&cx, &request) {
        // It has not acted, and the client repeats it where it connects next.
        return cx.client.outbox.close(CloseCode::TRY_AGAIN);
    }
    match about(&cx, &request) {
        Some(subject) => {
            let lanes = cx.server.lanes.clone();
            let key = match &subject {
                Subject::Thread(thread) => thread.to_string(),
                Subject::Made(key, _) => key.clone(),
            };
            lanes.run(Key::Owner(key), Box::pin(decide(cx, request, subject)));
        }
        None => router::route(cx, request).await,
    }
}

/// Whether a request would begin something on a node that is leaving, and its client knows how to go on elsewhere.
fn is_for_another(cx: &Cx, request: &Request) -> bool {
    let begins = [
        request::ThreadStart::NAME,
        request::ThreadResume::NAME,
        request::ThreadFork::NAME,
        request::TurnStart::NAME,
    ];
    cx.server.stopping.load(Ordering::Relaxed)
        && begins.contains(&request.method.as_str())
        && cx.client.wants_numbers()
        && cx.server.nodes.is_some()
}

/// What a request is about, if another node may have it.
fn about(cx: &Cx, request: &Request) -> Option<Subject> {
    cx.client.introduction()?;
    cx.server.nodes.as_ref()?;
    let about: About = serde_json::from_slice(request.params.as_ref()?.as_bytes()).ok()?;
    let makes = [request::ThreadStart::NAME, request::ThreadFork::NAME];
    let thread = about.thread_id.and_then(|id| Uuid::parse_str(&id).ok());
    match about.idempotency_key {
        Some(key) if makes.contains(&request.method.as_str()) => Some(Subject::Made(key, thread)),
        _ => thread.map(Subject::Thread),
    }
}

/// The thread that a request is about; none if nothing is known of it.
fn thread_of(nodes: &Nodes, subject: Subject) -> quipu_journal::Result<Option<Uuid>> {
    match subject {
        Subject::Thread(thread) => Ok(Some(thread)),
        Subject::Made(key, copied) => {
            let made = tokio::task::block_in_place(|| nodes.database.made_by(&key))?;
            let made = made.and_then(|made| Uuid::parse_str(&made).ok());
            Ok(made.or(copied))
        }
    }
}

async fn decide(cx: Cx, request: Request, subject: Subject) {
    let found = cx.server.nodes.as_ref();
    let found = found.map_or(Ok(None), |nodes| thread_of(nodes, subject));
    let thread = match found {
        Ok(Some(thread)) => thread,
        Ok(None) => return router::route(cx, request).await,
        Err(error) => {
            let text = format!("failed to find the node of the thread: {error}");
            let error = ErrorObject::from(Refusal::internal(text));
            return router::refuse(&cx, request.id, &error).await;
        }
    };
    let (server, id) = (Arc::clone(&cx.server), request.id.clone());
    let is_here = server.threads.get(&thread.to_string()).is_some();
    let Some(nodes) = server.nodes.as_ref().filter(|_| !is_here) else {
        return router::route(cx, request).await;
    };
    let refusal = match tokio::task::block_in_place(|| nodes.database.owner(thread)) {
        Ok(None) => return router::route(cx, request).await,
        Ok(Some(owner)) => match nodes.upstream(&cx, &owner).await {
            Ok(upstream) => match upstream.pass_on(&cx, request).await {
                Ok(()) => return,
                Err(refusal) => refusal,
            },
            // If it is dead, this node takes the thread over as soon as that is certain.
            Err(Unopened::Gone(_)) => return router::route(cx, request).await,
            Err(error @ Unopened::Refused(_)) => Refusal::internal(format!(
                "the node that runs the thread cannot be reached: {error}"
            )),
        },
        Err(error) => Refusal::internal(format!("failed to find the node of the thread: {error}")),
    };
    router::refuse(&cx, id, &ErrorObject::from(refusal)).await;
}
