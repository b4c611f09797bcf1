//! A connection to one server: the handshake, its tools and resources, and calls.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::error::{Error, StartError};
use crate::link::{BackLink, Link};
use crate::session::{CallEvent, Question, Session};
use crate::spec::{ServerSpec, Transport};
use crate::types::{CallResult, Listing, Page, Tool, read};
use crate::{http, message, stdio};

/// The version of MCP that is offered to servers.
const PROTOCOL: &str = "2025-06-18";
/// Pages of one list that are read at most, and entries and bytes of all of them.
const MAX_PAGES: usize = 100;
const MAX_ENTRIES: usize = 10_000;
const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;
/// The shortest time between two readings of a list that keeps changing.
const RELIST_PAUSE: Duration = Duration::from_secs(1);

/// How this program introduces itself to servers.
#[derive(Debug, Clone, Serialize)]
pub struct ClientInfo {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its version.
    pub version: String,
}

/// A connected server. The connection ends with the last clone.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    link: Link,
    session: Arc<Session>,
    info: ClientInfo,
    announces_elicitation: bool,
    tool_timeout: Duration,
    tools: Mutex<Arc<[Tool]>>,
}

/// A call of a tool.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The server's name of the tool.
    pub name: &'a str,
    /// Its arguments, an object.
    pub arguments: Option<&'a RawValue>,
    /// What the server is told about the call, beside the arguments.
    pub meta: Vec<(String, serde_json::Value)>,
    /// Hears what happens until the call is over.
    pub events: mpsc::Sender<CallEvent>,
}

#[derive(Serialize)]
struct CallParams<'a> {
    #[serde(rename = "_meta")]
    meta: serde_json::Map<String, serde_json::Value>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
}

impl Client {
    /// Starts a server, agrees with it on the protocol and reads its tools, all within its startup time.
    pub async fn start(
        name: &str,
        spec: &ServerSpec,
        info: &ClientInfo,
        questions: mpsc::Sender<Question>,
    ) -> Result<Client, StartError> {
        if !crate::names::is_server_name(name) {
            return Err(StartError::Name(name.to_owned()));
        }
        let starting = Client::connect(name, spec, info, questions);
        timeout(spec.startup_timeout, starting)
            .await
            .unwrap_or(Err(StartError::TimedOut(spec.startup_timeout)))
    }

    async fn connect(
        name: &str,
        spec: &ServerSpec,
        info: &ClientInfo,
        questions: mpsc::Sender<Question>,
    ) -> Result<Client, StartError> {
        let session = Arc::new(Session::new(name.to_owned(), questions));
        let link = match &spec.transport {
            Transport::Stdio(program) => stdio::connect(program, &session).await?,
            Transport::Http(endpoint) => http::connect(endpoint, &session)?,
            Transport::Unusable(error) => return Err(error.clone()),
        };
        let client = Client(Arc::new(Inner {
            link,
            session,
            info: info.clone(),
            announces_elicitation: spec.announces_elicitation,
            tool_timeout: spec.tool_timeout,
            tools: Mutex::new(Arc::from([])),
        }));
        // The startup time ends sooner, and says what it was.
        let patience = spec.startup_timeout.saturating_mul(2);
        client
            .handshake(patience)
            .await
            .map_err(StartError::handshake)?;
        client
            .read_tools(patience)
            .await
            .map_err(StartError::handshake)?;
        client.watch_tools();
        Ok(client)
    }

    /// The tools as last read.
    #[must_use]
    pub fn tools(&self) -> Arc<[Tool]> {
        let tools = self.0.tools.lock();
        Arc::clone(&tools)
    }

