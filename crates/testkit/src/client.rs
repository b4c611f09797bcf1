//! A scripted client: it asks, is asked, and takes what the server says in the order the test wants to
//! see it. What the test did not take fails it, so that nothing unexpected passes unseen.
//!
//! Every wait is bounded and ends in a panic that tells what had come instead.

use std::collections::{HashSet, VecDeque};
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

use quipu_rpc::{
    Call, CallError, CloseReason, Connection, ErrorObject, Event, Inbox, IncomingRequest, Peer,
    PeerOptions, RawJson, Responder,
};
use quipu_wire::method::{ClientMethod, Method, Notification, request};
use quipu_wire::{ClientInfo, InitializeCapabilities, InitializeParams};
use serde::Serialize;
use serde_json::Value;

/// How long a server may take for anything.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// One connected client.
pub struct Client {
    peer: Peer,
    inbox: Inbox,
    /// What came and was not taken yet.
    arrived: VecDeque<Event>,
    ignored: HashSet<String>,
}

impl Client {
    /// A client that has not said anything yet.
    pub fn connect(connection: Connection) -> Client {
        let (peer, inbox) = Peer::start(connection, PeerOptions::default());
        Client {
            peer,
            inbox,
            arrived: VecDeque::new(),
            ignored: HashSet::new(),
        }
    }

    /// A client that has introduced itself, experimental API included.
    pub async fn start(connection: Connection) -> Client {
        let client = Client::connect(connection);
        let answer = client
            .call::<request::Initialize>(&hello("testkit", true))
            .await;
        answer.expect("a client may introduce itself");
        client.notify("initialized");
        client
    }

    /// Sends a notification without params.
    pub fn notify(&self, method: &str) {
        let sent = self.peer.notify(method, &serde_json::json!({}));
        sent.expect("a notification can be sent");
    }

    /// Asks and waits for the answer.
    pub async fn call<M: ClientMethod>(
        &self,
        params: &M::Params,
    ) -> Result<M::Result, ErrorObject> {
        self.ask::<M>(params).answer().await
    }

    /// Asks now; the answer can be awaited later.
    pub fn ask<M: ClientMethod>(&self, params: &M::Params) -> Asked<M> {
        Asked {
            call: self.peer.call(M::NAME, params),
            method: PhantomData,
        }
    }

    /// Asks with a method and params that need not be of the protocol.
    pub async fn call_raw(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<Value, ErrorObject> {
        let answer = outcome(method, self.peer.call(method, params)).await?;
        Ok(answer.decode().expect("a result is JSON"))
    }

    /// Does not expect notifications of these methods, whether they come or not.
    pub fn ignore(&mut self, methods: &[&str]) {
        self.ignored
            .extend(methods.iter().map(|it| (*it).to_owned()));
        self.arrived.retain(|event| !is_among(event, &self.ignored));
    }

    /// Takes the next notification of a method; what came before it stays to be taken.
    pub async fn notified<N: Notification>(&mut self) -> N::Params {
        let event = self.take(N::NAME).await;
        let Event::Notification(notification) = event else {
            panic!("{} came as a request", N::NAME);
        };
        decode(N::NAME, notification.params.as_ref())
    }

    /// Takes the next request of a method; what came before it stays to be taken.
    pub async fn asked<M: Method>(&mut self) -> Question<M> {
        let event = self.take(M::NAME).await;
        let Event::Request(IncomingRequest {
            params, responder, ..
        }) = event
        else {
            panic!("{} came as a notification", M::NAME);
        };
        Question {
            params: decode(M::NAME, params.as_ref()),
            responder,
        }
    }

    /// Takes whatever comes next, in order.
    pub async fn next(&mut self) -> Event {
        match self.arrived.pop_front() {
            Some(event) => event,
            None => self.receive("anything").await,
        }
    }

    async fn take(&mut self, method: &str) -> Event {
        if let Some(index) = self.arrived.iter().position(|it| name(it) == method) {
            return self
                .arrived
                .remove(index)
                .expect("the index was just found");
        }
        loop {
            let event = self.receive(method).await;
            if name(&event) == method {
                return event;
            }
            self.arrived.push_back(event);
        }
    }

    async fn receive(&mut self, wanted: &str) -> Event {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.inbox.next()).await;
            let Ok(Some(event)) = next else {
                let came: Vec<_> = self.arrived.iter().map(name).collect();
                let how = if next.is_err() {
                    "did not come"
                } else {
                    "cannot come any more"
                };
                panic!("{wanted} {how}; not taken: {came:?}");
            };
            if !is_among(&event, &self.ignored) {
                return event;
            }
        }
    }

    /// Waits until the server has ended the connection.
    pub async fn closed(&self) -> CloseReason {
        within("the end of the connection", self.peer.closed()).await
    }

    /// Leaves, and panics if the server said anything that was not taken.
    pub async fn finish(mut self) {
        self.peer.close();
        while let Some(event) = within("the end of the connection", self.inbox.next()).await {
            if !is_among(&event, &self.ignored) {
                self.arrived.push_back(event);
            }
        }
        let left: Vec<_> = self.arrived.iter().map(name).collect();
        assert!(left.is_empty(), "not taken: {left:?}");
    }
}

