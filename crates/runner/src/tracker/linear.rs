//! The issues of a Linear project or team.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::http::{Http, rate_limited};
use super::provider::{Provider, invalid};
use super::remote::Remote;
use super::rest::{self, malformed, optional, required};
use super::{Blocker, Issue, TrackerError, labels, normalized};
use crate::config::TrackerConfig;
use crate::env::Env;
use crate::session::{Tool, ToolResult, ToolSpec};

/// The value of `tracker.kind`.
pub const KIND: &str = "linear";
/// Where issues are worked on unless the workflow says otherwise.
pub const ACTIVE_STATES: &[&str] = &["Todo", "In Progress"];
/// Where they are done.
pub const TERMINAL_STATES: &[&str] = &["Done", "Closed", "Cancelled", "Canceled", "Duplicate"];

/// So many issues are asked for at a time; more make a query too complex for Linear.
const PAGE: usize = 50;
const MAX_PAGES: usize = 200;

const QUERY: &str = "query Issues($filter: IssueFilter!, $first: Int!, $after: String) {
  issues(filter: $filter, first: $first, after: $after, orderBy: createdAt) {
    nodes {
      id identifier title description priority branchName url createdAt updatedAt
      state { name }
      assignee { id }
      labels(first: 50) { nodes { name } }
      inverseRelations(first: 50) { nodes { type issue { id identifier state { name } } } }
    }
    pageInfo { hasNextPage endCursor }
  }
}";

/// A project or team on Linear.
pub struct LinearTracker {
    http: Http,
    endpoint: String,
    /// Which issues there are for this tracker at all.
    scope: Map<String, Value>,
    assignee: Option<String>,
    terminal: Vec<String>,
}

impl LinearTracker {
    /// The project or team that `tracker.provider` names.
    pub fn new(config: &TrackerConfig, env: &Env) -> Result<LinearTracker, TrackerError> {
        let provider = Provider::new(config, env);
        let mut scope = Map::new();
        if let Some(slug) = provider.text("project_slug")? {
            scope.insert("project".into(), json!({ "slugId": { "eq": slug } }));
        }
        if let Some(key) = provider.text("team_key")? {
            scope.insert("team".into(), json!({ "key": { "eq": key } }));
        }
        if scope.is_empty() {
            return Err(invalid(
                "project_slug",
                "or `team_key` is needed, so that it is known which issues are meant",
            ));
        }
        let secret = provider.secret("api_key", "LINEAR_API_KEY")?;
        // Keys of a person go as they are, tokens of an application as bearers.
        let scheme = match secret.reveal().starts_with("lin_oauth_") {
            true => "Bearer ",
            false => "",
        };
        Ok(LinearTracker {
            endpoint: provider.endpoint("https://api.linear.app/graphql")?,
            http: Http::new(secret, "authorization", scheme)?,
            scope,
            assignee: provider.text("assignee_id")?,
            terminal: rest::terminal(config),
        })
    }

    /// All records that a filter finds within the scope.
    async fn pages(&self, filter: Map<String, Value>) -> Result<Vec<Value>, TrackerError> {
        let mut filter = filter;
        filter.extend(self.scope.clone());
        let mut records = Vec::new();
        let mut after = Value::Null;
        for _ in 0..MAX_PAGES {
            let variables = json!({ "filter": filter, "first": PAGE, "after": after });
            let data = self.query(QUERY, &variables).await?;
            let page = data
                .get("issues")
                .ok_or_else(|| malformed("the answer has no `issues`".into()))?;
            let nodes = page.get("nodes").and_then(Value::as_array);
            let nodes =
                nodes.ok_or_else(|| malformed("the answer has no `issues.nodes`".into()))?;
            records.extend(nodes.iter().cloned());
            if page.pointer("/pageInfo/hasNextPage") != Some(&Value::Bool(true)) {
                return Ok(records);
            }
            let next = page
                .pointer("/pageInfo/endCursor")
                .cloned()
                .unwrap_or_default();
            if !next.is_string() || next == after {
                let why = "there is another page, but no cursor that leads to it";
                return Err(rest::paging(why));
            }
            after = next;
        }
        Err(rest::endless())
    }

    /// The data of an answer without errors.
    async fn query(&self, query: &str, variables: &Value) -> Result<Value, TrackerError> {
        let body = json!({ "query": query, "variables": variables });
        let mut answer = self
            .http
            .ask(Method::POST, &self.endpoint, Some(&body))
            .await?;
        let first = answer.body.pointer("/errors/0");
        let code = first.and_then(|it| it.pointer("/extensions/code")?.as_str());
        if code == Some("RATELIMITED") {
            return Err(rate_limited("too many requests", None));
        }
        // Linear says so with a status of its own choice.
        if code == Some("AUTHENTICATION_ERROR") {
            answer.status = 401;
        }
        if answer.body.get("errors").is_some() && (200..300).contains(&answer.status) {
            let why = format!("the query was refused{}", self.http.reason(&answer.body));
            return Err(malformed(why));
        }
        let mut answer = self.http.success(answer)?;
        match answer.body.get_mut("data").map(Value::take) {
            Some(data @ Value::Object(_)) => Ok(data),
            _ => Err(malformed("the answer has no `data`".into())),
        }
    }

