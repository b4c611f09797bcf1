//! The client itself: connecting, asking, listening, leaving.

use std::fmt;
use std::sync::Arc;

use quipu_wire::method::{Method, NoParams, request};
use quipu_wire::*;
use quipu_wire_macros::calls;
use serde::Deserialize;

use crate::feed::{EventStream, Feed};
use crate::link::{Callbacks, Link, LinkOptions};
use crate::options::ThreadDefaults;
use crate::scope::Scope;
use crate::{Call, Cause, ConnectError, Error, Options, Result, TurnLimits, Version};

/// A connection to a server, cheap to clone. It stays open until [`disconnect`](Self::disconnect) or
/// until the last clone, [`Call`] and [`TurnStream`](crate::TurnStream) is dropped; then a child
/// process is ended in the background.
///
/// There is one method per row of the protocol's method table, such as
/// [`thread_start`](Self::thread_start) for `thread/start`, which sends what it is given. A second set
/// of names ([`start_thread`](Self::start_thread), [`run_turn`](Self::run_turn), …) is for everyday
/// use: it fills in what the [`Options`] say and returns what matters.
#[derive(Clone)]
pub struct Client {
    pub(crate) link: Arc<Link>,
    pub(crate) defaults: Arc<ThreadDefaults>,
    pub(crate) turn_limits: TurnLimits,
    server: Arc<ServerInfo>,
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its name for model providers, as it is.
    pub user_agent: String,
    /// The version in that name.
    pub version: Option<Version>,
    /// The directory that holds configuration, accounts and threads. Old servers do not tell.
    pub codex_home: Option<String>,
    /// `unix` or `windows`. Old servers do not tell.
    pub platform_family: Option<String>,
    /// The system, such as `linux`. Old servers do not tell.
    pub platform_os: Option<String>,
    /// Whether it numbers the events of threads, as [`Reconnecting`](crate::Reconnecting) asks for.
    pub numbers_events: bool,
}

/// The answer to `initialize`, of which old servers send the first member only.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Greeting {
    /// Only a server that tells it can be checked for its version.
    #[serde(default)]
    user_agent: String,
    codex_home: Option<String>,
    platform_family: Option<String>,
    platform_os: Option<String>,
    quipu: Option<QuipuCapabilities>,
}

impl Client {
    /// Connects to a server or starts one, introduces the client, and checks the server's version.
    ///
    /// Must be called in a tokio runtime. If the returned future is dropped, a server that was started
    /// is ended.
    pub async fn connect(options: Options) -> Result<Client, ConnectError> {
        let (client, _) = Client::connect_with_events(options).await?;
        Ok(client)
    }

    /// The same, with everything that the server says from the first moment. A stream made by
    /// [`events`](Self::events) afterwards can miss what follows the handshake at once, such as warnings
    /// about the configuration.
    pub async fn connect_with_events(
        options: Options,
    ) -> Result<(Client, EventStream), ConnectError> {
        let Options {
            transport,
            client_name,
            client_title,
            client_version,
            experimental_api,
            opt_out,
            minimum_version,
            defaults,
            timeouts,
            retry,
            event_buffer,
            first_id,
            handler,
            observer,
            tap,
        } = options;
        let (connection, server) = transport.open(timeouts.handshake, &observer).await?;
        let quipu = tap.is_some().then_some(QuipuCapabilities { events: true });
        let callbacks = Callbacks {
            handler,
            observer,
            tap,
        };
        let options = LinkOptions {
            timeouts,
            retry,
            event_buffer,
            first_id,
        };
        let link = Link::start(connection, server, callbacks, options);
        let events = listen(&link, Scope::All);
        let hello = InitializeParams {
            client_info: ClientInfo {
                name: client_name,
                title: client_title,
                version: client_version,
            },
            capabilities: Some(InitializeCapabilities {
                experimental_api,
                opt_out_notification_methods: (!opt_out.is_empty()).then_some(opt_out),
                quipu,
            }),
        };
        match greet(&link, &hello, minimum_version).await {
            Ok(server) => {
                let client = Client {
                    link,
                    defaults: Arc::new(defaults),
                    turn_limits: TurnLimits {
                        silence: timeouts.turn_silence,
                        total: timeouts.turn_total,
                    },
                    server: Arc::new(server),
                };
                Ok((client, events))
            }
            Err(error) => {
                link.close().await;
                Err(quoted(error, &link))
            }
        }
    }

