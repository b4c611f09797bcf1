//! Pages that a listener serves to browsers besides its websocket. What they are is for others.

use std::borrow::Cow;

use crate::http::{Head, Response};

/// What a browser gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The HTTP status.
    pub status: u16,
    /// Headers besides length and `connection: close`.
    pub headers: Vec<(&'static str, String)>,
    /// Text of the type that the headers name.
    pub body: Cow<'static, str>,
}

impl Page {
    /// Its headers, as a response borrows them.
    pub fn headers(&self) -> Vec<(&str, &str)> {
        let headers = self.headers.iter();
        headers
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }

    /// The page as a response.
    pub fn response<'a>(&'a self, headers: &'a [(&'a str, &'a str)]) -> Response<'a> {
        Response {
            status: self.status,
            headers,
            body: &self.body,
        }
    }
}

/// A set of pages.
pub trait Site: Send + Sync {
    /// The answer to a request that is not an upgrade, or nothing if there is no such page. `is_admitted` says
    /// whether the request has the credential of a client. It may block for as long as a file or another program
    /// takes.
    fn answer(&self, head: &Head, is_admitted: bool) -> Option<Page>;
}
