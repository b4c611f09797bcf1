//! The issues of one Jira project, in the cloud or on a server of one's own.

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};

use super::http::Http;
use super::provider::{Provider, invalid};
use super::remote::Remote;
use super::rest::{self, ApiTool, MAX_PAGES, PAGE, malformed, optional, required};
use super::{Blocker, Issue, TrackerError, labels, normalized};
use crate::config::TrackerConfig;
use crate::env::Env;
use crate::session::Tool;
use crate::time::{self, Millis};

/// The value of `tracker.kind`.
pub const KIND: &str = "jira";
/// Where issues are worked on unless the workflow says otherwise.
pub const ACTIVE_STATES: &[&str] = &["To Do", "In Progress"];
/// Where they are done.
pub const TERMINAL_STATES: &[&str] = &["Done", "Closed", "Cancelled", "Canceled"];

/// What is asked for of every issue.
const FIELDS: &[&str] = &[
    "summary",
    "description",
    "status",
    "priority",
    "labels",
    "assignee",
    "created",
    "updated",
    "issuelinks",
];

/// A project on Jira.
pub struct JiraTracker {
    http: Http,
    endpoint: String,
    project: String,
    assignee: Option<String>,
    terminal: Vec<String>,
}

impl JiraTracker {
    /// The project that `tracker.provider` names.
    pub fn new(config: &TrackerConfig, env: &Env) -> Result<JiraTracker, TrackerError> {
        let provider = Provider::new(config, env);
        let address = provider.required("endpoint", "https://example.atlassian.net")?;
        let project = provider.required("project", "ABC")?;
        let plain = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
        if !project.chars().all(plain) {
            return Err(invalid(
                "project",
                "must be the key of a project, such as `ABC`",
            ));
        }
        let secret = provider.secret("api_token", "JIRA_API_TOKEN")?;
        let (secret, scheme) = match provider.text("email")? {
            Some(email) => (secret.with_user(&email), "Basic "),
            None => (secret, "Bearer "),
        };
        Ok(JiraTracker {
            endpoint: format!("{}/rest/api/2", provider.endpoint(&address)?),
            http: Http::new(secret, "authorization", scheme)?,
            project,
            assignee: provider.text("assignee_id")?,
            terminal: rest::terminal(config),
        })
    }

    async fn post(&self, url: &str, body: &Value) -> Result<Value, TrackerError> {
        let answer = self.http.ask(Method::POST, url, Some(body)).await?;
        let answer = self.http.success(answer)?;
        match answer.body {
            body @ Value::Object(_) => Ok(body),
            _ => Err(malformed("an object was expected".to_owned())),
        }
    }

    /// A record as an issue; nothing if it belongs to another project by now.
    fn issue(&self, record: &Value) -> Result<Option<Issue>, String> {
        let id = required(record, "id")?;
        let key = required(record, "key")?;
        if key.rsplit_once('-').map(|(project, _)| project) != Some(&self.project) {
            return Ok(None);
        }
        let fields = record.get("fields").ok_or("an issue has no `fields`")?;
        let title = required(fields, "summary")?;
        let state = optional(fields, "/status/name").ok_or("an issue has no `status.name`")?;
        let mut issue = Issue::new(&id, &key, &title, &state);
        issue.native_ref = rest::native_ref(json!({ "project": self.project, "key": key }));
        issue.description = optional(fields, "/description");
        let priority = optional(fields, "/priority/id").and_then(|it| it.parse().ok());
        issue.priority = priority.filter(|it| (1..=4).contains(it));
        issue.assignee_id =
            optional(fields, "/assignee/accountId").or_else(|| optional(fields, "/assignee/name"));
        issue.labels = labels(rest::list(fields, "/labels").filter_map(Value::as_str));
        issue.created_at = optional(fields, "/created").as_deref().and_then(instant);
        issue.updated_at = optional(fields, "/updated").as_deref().and_then(instant);
        let mut is_blocked = false;
        for link in rest::list(fields, "/issuelinks") {
            let kind = optional(link, "/type/inward").map(|it| normalized(&it));
            let Some(other) = link
                .get("inwardIssue")
                .filter(|_| kind.as_deref() == Some("is blocked by"))
            else {
                continue;
            };
            let state = optional(other, "/fields/status/name");
            let is_terminal = state
                .as_ref()
                .is_some_and(|it| self.terminal.contains(&normalized(it)));
            let category = optional(other, "/fields/status/statusCategory/key");
            is_blocked |= !is_terminal && category.as_deref() != Some("done");
            issue.blocked_by.push(Blocker {
                id: optional(other, "/id"),
                identifier: optional(other, "/key"),
                state,
            });
        }
        let is_assigned = self.assignee.is_none() || self.assignee == issue.assignee_id;
        issue.dispatchable = is_assigned && !is_blocked;
        Ok(Some(issue))
    }
}

/// A text in a query.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Jira writes offsets without a colon.
fn instant(text: &str) -> Option<Millis> {
    let at = text.len().checked_sub(5)?;
    match text.get(at..)?.starts_with(['+', '-']) {
        true => time::parse(&format!("{}:{}", text.get(..at + 3)?, text.get(at + 3..)?)),
        false => time::parse(text),
    }
}

impl Remote for JiraTracker {
    fn http(&self) -> &Http {
        &self.http
    }

    async fn in_states(&self, states: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let names: Vec<String> = states.iter().map(|it| quoted(it.trim())).collect();
        let jql = format!(
            "project = {} AND status in ({}) ORDER BY created ASC",
            quoted(&self.project),
            names.join(", ")
        );
        let url = format!("{}/search/jql", self.endpoint);
        let mut issues = Vec::new();
        let mut token = Value::Null;
        for _ in 0..MAX_PAGES {
            let mut body = json!({ "jql": jql, "maxResults": PAGE, "fields": FIELDS });
            if !token.is_null() {
                body["nextPageToken"] = token.clone();
            }
            let mut page = self.post(&url, &body).await?;
            let records = rest::records(page["issues"].take())?;
            issues.extend(rest::listed(&records, states, |it| self.issue(it)));
            let next = page["nextPageToken"].take();
            if next.is_null() {
                return Ok(issues);
            }
            if next == token {
                return Err(rest::paging("the same page comes again and again"));
            }
            token = next;
        }
        Err(rest::endless())
    }

    async fn by_id(&self, ids: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let url = format!("{}/issue/bulkfetch", self.endpoint);
        let mut issues = Vec::new();
        for some in ids.chunks(PAGE) {
            let body = json!({ "issueIdsOrKeys": some, "fields": FIELDS });
            let mut answer = self.post(&url, &body).await?;
            for record in rest::records(answer["issues"].take())? {
                issues.extend(self.issue(&record).map_err(malformed)?);
            }
        }
        Ok(issues)
    }

    fn tool(&self, issue: &Issue) -> Arc<dyn Tool> {
        Arc::new(ApiTool {
            http: self.http.clone(),
            name: "jira_api",
            product: "Jira",
            project: self.endpoint.clone(),
            parts: &["issue"],
            // The API is not divided by project, but every issue's key begins with it.
            within: Some(format!("{}-", self.project)),
            issue: issue.identifier.clone(),
            example: format!("issue/{}/comment", issue.identifier),
        })
    }
}
