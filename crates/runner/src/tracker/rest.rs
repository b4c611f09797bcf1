//! What trackers read and write alike: members of records, pages, the numbered issues of GitHub and GitLab with states
//! as labels, and a tool that reaches the issues and changes of one project.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::http::Http;
use super::{Issue, TrackerError, TrackerErrorKind};
use crate::config::TrackerConfig;
use crate::session::{Tool, ToolResult, ToolSpec};
use crate::time::{self, Millis};

/// So many issues are asked for at a time, as many as the trackers give.
pub(super) const PAGE: usize = 100;
/// So many pages are read before a list counts as endless.
pub(super) const MAX_PAGES: usize = 100;

/// Which part of the open and closed issues has the states that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Open,
    Closed,
    Both,
}

impl Half {
    /// All states but that of closed issues belong to open ones.
    pub fn of(states: &[String], closed: &str) -> Half {
        let is_closed = |state: &String| super::normalized(state) == closed;
        match (states.iter().any(is_closed), states.iter().all(is_closed)) {
            (_, true) => Half::Closed,
            (false, _) => Half::Open,
            (true, false) => Half::Both,
        }
    }
}

/// The state of an issue: that of its first label with the prefix while it is open, if a prefix is set.
pub(super) fn state(prefix: Option<&str>, labels: &[String], native: &str, closed: &str) -> String {
    let prefix = prefix.map(str::to_lowercase).filter(|_| native != closed);
    let of_label = prefix.and_then(|prefix| {
        let mut states = labels
            .iter()
            .filter_map(|label| label.strip_prefix(&prefix));
        states
            .find(|it| !it.trim().is_empty())
            .map(|it| it.trim().to_owned())
    });
    of_label.unwrap_or_else(|| native.to_owned())
}

/// The priority that a label such as `p1` gives.
pub(super) fn priority(labels: &[String]) -> Option<i64> {
    labels.iter().find_map(|label| {
        let digit = label
            .strip_prefix("priority:")
            .or_else(|| label.strip_prefix('p'))?;
        digit.trim().parse().ok().filter(|it| (1..=4).contains(it))
    })
}

/// An issue that has a number in its repository or project.
pub(super) fn numbered(path: &str, number: u64, title: &str, state: &str) -> Issue {
    let name = path.rsplit('/').next().unwrap_or_default();
    let identifier = format!("{name}-{number}");
    Issue::new(&number.to_string(), &identifier, title, state)
}

