//! The servers of one thread: started side by side, known by name, replaced when they died.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::client::{Client, ClientInfo};
use crate::error::StartError;
use crate::names;
use crate::session::Question;
use crate::spec::{Connector, ServerSpec, ToolOffer};
use crate::types::Tool;

/// Questions of one server that may wait to be taken.
const QUESTIONS: usize = 8;

/// What the servers of a thread report to their owner.
#[derive(Debug)]
pub enum FleetEvent {
    /// A server starts, is ready or failed.
    Startup {
        /// Its name.
        server: String,
        /// How far it is.
        state: Startup,
    },
    /// A server asks the user, outside any call.
    Question {
        /// Its name.
        server: String,
        /// What it asks.
        question: Question,
    },
}

/// How far a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Startup {
    /// It was asked to start.
    Starting,
    /// Its tools can be called.
    Ready,
    /// It is not usable; the text is for the user.
    Failed(String),
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone)]
pub struct OfferedTool {
    /// The name the model knows it by.
    pub qualified: String,
    /// Whose it is.
    pub server: String,
    /// The tool itself.
    pub tool: Tool,
    /// What models read after its description.
    pub note: Option<String>,
    /// The app that it belongs to.
    pub connector: Option<Connector>,
}

/// Why there is no client for a server.
#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    /// Nobody configured it.
    #[error("unknown MCP server '{0}'")]
    Unknown(String),
    /// It did not start.
    #[error("failed to get client: MCP startup failed: {0}")]
    Failed(StartError),
}

/// The servers of a thread; they end with the last clone.
#[derive(Clone, Default)]
pub struct Fleet(Arc<BTreeMap<String, Member>>);

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

struct Member {
    spec: ServerSpec,
    info: ClientInfo,
    events: mpsc::Sender<FleetEvent>,
    state: watch::Sender<State>,
    starting: AbortHandle,
    /// One restart at a time.
    restart: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
enum State {
    Starting,
    Ready(Client),
    Failed(StartError),
}

impl Fleet {
    /// Starts all servers at once. What becomes of them is reported to `events`, first that all are starting.
    #[must_use]
    pub fn start(
        specs: BTreeMap<String, ServerSpec>,
        info: &ClientInfo,
        events: &mpsc::Sender<FleetEvent>,
    ) -> Fleet {
        let (announced, all_announced) = watch::channel(false);
        tokio::spawn({
            let (names, events) = (specs.keys().cloned().collect::<Vec<_>>(), events.clone());
            async move {
                for name in names {
                    report(&events, &name, Startup::Starting).await;
                }
                announced.send_replace(true);
            }
        });
        let member = |(name, spec): (String, ServerSpec)| {
            let state = watch::Sender::new(State::Starting);
            let starting = tokio::spawn({
                let (name, spec, info) = (name.clone(), spec.clone(), info.clone());
                let (events, state) = (events.clone(), state.clone());
                let mut all_announced = all_announced.clone();
                async move {
                    let started = start(&name, &spec, &info, &events).await;
                    // An announcer that is gone announces nothing any more.
                    all_announced.wait_for(|it| *it).await.ok();
                    settle(&name, started, &state, &events).await;
                }
            });
            let member = Member {
                spec,
                info: info.clone(),
                events: events.clone(),
                state,
                starting: starting.abort_handle(),
                restart: tokio::sync::Mutex::default(),
            };
            (name, member)
        };
        Fleet(Arc::new(specs.into_iter().map(member).collect()))
    }

    /// Whether there are no servers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of all servers, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether no server is starting any more.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let mut states = self.0.values().map(|it| it.state.borrow());
        states.all(|state| !matches!(*state, State::Starting))
    }

    /// Waits until every server is ready or failed, which takes as long as their startup times allow.
    pub async fn settled(&self) {
        join_all(self.0.values().map(Member::settled)).await;
    }

    /// Waits for the servers that nothing goes without; the error says which failed, and why.
    pub async fn required(&self) -> Result<(), String> {
        let mut failed = Vec::new();
        for (name, member) in self.0.iter().filter(|(_, it)| it.spec.required) {
            if let State::Failed(error) = member.settled().await {
                failed.push(format!("{name}: {error}"));
            }
        }
        match failed.is_empty() {
            true => Ok(()),
            false => Err(failed.join("; ")),
        }
    }

