//! The issues of one GitLab project.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::http::Http;
use super::provider::{Provider, invalid};
use super::rest::{self, ApiTool, Half, MAX_PAGES, PAGE};
use super::{Issue, Tracker, TrackerError, TrackerErrorKind, labels};
use crate::config::TrackerConfig;
use crate::env::Env;
use crate::session::Tool;
use crate::time;

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
        let failed = |why: &str| TrackerError::new(TrackerErrorKind::Pagination, why);
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
                _ => return Err(failed(&format!("page {page} is followed by page {next}"))),
            };
        }
        Err(failed("there are too many pages of issues"))
    }

    async fn in_states(&self, states: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let half = match Half::of(states, CLOSED) {
            Half::Open => "opened",
            Half::Closed => "closed",
            Half::Both => "all",
        };
        let query = format!("state={half}&order_by=created_at&sort=asc");
        let records = self.pages(&query).await?;
        let issues = rest::listed(&records, states, |it| self.issue(it).map(Some));
        let mut seen = BTreeSet::new();
        let is_new = |issue: &Issue| seen.insert(issue.id.clone());
        Ok(issues.into_iter().filter(is_new).collect())
    }

    async fn by_id(&self, ids: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let numbers: BTreeSet<u64> = ids.iter().filter_map(|id| id.parse().ok()).collect();
        let numbers: Vec<u64> = numbers.into_iter().collect();
        let mut issues = Vec::new();
        for some in numbers.chunks(PAGE) {
            let query: Vec<String> = some.iter().map(|it| format!("iids[]={it}")).collect();
            for record in self.pages(&query.join("&")).await? {
                issues.push(self.issue(&record).map_err(rest::malformed)?);
            }
        }
        Ok(issues)
    }

    fn issue(&self, record: &Value) -> Result<Issue, String> {
        let number = record.get("iid").and_then(Value::as_u64);
        let number = number.ok_or("an issue has no `iid`")?;
        let native = rest::required(record, "state")?;
        let title = rest::required(record, "title")?;
        let names = record.get("labels").and_then(Value::as_array);
        let labels = labels(names.into_iter().flatten().filter_map(Value::as_str));
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let state = rest::state(self.state_prefix.as_deref(), &labels, &native, CLOSED);
        let mut issue = Issue::new(
            &number.to_string(),
            &format!("{name}-{number}"),
            &title,
            &state,
        );
        issue.native_ref = rest::native_ref(json!({
            "project": self.path,
            "iid": number,
            "id": record.get("id"),
        }));
        issue.description = rest::optional(record, "/description");
        issue.priority = rest::priority(&labels);
        issue.url = rest::optional(record, "/web_url");
        issue.assignee_id = rest::optional(record, "/assignee/username");
        issue.created_at = rest::optional(record, "/created_at")
            .as_deref()
            .and_then(time::parse);
        issue.updated_at = rest::optional(record, "/updated_at")
            .as_deref()
            .and_then(time::parse);
        issue.dispatchable = self.is_assigned(record);
        issue.labels = labels;
        Ok(issue)
    }

    fn is_assigned(&self, record: &Value) -> bool {
        let Some(wanted) = &self.assignee else {
            return true;
        };
        let assignees = record.get("assignees").and_then(Value::as_array);
        let mut names = assignees
            .into_iter()
            .flatten()
            .filter_map(|it| it.get("username")?.as_str());
        names.any(|name| name.eq_ignore_ascii_case(wanted))
    }
}

impl Tracker for GitLabTracker {
    fn issues_in_states<'a>(
        &'a self,
        states: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>> {
        match states {
            [] => async { Ok(Vec::new()) }.boxed(),
            _ => self.in_states(states).boxed(),
        }
    }

    fn issues_by_id<'a>(
        &'a self,
        ids: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>> {
        self.by_id(ids).boxed()
    }

    fn tools(&self, issue: &Issue) -> Vec<Arc<dyn Tool>> {
        ApiTool {
            http: self.http.clone(),
            name: "gitlab_api",
            product: "GitLab",
            project: self.project.clone(),
            parts: &["issues", "merge_requests", "labels", "milestones"],
            within: None,
            issue: issue.identifier.clone(),
            example: format!("issues/{}/notes", issue.id),
        }
        .shared()
    }

    fn secret_variables(&self) -> Vec<String> {
        self.http.secret_variables()
    }
}
