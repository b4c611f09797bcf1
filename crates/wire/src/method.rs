//! What the method table gives: a marker type per method, and the table as data.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::describe::{Describe, Era, Ty};
use crate::gate::Gated;
use crate::*;

/// A request and its answer.
pub trait Method {
    /// The name on the wire.
    const NAME: &'static str;
    /// What the request carries.
    type Params: Serialize + DeserializeOwned + Gated + Send + 'static;
    /// What the answer carries.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// A request that clients send.
pub trait ClientMethod: Method {
    /// Whether the method needs the `experimentalApi` capability.
    const STABILITY: Stability;

    /// What this request must stay in order with.
    fn lane(params: &Self::Params) -> Lane<'_>;
}

/// A message that is not answered.
pub trait Notification {
    /// The name on the wire.
    const NAME: &'static str;
    /// What the message carries.
    type Params: Serialize + DeserializeOwned + Send + 'static;
}

/// How firmly a method is part of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stability {
    Stable,
    /// Needs `capabilities.experimentalApi`.
    Experimental,
    /// Stable, but not in the published JSON Schema.
    Legacy,
}

/// What a request must stay in order with. Requests of different lanes do not wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane<'a> {
    /// Handled at once, before anything that follows on the connection.
    Inline,
    /// In the order sent, with the other requests of that thread.
    Thread(&'a str),
    /// In the order sent, with the connection's other requests of the kind.
    Ordered(Queue),
    /// In the order they arrive from all connections.
    Global(Domain),
    /// With nothing.
    Free,
}

/// Kinds of requests that one connection expects to take effect in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Queue {
    Files,
    Commands,
    Search,
}

/// State of the whole process whose readers and writers stay in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    Config,
    Account,
}

/// One row of the table as data.
pub struct MethodInfo {
    pub name: &'static str,
    pub doc: &'static str,
    pub stability: Stability,
    pub era: Era,
    /// What it must stay in order with, in words.
    pub lane: &'static str,
    pub params: Ty,
    /// `None` for notifications.
    pub result: Option<Ty>,
}

/// Parameters of a method that takes none; anything given is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoParams;

impl Gated for NoParams {}

impl Describe for NoParams {
    const TY: Ty = Ty::Json;
}

impl Serialize for NoParams {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> serde::Deserialize<'de> for NoParams {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<NoParams, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| NoParams)
    }
}

macro_rules! stability {
    (stable) => {
        Stability::Stable
    };
    (experimental) => {
        Stability::Experimental
    };
    (legacy) => {
        Stability::Legacy
    };
}

macro_rules! lane {
    ($params:ident, Inline) => {
        Lane::Inline
    };
    ($params:ident, Free) => {
        Lane::Free
    };
    ($params:ident, Thread($field:ident)) => {
        Lane::Thread(&$params.$field)
    };
    ($params:ident, Ordered($queue:ident)) => {
        Lane::Ordered(Queue::$queue)
    };
    ($params:ident, Global($domain:ident)) => {
        Lane::Global(Domain::$domain)
    };
}

macro_rules! era {
    () => {
        Era::ALWAYS
    };
    (since $version:literal) => {
        Era {
            since: Some($version),
            until: None,
        }
    };
    (until $version:literal) => {
        Era {
            since: None,
            until: Some($version),
        }
    };
}