/// The numbers among some ids, in order.
pub(super) fn numbers(ids: &[String]) -> Vec<u64> {
    let mut numbers: Vec<u64> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// Whether the one who is wanted is among those whom an issue is assigned to, if somebody is.
pub(super) fn is_assigned(record: &Value, key: &str, wanted: Option<&str>) -> bool {
    let Some(wanted) = wanted else {
        return true;
    };
    let mut names = list(record, "/assignees").filter_map(|it| it.get(key)?.as_str());
    names.any(|name| name.eq_ignore_ascii_case(wanted))
}

/// The states in which issues are done, as they are compared.
pub(super) fn terminal(config: &TrackerConfig) -> Vec<String> {
    let states = config.terminal_states.iter();
    states.map(|it| super::normalized(it)).collect()
}

/// Why the pages of a list do not fit together.
pub(super) fn paging(why: &str) -> TrackerError {
    TrackerError::new(TrackerErrorKind::Pagination, why)
}

pub(super) fn endless() -> TrackerError {
    paging("there are too many pages of issues")
}

/// The records of a page.
pub(super) fn records(body: Value) -> Result<Vec<Value>, TrackerError> {
    match body {
        Value::Array(records) => Ok(records),
        _ => {
            let why = "a list of issues was expected";
            Err(TrackerError::new(TrackerErrorKind::Response, why))
        }
    }
}

/// Keeps the issues of a list in these states; what is not an issue is left out and logged.
pub(super) fn listed(
    records: &[Value],
    states: &[String],
    read: impl Fn(&Value) -> Result<Option<Issue>, String>,
) -> Vec<Issue> {
    let states: Vec<String> = states.iter().map(|it| super::normalized(it)).collect();
    let mut issues = Vec::new();
    for record in records {
        match read(record) {
            Ok(issue) => {
                issues.extend(issue.filter(|it| states.contains(&super::normalized(&it.state))));
            }
            Err(error) => tracing::warn!(error, "malformed issue left out"),
        }
    }
    issues
}

pub(super) fn malformed(error: String) -> TrackerError {
    TrackerError::new(TrackerErrorKind::Response, error)
}

/// A text that every issue must have.
pub(super) fn required(record: &Value, key: &str) -> Result<String, String> {
    let text = record.get(key).and_then(Value::as_str).map(str::trim);
    let text = text.filter(|it| !it.is_empty()).map(str::to_owned);
    text.ok_or_else(|| format!("an issue has no `{key}`"))
}

pub(super) fn optional(record: &Value, place: &str) -> Option<String> {
    let text = record.pointer(place)?.as_str()?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// The entries of a list; none of anything else.
pub(super) fn list<'a>(record: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> {
    let list = record.pointer(place).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// A point in time; nothing for what cannot be read.
pub(super) fn instant(record: &Value, place: &str) -> Option<Millis> {
    time::parse(&optional(record, place)?)
}

/// The tool with which an agent reaches the issues and changes of the tracker's project, and nothing beyond.
#[derive(Clone)]
pub(super) struct ApiTool {
    pub http: Http,
    pub name: &'static str,
    /// The product, as people call it.
    pub product: &'static str,
    /// The address of the project, below which everything is.
    pub project: String,
    /// The first parts of paths that may be used.
    pub parts: &'static [&'static str],
    /// How the second part of a path must begin, where the first does not lead into the project alone.
    pub within: Option<String>,
    /// The issue that is worked on.
    pub issue: String,
    /// How a path to that issue begins.
    pub example: String,
}

impl ApiTool {
    async fn run(&self, arguments: &Value) -> Result<ToolResult, String> {
        let Call { method, path, body } =
            Call::read(arguments, self.parts, self.within.as_deref())?;
        let url = format!("{}/{path}", self.project);
        let asked = self.http.ask(method, &url, body.as_ref()).await;
        let answer = asked.map_err(|error| error.to_string())?;
        let body = self.http.scrubbed(&answer.body);
        let output = json!({ "status": answer.status, "body": body });
        Ok(match answer.status {
            200..300 => ToolResult::success(output),
            _ => ToolResult::failure(output),
        })
    }
}

impl Tool for ApiTool {
    fn spec(&self) -> ToolSpec {
        let ApiTool {
            product,
            issue,
            example,
            parts,
            ..
        } = self;
        ToolSpec {
            name: self.name.to_owned(),
            description: format!(
                "Calls the {product} REST API of the project that this work belongs to. You work on {issue}. Paths are \
                 relative to the project, such as `{example}`, and begin with one of: {}. Returns the status and the \
                 body.",
                parts.join(", ")
            ),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "method": { "type": "string", "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"] },
                    "path": { "type": "string", "description": "Relative to the project; may have a query." },
                    "body": { "type": "object", "description": "The JSON body, if the call has one." },
                },
                "required": ["method", "path"],
                "additionalProperties": false,
            }),
        }
    }

    fn call(&self, arguments: Value) -> BoxFuture<'_, ToolResult> {
        async move {
            let done = self.run(&arguments).await;
            done.unwrap_or_else(|error| ToolResult::failure(json!({ "error": error })))
        }
        .boxed()
    }
}

/// What an agent asks for.
struct Call {
    method: Method,
    path: String,
    body: Option<Value>,
}

impl Call {
    fn read(arguments: &Value, parts: &[&str], within: Option<&str>) -> Result<Call, String> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str);
        let method = match text("method") {
            Some("GET") => Method::GET,
            Some("POST") => Method::POST,
            Some("PUT") => Method::PUT,
            Some("PATCH") => Method::PATCH,
            Some("DELETE") => Method::DELETE,
            _ => return Err("`method` must be GET, POST, PUT, PATCH or DELETE".to_owned()),
        };
        let path = text("path")
            .ok_or("`path` must be a text")?
            .trim_start_matches('/');
        let (plain, _) = path.split_once('?').unwrap_or((path, ""));
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.~/".contains(it);
        let segments = || plain.split('/');
        // Nothing may lead out of the project, however it is written.
        if !plain.chars().all(is_plain) || segments().any(|it| it == "." || it == "..") {
            return Err(
                "`path` may have letters, digits and -_.~ between slashes, and a query".to_owned(),
            );
        }
        if !segments()
            .next()
            .is_some_and(|first| parts.contains(&first))
        {
            return Err(format!(
                "`path` must begin with one of: {}",
                parts.join(", ")
            ));
        }
        if let Some(within) = within
            && !segments().nth(1).is_some_and(|it| it.starts_with(within))
        {
            return Err(format!(
                "the second part of `path` must begin with {within}"
            ));
        }
        if path.contains(['#', '\\']) || path.chars().any(|it| it.is_control() || it == ' ') {
            return Err("`path` holds characters that an address cannot have".to_owned());
        }
        let body = match arguments.get("body") {
            None | Some(Value::Null) => None,
            Some(body @ Value::Object(_)) => Some(body.clone()),
            Some(_) => return Err("`body` must be an object".to_owned()),
        };
        Ok(Call {
            method,
            path: path.to_owned(),
            body,
        })
    }
}

/// What an issue's tools need to know of it.
pub(super) fn native_ref(members: Value) -> Option<Map<String, Value>> {
    match members {
        Value::Object(members) => Some(members),
        _ => None,
    }
}