    /// The tools of all servers that are ready, by the names models know them by, in order. Of two tools
    /// with one name only the first is offered.
    #[must_use]
    pub fn tools(&self) -> Vec<OfferedTool> {
        let mut seen = BTreeSet::new();
        let mut offered = Vec::new();
        for (server, member) in self.0.iter() {
            for (tool, offer) in member.tools() {
                let qualified = names::qualified(server, offered_name(&tool, &offer));
                if !seen.insert(qualified.clone()) {
                    tracing::warn!(server, tool = tool.name, "a tool's name is taken already");
                    continue;
                }
                offered.push(OfferedTool {
                    qualified,
                    server: server.clone(),
                    tool,
                    note: offer.note,
                    connector: offer.connector,
                });
            }
        }
        offered.sort_by(|one, other| one.qualified.cmp(&other.qualified));
        offered
    }

    /// The tool that a model knows by this name.
    #[must_use]
    pub fn tool(&self, qualified: &str) -> Option<OfferedTool> {
        self.tools()
            .into_iter()
            .find(|it| it.qualified == qualified)
    }

    /// The tools of one server by the last part of their names; empty if it is not ready.
    #[must_use]
    pub fn tools_of(&self, server: &str) -> Vec<(String, Tool)> {
        let prefix = names::prefix(server);
        let Some(member) = self.0.get(server) else {
            return Vec::new();
        };
        let named = |(tool, offer): (Tool, ToolOffer)| {
            let qualified = names::qualified(server, offered_name(&tool, &offer));
            let short = qualified.strip_prefix(&prefix).map(str::to_owned);
            (short.unwrap_or(qualified), tool)
        };
        member.tools().into_iter().map(named).collect()
    }

    /// The connection to a server, once it is ready. One that died meanwhile is started again.
    pub async fn client(&self, server: &str) -> Result<Client, NoClient> {
        let unknown = || NoClient::Unknown(server.to_owned());
        let member = self.0.get(server).ok_or_else(unknown)?;
        let _alone = match member.settled().await {
            State::Ready(client) if !client.is_closed() => return Ok(client),
            State::Failed(error) => return Err(NoClient::Failed(error)),
            _ => member.restart.lock().await,
        };
        // The holder of the lock before may have started it.
        match member.settled().await {
            State::Ready(client) if !client.is_closed() => return Ok(client),
            _ => {}
        }
        report(&member.events, server, Startup::Starting).await;
        let started = start(server, &member.spec, &member.info, &member.events).await;
        settle(server, started.clone(), &member.state, &member.events).await;
        started.map_err(NoClient::Failed)
    }
}

impl Member {
    async fn settled(&self) -> State {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|it| !matches!(it, State::Starting)).await;
        // The sender is `self`, so waiting cannot fail.
        settled.map_or(State::Starting, |state| state.clone())
    }

    fn tools(&self) -> Vec<(Tool, ToolOffer)> {
        match &*self.state.borrow() {
            State::Ready(client) => {
                let tools = client.tools();
                let offered = tools
                    .iter()
                    .filter_map(|tool| Some((tool.clone(), self.spec.offer(tool)?)));
                offered.collect()
            }
            State::Starting | State::Failed(_) => Vec::new(),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.starting.abort();
    }
}

fn offered_name<'a>(tool: &'a Tool, offer: &'a ToolOffer) -> &'a str {
    offer.name.as_deref().unwrap_or(&tool.name)
}

async fn start(
    name: &str,
    spec: &ServerSpec,
    info: &ClientInfo,
    events: &mpsc::Sender<FleetEvent>,
) -> Result<Client, StartError> {
    let (questions, mut asked) = mpsc::channel::<Question>(QUESTIONS);
    let (server, events) = (name.to_owned(), events.clone());
    tokio::spawn(async move {
        while let Some(question) = asked.recv().await {
            let server = server.clone();
            // A question that nobody takes is dropped, which cancels it.
            events
                .send(FleetEvent::Question { server, question })
                .await
                .ok();
        }
    });
    Client::start(name, spec, info, questions).await
}

async fn settle(
    name: &str,
    started: Result<Client, StartError>,
    state: &watch::Sender<State>,
    events: &mpsc::Sender<FleetEvent>,
) {
    let startup = match started {
        Ok(client) => {
            state.send_replace(State::Ready(client));
            Startup::Ready
        }
        Err(error) => {
            let text = error.message(name);
            state.send_replace(State::Failed(error));
            Startup::Failed(text)
        }
    };
    report(events, name, startup).await;
}

async fn report(events: &mpsc::Sender<FleetEvent>, server: &str, state: Startup) {
    let server = server.to_owned();
    // An owner that is gone needs no news.
    events
        .send(FleetEvent::Startup { server, state })
        .await
        .ok();
}