macro_rules! declare_requests {
    ($(
        $(#[doc = $doc:literal])+
        $stability:ident $name:ident = $wire:literal ($params:ty) -> $result:ty, $lane:ident $(($key:ident))? $(, $bound:ident $version:literal)?;
    )*) => {
        /// Requests that clients send, one marker type each.
        pub mod request {
            use super::*;
            $(
                $(#[doc = $doc])+
                #[derive(Debug, Clone, Copy)]
                pub struct $name;

                impl Method for $name {
                    const NAME: &'static str = $wire;
                    type Params = $params;
                    type Result = $result;
                }

                impl ClientMethod for $name {
                    const STABILITY: Stability = stability!($stability);

                    fn lane(_params: &$params) -> Lane<'_> {
                        lane!(_params, $lane $(($key))?)
                    }
                }
            )*
        }

        /// All requests a client can send, in the protocol's order.
        pub static CLIENT_REQUESTS: &[MethodInfo] = &[$(MethodInfo {
            name: $wire,
            doc: concat!($($doc),+),
            stability: stability!($stability),
            era: era!($($bound $version)?),
            lane: concat!(stringify!($lane), $("(", stringify!($key), ")")?),
            params: <$params as Describe>::TY,
            result: Some(<$result as Describe>::TY),
        }),*];
    };
}

macro_rules! declare_server_requests {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident = $wire:literal ($params:ty) -> $result:ty $(, $bound:ident $version:literal)?;
    )*) => {
        /// Requests that servers send, one marker type each.
        pub mod question {
            use super::*;
            $(
                $(#[doc = $doc])+
                #[derive(Debug, Clone, Copy)]
                pub struct $name;

                impl Method for $name {
                    const NAME: &'static str = $wire;
                    type Params = $params;
                    type Result = $result;
                }
            )*
        }

        /// A request of a server, read by its method.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ServerRequest {
            $($(#[doc = $doc])+ $name($params),)*
            /// A method this version does not know.
            Unrecognized { method: String, params: Json },
        }

        impl ServerRequest {
            /// Reads the params of a method.
            pub fn decode(method: &str, params: &str) -> Result<ServerRequest, serde_json::Error> {
                Ok(match method {
                    $($wire => ServerRequest::$name(serde_json::from_str(params)?),)*
                    _ => ServerRequest::Unrecognized {
                        method: method.to_owned(),
                        params: serde_json::from_str(params)?,
                    },
                })
            }

            /// The name on the wire.
            #[must_use]
            pub fn method(&self) -> &str {
                match self {
                    $(ServerRequest::$name(_) => $wire,)*
                    ServerRequest::Unrecognized { method, .. } => method,
                }
            }

            /// The params as JSON.
            pub fn params(&self) -> Result<Json, serde_json::Error> {
                match self {
                    $(ServerRequest::$name(params) => Json::new(params),)*
                    ServerRequest::Unrecognized { params, .. } => Ok(params.clone()),
                }
            }

            /// Removes what a client without the `experimentalApi` capability must not see.
            pub fn strip_experimental(&mut self) {
                match self {
                    $(ServerRequest::$name(params) => params.strip_experimental(),)*
                    ServerRequest::Unrecognized { .. } => {}
                }
            }
        }

        /// All requests a server can send.
        pub static SERVER_REQUESTS: &[MethodInfo] = &[$(MethodInfo {
            name: $wire,
            doc: concat!($($doc),+),
            stability: Stability::Stable,
            era: era!($($bound $version)?),
            lane: "",
            params: <$params as Describe>::TY,
            result: Some(<$result as Describe>::TY),
        }),*];
    };
}

macro_rules! declare_notifications {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident = $wire:literal ($params:ty) $(, $bound:ident $version:literal)?;
    )*) => {
        /// Notifications that servers send, one marker type each.
        pub mod event {
            use super::*;
            $(
                $(#[doc = $doc])+
                #[derive(Debug, Clone, Copy)]
                pub struct $name;

                impl Notification for $name {
                    const NAME: &'static str = $wire;
                    type Params = $params;
                }
            )*
        }

        /// A notification of a server, read by its method and written with it.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "method", content = "params")]
        #[allow(clippy::large_enum_variant, reason = "a message is made once and written once")]
        pub enum ServerNotification {
            $($(#[doc = $doc])+ #[serde(rename = $wire)] $name($params),)*
            /// A method this version does not know.
            #[serde(skip)]
            Unrecognized { method: String, params: Json },
        }

        impl ServerNotification {
            /// Reads the params of a method.
            pub fn decode(method: &str, params: &str) -> Result<ServerNotification, serde_json::Error> {
                Ok(match method {
                    $($wire => ServerNotification::$name(serde_json::from_str(params)?),)*
                    _ => ServerNotification::Unrecognized {
                        method: method.to_owned(),
                        params: serde_json::from_str(params)?,
                    },
                })
            }

            /// The name on the wire.
            #[must_use]
            pub fn method(&self) -> &str {
                match self {
                    $(ServerNotification::$name(_) => $wire,)*
                    ServerNotification::Unrecognized { method, .. } => method,
                }
            }
        }

        /// All notifications a server can send, in the protocol's order.
        pub static SERVER_NOTIFICATIONS: &[MethodInfo] = &[$(MethodInfo {
            name: $wire,
            doc: concat!($($doc),+),
            stability: Stability::Stable,
            era: era!($($bound $version)?),
            lane: "",
            params: <$params as Describe>::TY,
            result: None,
        }),*];
    };
}

crate::client_requests!(declare_requests);
crate::server_requests!(declare_server_requests);
crate::server_notifications!(declare_notifications);