    /// Whether the server is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.session.is_closed() || self.0.link.is_closed()
    }

    /// Calls a tool. Dropping the future cancels the call.
    pub async fn call_tool(&self, call: ToolCall<'_>) -> Result<CallResult, Error> {
        const METHOD: &str = "tools/call";
        let params = |id: u64| {
            let mut meta = serde_json::Map::from_iter([("progressToken".to_owned(), json!(id))]);
            meta.extend(call.meta.iter().cloned());
            CallParams {
                meta,
                name: call.name,
                arguments: call.arguments,
            }
        };
        let limit = self.0.tool_timeout;
        let result = self
            .request(METHOD, params, limit, Some(call.events.clone()))
            .await?;
        read(METHOD, &result)
    }

    /// One page of a list.
    pub async fn list(&self, listing: Listing, cursor: Option<&str>) -> Result<Page, Error> {
        self.page(listing, cursor, self.0.tool_timeout).await
    }

    /// All pages of a list, within bounds.
    pub async fn list_all(&self, listing: Listing) -> Result<Vec<Box<RawValue>>, Error> {
        self.pages(listing, self.0.tool_timeout).await
    }

    /// The contents of a resource: the result's list, as the server wrote it.
    pub async fn read_resource(&self, uri: &str) -> Result<Box<RawValue>, Error> {
        const METHOD: &str = "resources/read";
        #[derive(Deserialize)]
        struct Contents {
            contents: Box<RawValue>,
        }
        let params = |_| json!({ "uri": uri });
        let limit = self.0.tool_timeout;
        let result = self.request(METHOD, params, limit, None).await?;
        read::<Contents>(METHOD, &result).map(|it| it.contents)
    }

    async fn page(
        &self,
        listing: Listing,
        cursor: Option<&str>,
        limit: Duration,
    ) -> Result<Page, Error> {
        let params = |_| match cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => json!({}),
        };
        let result = self.request(listing.method(), params, limit, None).await?;
        listing.read(&result)
    }

    async fn pages(&self, listing: Listing, limit: Duration) -> Result<Vec<Box<RawValue>>, Error> {
        let mut entries: Vec<Box<RawValue>> = Vec::new();
        let (mut cursor, mut bytes) = (None, 0);
        'pages: for _ in 0..MAX_PAGES {
            let page = self.page(listing, cursor.as_deref(), limit).await?;
            for entry in page.entries {
                bytes += entry.get().len();
                if entries.len() == MAX_ENTRIES || bytes > MAX_LIST_BYTES {
                    break 'pages;
                }
                entries.push(entry);
            }
            // A server that repeats itself would never end.
            if page.next_cursor.is_none() || page.next_cursor == cursor {
                return Ok(entries);
            }
            cursor = page.next_cursor;
        }
        let (server, method) = (&self.0.session.server, listing.method());
        tracing::warn!(server, method, "a list of an MCP server is cut short");
        Ok(entries)
    }

    async fn read_tools(&self, limit: Duration) -> Result<(), Error> {
        let entries = match self.pages(Listing::Tools, limit).await {
            // A server may have no tools and not even know the question.
            Err(Error::Rpc { code: -32601, .. }) => Vec::new(),
            entries => entries?,
        };
        let count = entries.len();
        let tools: Arc<[Tool]> = entries.into_iter().filter_map(Tool::read).collect();
        if tools.len() < count {
            let server = &self.0.session.server;
            let unusable = count - tools.len();
            tracing::warn!(
                server,
                unusable,
                "tools without a name or a schema, or too large, are left out"
            );
        }
        *self.0.tools.lock() = tools;
        Ok(())
    }

    /// Reads the tools again whenever the server says that they changed.
    fn watch_tools(&self) {
        let inner = Arc::downgrade(&self.0);
        let session = Arc::clone(&self.0.session);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = session.tools_changed.notified() => {}
                    () = session.closed() => return,
                }
                let Some(client) = inner.upgrade().map(Client) else {
                    return;
                };
                if let Err(error) = client.read_tools(client.0.tool_timeout).await {
                    tracing::warn!(server = session.server, %error, "the changed tools were not read");
                }
                drop(client);
                tokio::time::sleep(RELIST_PAUSE).await;
            }
        });
    }

    async fn handshake(&self, limit: Duration) -> Result<(), Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Agreed {
            protocol_version: String,
        }
        const METHOD: &str = "initialize";
        let info = &self.0.info;
        let capabilities = match self.0.announces_elicitation {
            true => json!({ "elicitation": { "form": {} } }),
            false => json!({}),
        };
        let params = |_| {
            json!({
                "protocolVersion": PROTOCOL, "capabilities": capabilities, "clientInfo": info,
            })
        };
        let result = self.request_once(METHOD, params, limit, None).await?;
        let agreed: Agreed = read(METHOD, &result)?;
        if let Link::Http(http) = &self.0.link {
            http.agree_version(&agreed.protocol_version);
        }
        let initialized = message::notification("notifications/initialized", None::<()>);
        self.0.link.notify(initialized).await?;
        if let Link::Http(http) = &self.0.link {
            http.listen();
        }
        Ok(())
    }

    /// Sends a request; a session that the server has forgotten is begun again, once.
    async fn request<P: Serialize>(
        &self,
        method: &'static str,
        params: impl Fn(u64) -> P,
        limit: Duration,
        events: Option<mpsc::Sender<CallEvent>>,
    ) -> Result<Box<RawValue>, Error> {
        match self
            .request_once(method, &params, limit, events.clone())
            .await
        {
            Err(Error::SessionGone) => {
                self.handshake(limit).await?;
                self.request_once(method, &params, limit, events).await
            }
            outcome => outcome,
        }
    }

    async fn request_once<P: Serialize>(
        &self,
        method: &'static str,
        params: impl Fn(u64) -> P,
        limit: Duration,
        events: Option<mpsc::Sender<CallEvent>>,
    ) -> Result<Box<RawValue>, Error> {
        let Inner { link, session, .. } = &*self.0;
        let mut waiting = session.register(events)?;
        let id = waiting.id;
        let mut unfinished = Unfinished {
            back: (method != "initialize").then(|| link.back()),
            id,
        };
        let carried = link.request(session, id, message::request(id, method, Some(params(id))));
        let answer = waiting.answer(method, limit);
        tokio::pin!(carried, answer);
        let outcome = tokio::select! {
            biased;
            outcome = &mut answer => outcome,
            carried = &mut carried => match carried {
                Ok(()) => answer.await,
                Err(error) => Err(error),
            },
        };
        if !matches!(outcome, Err(Error::TimedOut { .. })) {
            unfinished.back = None;
        }
        outcome
    }
}

/// A request whose answer nobody waits for any more is cancelled when this is dropped.
struct Unfinished {
    back: Option<BackLink>,
    id: u64,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(back) = &self.back {
            let params = json!({ "requestId": self.id, "reason": "nobody waits for it any more" });
            back.answer(message::notification(
                "notifications/cancelled",
                Some(params),
            ));
        }
    }
}