    fn issue(&self, record: &Value) -> Result<Issue, String> {
        let id = required(record, "id")?;
        let identifier = required(record, "identifier")?;
        let title = required(record, "title")?;
        let state = optional(record, "/state/name").ok_or("an issue has no `state.name`")?;
        let mut issue = Issue::new(&id, &identifier, &title, &state);
        issue.description = optional(record, "/description");
        // Zero means that none was given.
        let priority = record.get("priority").and_then(Value::as_f64);
        issue.priority = priority
            .map(|it| it as i64)
            .filter(|it| (1..=4).contains(it));
        issue.branch_name = optional(record, "/branchName");
        issue.url = optional(record, "/url");
        issue.assignee_id = optional(record, "/assignee/id");
        issue.labels =
            labels(rest::list(record, "/labels/nodes").filter_map(|it| it.get("name")?.as_str()));
        issue.blocked_by = rest::list(record, "/inverseRelations/nodes")
            .filter(|it| it.get("type").and_then(Value::as_str) == Some("blocks"))
            .map(|it| Blocker {
                id: optional(it, "/issue/id"),
                identifier: optional(it, "/issue/identifier"),
                state: optional(it, "/issue/state/name"),
            })
            .collect();
        issue.created_at = rest::instant(record, "/createdAt");
        issue.updated_at = rest::instant(record, "/updatedAt");
        let is_done = |blocker: &Blocker| {
            let state = blocker.state.as_deref().map(normalized);
            state.is_some_and(|it| self.terminal.contains(&it))
        };
        let is_assigned = self.assignee.is_none() || self.assignee == issue.assignee_id;
        issue.dispatchable = is_assigned && issue.blocked_by.iter().all(is_done);
        Ok(issue)
    }
}

impl Remote for LinearTracker {
    fn http(&self) -> &Http {
        &self.http
    }

    async fn in_states(&self, states: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let wanted: Vec<Value> = states
            .iter()
            .map(|state| json!({ "state": { "name": { "eqIgnoreCase": state.trim() } } }))
            .collect();
        let filter = Map::from_iter([("or".to_owned(), wanted.into())]);
        let records = self.pages(filter).await?;
        Ok(rest::listed(&records, states, |it| {
            self.issue(it).map(Some)
        }))
    }

    async fn by_id(&self, ids: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let mut issues = Vec::new();
        for some in ids.chunks(PAGE) {
            let filter = Map::from_iter([("id".to_owned(), json!({ "in": some }))]);
            for record in self.pages(filter).await? {
                issues.push(self.issue(&record).map_err(malformed)?);
            }
        }
        Ok(issues)
    }

    fn tool(&self, issue: &Issue) -> Arc<dyn Tool> {
        Arc::new(LinearGraphql {
            http: self.http.clone(),
            endpoint: self.endpoint.clone(),
            issue: format!("{} (id {})", issue.identifier, issue.id),
        })
    }
}

/// The tool with which an agent asks Linear, with the rights of the key.
struct LinearGraphql {
    http: Http,
    endpoint: String,
    issue: String,
}

impl LinearGraphql {
    async fn run(&self, arguments: &Value) -> Result<ToolResult, String> {
        let (query, variables) = match arguments {
            // Models also pass the query alone.
            Value::String(query) => (query.as_str(), Value::Null),
            _ => {
                let query = arguments
                    .get("query")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                (
                    query,
                    arguments.get("variables").cloned().unwrap_or_default(),
                )
            }
        };
        if query.trim().is_empty() {
            return Err("`query` must be a text that is not empty".to_owned());
        }
        if !variables.is_null() && !variables.is_object() {
            return Err("`variables` must be an object".to_owned());
        }
        let body = json!({ "query": query, "variables": variables });
        let asked = self
            .http
            .ask(Method::POST, &self.endpoint, Some(&body))
            .await;
        let answer = asked.map_err(|error| error.to_string())?;
        let body = self.http.scrubbed(&answer.body);
        let has_errors = body.get("errors").is_some_and(|it| !it.is_null());
        Ok(match (200..300).contains(&answer.status) && !has_errors {
            true => ToolResult::success(body),
            false if body.is_null() => ToolResult::failure(
                json!({ "error": format!("Linear answered with {}", answer.status) }),
            ),
            false => ToolResult::failure(body),
        })
    }
}

impl Tool for LinearGraphql {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "linear_graphql".to_owned(),
            description: format!(
                "Runs one GraphQL query or mutation against Linear, where the issue {} that you work on is. Returns the \
                 GraphQL answer.",
                self.issue
            ),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "One GraphQL operation." },
                    "variables": { "type": "object", "description": "Its variables." },
                },
                "required": ["query"],
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