/// What a client says of itself.
pub fn hello(name: &str, experimental: bool) -> InitializeParams {
    InitializeParams {
        client_info: ClientInfo {
            name: name.to_owned(),
            title: None,
            version: "1.0".to_owned(),
        },
        capabilities: Some(InitializeCapabilities {
            experimental_api: experimental,
            opt_out_notification_methods: None,
            quipu: None,
        }),
    }
}

/// A request on its way.
pub struct Asked<M> {
    call: Call,
    method: PhantomData<fn() -> M>,
}

impl<M: Method> Asked<M> {
    /// Waits for the answer.
    pub async fn answer(self) -> Result<M::Result, ErrorObject> {
        let result = outcome(M::NAME, self.call).await?;
        Ok(decode(M::NAME, Some(&result)))
    }
}

/// A request of the server that waits for the test's answer.
pub struct Question<M: Method> {
    pub params: M::Params,
    responder: Responder,
}

impl<M: Method> Question<M> {
    /// The id, which `serverRequest/resolved` repeats.
    pub fn id(&self) -> &quipu_rpc::Id {
        self.responder.id()
    }

    pub async fn answer(self, result: &M::Result) {
        self.answer_raw(result).await;
    }

    /// Answers with something that need not be of the protocol.
    pub async fn answer_raw(self, result: &(impl Serialize + ?Sized)) {
        let sent = self.responder.result(result).await;
        sent.expect("the server is there to be answered");
    }

    pub async fn refuse(self, error: &ErrorObject) {
        let sent = self.responder.error(error).await;
        sent.expect("the server is there to be answered");
    }
}

async fn outcome(method: &str, call: Call) -> Result<RawJson, ErrorObject> {
    match call.within(PATIENCE).await {
        Ok(result) => Ok(result),
        Err(CallError::Rejected(error)) => Err(error),
        Err(error) => panic!("{method}: {error}"),
    }
}

/// Waits for something that must happen soon.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(done) => done,
        Err(_) => panic!("{what} did not come within {PATIENCE:?}"),
    }
}

fn decode<T: serde::de::DeserializeOwned>(method: &str, json: Option<&RawJson>) -> T {
    let json = json.map_or(b"null".as_slice(), RawJson::as_bytes);
    serde_json::from_slice(json).unwrap_or_else(|error| {
        panic!("{method}: {error} in {}", String::from_utf8_lossy(json));
    })
}

fn name(event: &Event) -> &str {
    match event {
        Event::Request(request) => &request.method,
        Event::Notification(notification) => &notification.method,
        Event::Malformed { .. } => "(malformed)",
        Event::Oversized { .. } => "(oversized)",
    }
}

fn is_among(event: &Event, methods: &HashSet<String>) -> bool {
    matches!(event, Event::Notification(it) if methods.contains(&it.method))
}