    /// What the server said of itself.
    #[must_use]
    pub fn server(&self) -> &ServerInfo {
        &self.server
    }

    /// Whether two clients are clones of each other.
    #[must_use]
    pub fn is_same(&self, other: &Client) -> bool {
        Arc::ptr_eq(&self.link, &other.link)
    }

    /// Sends a request of the method table; [`Call`] tells what that means. Each row also has a
    /// method of its own, so this is for code that is generic over methods.
    pub fn call<M: Method + 'static>(&self, params: M::Params) -> Call<M> {
        Call::send(&self.link, params)
    }

    /// Everything that the server says from now on.
    #[must_use]
    pub fn events(&self) -> EventStream {
        listen(&self.link, Scope::All)
    }

    /// What the server says from now on about one thread.
    #[must_use]
    pub fn thread_events(&self, thread_id: impl Into<String>) -> EventStream {
        listen(&self.link, Scope::Thread(thread_id.into()))
    }

    /// What the server says from now on about one turn, to its end. To start a turn and miss nothing
    /// of it, use [`stream_turn`](Self::stream_turn).
    #[must_use]
    pub fn turn_events(
        &self,
        thread_id: impl Into<String>,
        turn_id: impl Into<String>,
    ) -> EventStream {
        let (thread, turn) = (thread_id.into(), turn_id.into());
        listen(&self.link, Scope::Turn { thread, turn })
    }

    /// Leaves: what was sent is written, then the connection is closed. A server that was started by
    /// this client gets [`Timeouts::shutdown`](crate::Timeouts::shutdown) to exit, then it is killed;
    /// in either case everything that it started is killed with it. Returns when that is done. Calls
    /// that still wait fail with [`Cause::Disconnected`].
    pub async fn disconnect(&self) {
        self.link.close().await;
    }

    /// The same connection, with other limits for the turns and reviews that are started through it.
    #[must_use]
    pub fn with_turn_limits(&self, limits: TurnLimits) -> Client {
        Client {
            turn_limits: limits,
            ..self.clone()
        }
    }

    /// The process of a server that this client started.
    #[must_use]
    pub fn server_pid(&self) -> Option<u32> {
        self.link.child.as_ref().map(|child| child.pid)
    }

    /// The end of what a server that this client started has written to standard error, at most 8 KiB. Empty for other
    /// servers.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        let child = self.link.child.as_ref();
        child.map(|child| child.stderr.text()).unwrap_or_default()
    }

    /// Waits until the connection has ended, and says why.
    pub async fn closed(&self) -> Cause {
        self.link.hub.closed().await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

fn listen(link: &Link, scope: Scope) -> EventStream {
    let feed = Feed::new(scope, false, link.event_buffer);
    EventStream::new(&link.hub, feed)
}

/// A failed handshake with what the server wrote, if this client started it.
fn quoted(mut error: ConnectError, link: &Link) -> ConnectError {
    if let (ConnectError::Handshake { stderr, .. }, Some(child)) = (&mut error, &link.child) {
        *stderr = child.stderr.text();
    }
    error
}

/// The handshake.
async fn greet(
    link: &Arc<Link>,
    hello: &InitializeParams,
    minimum: Option<Version>,
) -> Result<ServerInfo, ConnectError> {
    let method = request::Initialize::NAME;
    let limit = link.timeouts.handshake;
    let answer = tokio::time::timeout(limit, link.send(method, hello).answer()).await;
    let answer = answer.unwrap_or(Err(Error::TimedOut { method, limit }))?;
    let greeting: Greeting = answer.decode().map_err(|error| Error::Unreadable {
        method,
        error: error.to_string(),
    })?;
    let server = ServerInfo {
        version: Version::of_user_agent(&greeting.user_agent),
        user_agent: greeting.user_agent,
        codex_home: greeting.codex_home,
        platform_family: greeting.platform_family,
        platform_os: greeting.platform_os,
        numbers_events: greeting.quipu.is_some_and(|it| it.events),
    };
    if let Some(minimum) = minimum {
        let found = server.version.ok_or_else(|| ConnectError::NoVersion {
            user_agent: server.user_agent.clone(),
        })?;
        if found < minimum {
            return Err(ConnectError::TooOld { found, minimum });
        }
    }
    if link
        .peer
        .notify("initialized", &serde_json::json!({}))
        .is_err()
    {
        return Err(Error::Closed(link.hub.closed().await).into());
    }
    Ok(server)
}

quipu_wire::client_requests!(calls);
