//! A scripted model over real HTTP on loopback. It speaks Responses, Chat Completions and Anthropic
//! Messages by the path of the request, plays the same scripts as the offline model, and breaks in
//! the ways real servers break. Steps come from a queue that the test fills, else from the prompt.

mod anthropic;
mod chat;
mod gate;
mod http;
mod prompt;
mod socket;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use quipu_model::WireApi;
use quipu_model::play::{Ending, Player};
use quipu_model::script::Step;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::http::Request;
use gate::Stopped;
pub use gate::{Gate, Stop, Then};
pub use socket::Sockets;

/// Where servers are asked about models, besides their list.
const LOOKUPS: [&str; 3] = ["/props", "/api/v0/models", "/api/show"];
/// The window of every model, unless a test says otherwise.
const WINDOW: u64 = 272_000;

/// A request that the server received.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The path and query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; `null` when it is no JSON.
    pub body: Value,
    /// Which connection it came over, from 1.
    pub connection: u64,
}

/// A model server that lives as long as this value.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

impl ModelServer {
    /// Starts a server on a free port.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::new(true));
        let task = tokio::spawn(http::accept(listener, Arc::clone(&state)));
        Ok(Self {
            address,
            state,
            task,
        })
    }

    /// The `base_url` for a provider's settings.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Answers the next request that has no earlier step waiting.
    pub fn queue(&self, step: Step) {
        self.state.queue.lock().push_back((step, None));
    }

    /// The same with an answer that stops until the gate is opened. Only answers in the Responses
    /// format can stop in the middle.
    pub fn queue_gated(&self, step: Step, stop: Stop) -> Gate {
        let (gate, stopped) = Stopped::new(stop);
        self.state.queue.lock().push_back((step, Some(stopped)));
        gate
    }

    /// Forgets the answers that were not asked for.
    pub fn clear(&self) {
        self.state.queue.lock().clear();
    }

    /// The same with the step as JSON, in the script format.
    ///
    /// # Panics
    /// When the JSON is no step: the test is wrong.
    pub fn queue_json(&self, step: Value) {
        match serde_json::from_value(step) {
            Ok(step) => self.queue(step),
            Err(error) => panic!("not a step: {error}"),
        }
    }

    /// What `GET /models` answers.
    pub fn set_models(&self, body: Value) {
        *self.state.models.lock() = body.to_string();
    }

    /// The same with the version of the list.
    pub fn set_models_with_etag(&self, body: Value, etag: &str) {
        self.set_models(body);
        *self.state.models_etag.lock() = Some(etag.to_owned());
    }

    /// What another path answers, such as `/props`; nothing is there when the body is `null`.
    pub fn set_page(&self, path: &str, body: Value) {
        self.state.pages.lock().insert(path.to_owned(), body);
    }

    /// What `POST /responses/compact` answers.
    pub fn set_compacted(&self, body: Value) {
        *self.state.compacted.lock() = body.to_string();
    }

    /// What becomes of websockets. Unless a test says so, there are none.
    pub fn set_sockets(&self, sockets: Sockets) {
        *self.state.sockets.lock() = sockets;
    }

    /// The requests for answers so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state.requests.lock().clone()
    }

    /// The paths of the other requests so far, which ask what models there are and what they can do.
    pub fn lookups(&self) -> Vec<String> {
        self.state.lookups.lock().clone()
    }

    /// Waits until so many requests have come.
    pub async fn received(&self, count: u64) {
        wait_for(&self.state.received, count).await;
    }

    /// Waits until so many clients have gone away in the middle of an answer.
    pub async fn abandoned(&self, count: u64) {
        wait_for(&self.state.abandoned, count).await;
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves scripts from prompts until the listener breaks. For programs that need a model for long:
/// requests are not recorded.
pub async fn serve(listener: TcpListener) {
    http::accept(listener, Arc::new(State::new(false))).await;
}

async fn wait_for(counter: &watch::Sender<u64>, count: u64) {
    // The sender lives as long as the server, so waiting cannot fail.
    drop(counter.subscribe().wait_for(|seen| *seen >= count).await);
}

#[derive(Debug)]
struct State {
    keeps_requests: bool,
    queue: Mutex<VecDeque<(Step, Option<Stopped>)>>,
    requests: Mutex<Vec<Recorded>>,
    lookups: Mutex<Vec<String>>,
    models: Mutex<String>,
    models_etag: Mutex<Option<String>>,
    pages: Mutex<BTreeMap<String, Value>>,
    compacted: Mutex<String>,
    sockets: Mutex<Sockets>,
    /// How often the same request was seen, by its hash.
    attempts: Mutex<HashMap<u64, u32>>,
    received: watch::Sender<u64>,
    abandoned: watch::Sender<u64>,
    answers: AtomicU64,
    connections: AtomicU64,
}

/// What a request gets.
enum Reply {
    Json {
        status: u16,
        headers: BTreeMap<String, String>,
        body: String,
    },
    Stream {
        headers: BTreeMap<String, String>,
        player: Player,
        drips: bool,
        stopped: Option<Stopped>,
    },
    /// The connection breaks at once.
    Cut,
    /// Nothing comes, for ever.
    Silence,
}

impl State {
    fn new(keeps_requests: bool) -> Self {
        Self {
            keeps_requests,
            queue: Mutex::default(),
            requests: Mutex::default(),
            lookups: Mutex::default(),
            models_etag: Mutex::default(),
            pages: Mutex::new(BTreeMap::from([("/props".to_owned(), window(WINDOW))])),
            models: Mutex::new(json!({"object": "list", "data": []}).to_string()),
            compacted: Mutex::new(json!({"output": []}).to_string()),
            sockets: Mutex::default(),
            attempts: Mutex::default(),
            received: watch::Sender::new(0),
            abandoned: watch::Sender::new(0),
            answers: AtomicU64::new(0),
            connections: AtomicU64::new(0),
        }
    }

    fn record(&self, request: &Request, body: &Value, connection: u64) {
        if self.keeps_requests {
            self.requests.lock().push(Recorded {
                path: request.path.clone(),
                headers: request.headers.clone(),
                body: body.clone(),
                connection,
            });
        }
        self.received.send_modify(|count| *count += 1);
    }

    /// How many times this very request came before.
    fn attempt(&self, request: &Request) -> u32 {
        let mut hasher = DefaultHasher::new();
        (&request.path, &request.body).hash(&mut hasher);
        let mut attempts = self.attempts.lock();
        // A long-lived server must not remember for ever.
        if attempts.len() > 10_000 {
            attempts.clear();
        }
        let count = attempts.entry(hasher.finish()).or_default();
        *count += 1;
        *count - 1
    }

    async fn reply(&self, request: &Request, connection: u64) -> Reply {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let path = request.path.split('?').next().unwrap_or_default();
        if let Some(lookup) = self.lookup(path) {
            return lookup;
        }
        self.record(request, &body, connection);
        let wire = if path.ends_with("/responses") {
            WireApi::Responses
        } else if path.ends_with("/chat/completions") {
            WireApi::Chat
        } else if path.ends_with("/messages") {
            WireApi::Anthropic
        } else {
            return self.plain(path);
        };
        let queued = self.queue.lock().pop_front();
        let (step, attempt, stopped) = match queued {
            Some((step, stopped)) => (step, 0, stopped),
            None => (prompt::step(wire, &body), self.attempt(request), None),
        };
        let stopped = match stopped {
            Some(stopped) if stopped.stop == Stop::BeforeAnswer => {
                if let Some(reply) = instead(stopped.wait().await) {
                    return reply;
                }
                None
            }
            stopped => stopped,
        };
        // Even an empty sleep takes a tick of the timer.
        if !step.first_wait().is_zero() {
            tokio::time::sleep(step.first_wait()).await;
        }
        if let Some(status) = step.failure(attempt) {
            let headers = step.headers.clone();
            return Reply::Json {
                status,
                headers,
                body: step.failure_body(),
            };
        }
        let id = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
        let headers = step.headers.clone();
        let drips = step.drip.is_some();
        Reply::Stream {
            headers,
            player: player(wire, step, &id.to_string(), attempt),
            drips,
            stopped,
        }
    }

    fn plain(&self, path: &str) -> Reply {
        match path.ends_with("/responses/compact") {
            true => page(Some(self.compacted.lock().clone())),
            false => page(None),
        }
    }

    /// What a request gets that asks for facts about models.
    fn lookup(&self, path: &str) -> Option<Reply> {
        // What comes through a proxy names the whole address.
        let page_of = LOOKUPS.into_iter().find(|it| path.ends_with(it));
        if page_of.is_none() && !path.ends_with("/models") {
            return None;
        }
        if self.keeps_requests {
            self.lookups.lock().push(path.to_owned());
        }
        let Some(path) = page_of else {
            let etag = self.models_etag.lock().clone();
            let etag = etag.map(|etag| ("etag".to_owned(), etag));
            return Some(Reply::Json {
                status: 200,
                headers: etag.into_iter().collect(),
                body: self.models.lock().clone(),
            });
        };
        let pages = self.pages.lock();
        let found = pages.get(path).filter(|body| !body.is_null());
        Some(page(found.map(Value::to_string)))
    }
}

/// What llama.cpp says of its window, for every model.
fn window(tokens: u64) -> Value {
    json!({ "default_generation_settings": { "n_ctx": tokens } })
}

fn page(body: Option<String>) -> Reply {
    let none = || json!({"error": {"message": "no such path"}}).to_string();
    Reply::Json {
        status: if body.is_some() { 200 } else { 404 },
        headers: BTreeMap::new(),
        body: body.unwrap_or_else(none),
    }
}

/// What a request gets instead of its answer.
fn instead(then: Then) -> Option<Reply> {
    let page = |status, content: &str, body: String| Reply::Json {
        status,
        headers: BTreeMap::from([("content-type".to_owned(), content.to_owned())]),
        body,
    };
    Some(match then {
        Then::Finish => return None,
        Then::Cut => Reply::Cut,
        Then::Stall => Reply::Silence,
        Then::Garbage => page(
            200,
            "text/event-stream",
            String::from_utf8_lossy(then.bytes()).into_owned(),
        ),
        Then::Fail => page(500, "application/json", Step::default().failure_body()),
        Then::Html => page(200, "text/html", gate::PAGE.to_owned()),
    })
}

fn player(wire: WireApi, step: Step, id: &str, attempt: u32) -> Player {
    let ending = Ending::of(&step, attempt);
    match wire {
        WireApi::Responses | WireApi::Offline => Player::new(step, id, attempt),
        WireApi::Chat => Player::from_frames(chat::frames(step, id, ending), ending),
        WireApi::Anthropic => Player::from_frames(anthropic::frames(step, id, ending), ending),
    }
}
