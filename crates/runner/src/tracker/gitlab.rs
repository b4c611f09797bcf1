//! The issues of one GitLab project.

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};

use super::http::Http;
use super::provider::{Provider, invalid};
use super::remote::Remote;
use super::rest::{self, ApiTool, Half, MAX_PAGES, PAGE};
use super::{Issue, TrackerError, labels};
use crate::config::TrackerConfig;
use crate::env::Env;
use crate::session::Tool;

/// The value of `tracker.kind`.
pub const KIND: &str = "gitlab";
/// Where issues are worked on unless the workflow says otherwise.
pub const ACTIVE_STATES: &[&str] = &["opened"];
/// Where they are done.
pub const TERMINAL_STATES: &[&str] = &["closed"];

const CLOSED: &str = "closed";

/// A project on GitLab.
pub struct GitLabTracker {
    http: Http,
    /// The address of the project in the API.
    project: String,
    /// Its path or number, as the workflow has it.
    path: String,
    state_prefix: Option<String>,
    assignee: Option<String>,
}

impl GitLabTracker {
    /// The project that `tracker.provider` names.
    pub fn new(config: &TrackerConfig, env: &Env) -> Result<GitLabTracker, TrackerError> {
        let provider = Provider::new(config, env);
        let path = provider.required("project", "group/name")?;
        let plain = |it: char| it.is_ascii_alphanumeric() || "-_./".contains(it);
        if !path.chars().all(plain) || path.split('/').any(|it| it.is_empty() || it == "..") {
            return Err(invalid("project", "must be `group/name` or a number"));
        }
        let endpoint = provider.endpoint("https://gitlab.com/api/v4")?;
        let secret = provider.secret("token", "GITLAB_TOKEN")?;
        Ok(GitLabTracker {
            http: Http::new(secret, "private-token", "")?,
            project: format!("{endpoint}/projects/{}", path.replace('/', "%2F")),
            path,
            state_prefix: provider.text("state_prefix")?,
            assignee: provider.text("assignee")?,
        })
    }

    /// All records that a query finds.
    async fn pages(&self, query: &str) -> Result<Vec<Value>, TrackerError> {
        let mut records = Vec::new();
        let mut page = 1_u64;
        for _ in 0..MAX_PAGES {
            let url = format!(
                "{}/issues?{query}&per_page={PAGE}&page={page}",
                self.project
            );
            let answer = self.http.ask(Method::GET, &url, None).await?;
            let answer = self.http.success(answer)?;
            let next = answer
                .headers
                .get("x-next-page")
                .and_then(|it| it.to_str().ok());
            let next = next.map(str::trim).unwrap_or_default().to_owned();
            records.extend(rest::records(answer.body)?);
            if next.is_empty() {
                return Ok(records);
            }
            page = match next.parse() {
                Ok(next) if next > page => next,
                _ => {
                    let why = format!("page {page} is followed by page {next}");
                    return Err(rest::paging(&why));
                }
            };
        }
        Err(rest::endless())
    }

    fn issue(&self, record: &Value) -> Result<Issue, String> {
        let number = record.get("iid").and_then(Value::as_u64);
        let number = number.ok_or("an issue has no `iid`")?;
        let native = rest::required(record, "state")?;
        let title = rest::required(record, "title")?;
        let labels = labels(rest::list(record, "/labels").filter_map(Value::as_str));
        let state = rest::state(self.state_prefix.as_deref(), &labels, &native, CLOSED);
        let mut issue = rest::numbered(&self.path, number, &title, &state);
        issue.native_ref = rest::native_ref(json!({
            "project": self.path,
            "iid": number,
            "id": record.get("id"),
        }));
        issue.description = rest::optional(record, "/description");
        issue.priority = rest::priority(&labels);
        issue.url = rest::optional(record, "/web_url");
        issue.assignee_id = rest::optional(record, "/assignee/username");
        issue.created_at = rest::instant(record, "/created_at");
        issue.updated_at = rest::instant(record, "/updated_at");
        issue.dispatchable = rest::is_assigned(record, "username", self.assignee.as_deref());
        issue.labels = labels;
        Ok(issue)
    }
}

impl Remote for GitLabTracker {
    fn http(&self) -> &Http {
        &self.http
    }

    async fn in_states(&self, states: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let half = match Half::of(states, CLOSED) {
            Half::Open => "opened",
            Half::Closed => "closed",
            Half::Both => "all",
        };
        let query = format!("state={half}&order_by=created_at&sort=asc");
        let records = self.pages(&query).await?;
        Ok(rest::listed(&records, states, |it| {
            self.issue(it).map(Some)
        }))
    }

    async fn by_id(&self, ids: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let mut issues = Vec::new();
        for some in rest::numbers(ids).chunks(PAGE) {
            let query: Vec<String> = some.iter().map(|it| format!("iids[]={it}")).collect();
            for record in self.pages(&query.join("&")).await? {
                issues.push(self.issue(&record).map_err(rest::malformed)?);
            }
        }
        Ok(issues)
    }

    fn tool(&self, issue: &Issue) -> Arc<dyn Tool> {
        Arc::new(ApiTool {
            http: self.http.clone(),
            name: "gitlab_api",
            product: "GitLab",
            project: self.project.clone(),
            parts: &["issues", "merge_requests", "labels", "milestones"],
            within: None,
            issue: issue.identifier.clone(),
            example: format!("issues/{}/notes", issue.id),
        })
    }
}
