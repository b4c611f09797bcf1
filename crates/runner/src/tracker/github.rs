//! The issues of one GitHub repository.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::http::{Answer, Http};
use super::provider::{Provider, invalid};
use super::rest::{self, ApiTool, Half, MAX_PAGES, PAGE};
use super::{Issue, Tracker, TrackerError, TrackerErrorKind, labels};
use crate::config::TrackerConfig;
use crate::env::Env;
use crate::session::Tool;
use crate::time;

/// The value of `tracker.kind`.
pub const KIND: &str = "github";
/// Where issues are worked on unless the workflow says otherwise.
pub const ACTIVE_STATES: &[&str] = &["open"];
/// Where they are done.
pub const TERMINAL_STATES: &[&str] = &["closed"];

const CLOSED: &str = "closed";

/// A repository on GitHub.
pub struct GitHubTracker {
    http: Http,
    endpoint: String,
    repository: String,
    state_prefix: Option<String>,
    assignee: Option<String>,
}

impl GitHubTracker {
    /// The repository that `tracker.provider` names.
    pub fn new(config: &TrackerConfig, env: &Env) -> Result<GitHubTracker, TrackerError> {
        let provider = Provider::new(config, env);
        let repository = provider.required("repository", "owner/name")?;
        let plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
        let is_name = |part: &str| !part.is_empty() && part != ".." && part.chars().all(plain);
        match repository.split_once('/') {
            Some((owner, name)) if is_name(owner) && is_name(name) => {}
            _ => return Err(invalid("repository", "must be `owner/name`")),
        }
        let secret = provider.secret("token", "GITHUB_TOKEN")?;
        Ok(GitHubTracker {
            endpoint: provider.endpoint("https://api.github.com")?,
            http: Http::new(secret, "authorization", "Bearer ")?,
            repository,
            state_prefix: provider.text("state_prefix")?,
            assignee: provider.text("assignee")?,
        })
    }

    fn project(&self) -> String {
        format!("{}/repos/{}", self.endpoint, self.repository)
    }

    async fn in_states(&self, states: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let half = match Half::of(states, CLOSED) {
            Half::Open => "open",
            Half::Closed => "closed",
            Half::Both => "all",
        };
        let mut url = format!(
            "{}/issues?state={half}&sort=created&direction=asc&per_page={PAGE}",
            self.project()
        );
        let mut issues = Vec::new();
        let mut seen = BTreeSet::new();
        for _ in 0..MAX_PAGES {
            let answer = self.http.ask(Method::GET, &url, None).await?;
            let answer = self.http.success(answer)?;
            let next = self.next_page(&answer)?;
            let page = rest::records(answer.body)?;
            issues.extend(rest::listed(&page, states, |it| self.issue(it)));
            let Some(next) = next else {
                return Ok(unique(issues));
            };
            if !seen.insert(url) {
                return Err(paging("the same page comes again and again"));
            }
            url = next;
        }
        Err(paging("there are too many pages of issues"))
    }

    /// The address of the next page, which must be at the same server: the token goes along.
    fn next_page(&self, answer: &Answer) -> Result<Option<String>, TrackerError> {
        let link = answer.headers.get("link").and_then(|it| it.to_str().ok());
        let next = link.and_then(|link| {
            let mut links = link.split(',');
            links.find_map(|it| {
                let (url, rel) = it.split_once(';')?;
                let url = url.trim().strip_prefix('<')?.strip_suffix('>')?;
                rel.contains("rel=\"next\"").then(|| url.to_owned())
            })
        });
        match next {
            Some(url) if !url.starts_with(&format!("{}/", self.endpoint)) => {
                Err(paging("the next page is at another address"))
            }
            next => Ok(next),
        }
    }

    async fn by_id(&self, ids: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let numbers: BTreeSet<u64> = ids.iter().filter_map(|id| id.parse().ok()).collect();
        let mut issues = Vec::new();
        for number in numbers {
            let url = format!("{}/issues/{number}", self.project());
            let answer = self.http.ask(Method::GET, &url, None).await?;
            // Gone, never there, or moved to another repository.
            if [301, 404, 410].contains(&answer.status) {
                continue;
            }
            let answer = self.http.success(answer)?;
            issues.extend(self.issue(&answer.body).map_err(rest::malformed)?);
        }
        Ok(issues)
    }

    /// A record as an issue; nothing for a pull request.
    fn issue(&self, record: &Value) -> Result<Option<Issue>, String> {
        if record.get("pull_request").is_some_and(|it| !it.is_null()) {
            return Ok(None);
        }
        let number = record.get("number").and_then(Value::as_u64);
        let number = number.ok_or("an issue has no `number`")?;
        let native = rest::required(record, "state")?;
        let title = rest::required(record, "title")?;
        let given = record.get("labels").and_then(Value::as_array);
        // Old issues have labels that are only a name.
        let names = given.into_iter().flatten();
        let names = names.filter_map(|it| it.get("name").unwrap_or(it).as_str());
        let labels = labels(names);
        let name = self.repository.rsplit('/').next().unwrap_or_default();
        let state = rest::state(self.state_prefix.as_deref(), &labels, &native, CLOSED);
        let mut issue = Issue::new(
            &number.to_string(),
            &format!("{name}-{number}"),
            &title,
            &state,
        );
        issue.native_ref = rest::native_ref(json!({
            "repository": self.repository,
            "number": number,
            "node_id": record.get("node_id"),
        }));
        issue.description = rest::optional(record, "/body");
        issue.priority = rest::priority(&labels);
        issue.url = rest::optional(record, "/html_url");
        issue.assignee_id = rest::optional(record, "/assignee/login");
        issue.created_at = rest::optional(record, "/created_at")
            .as_deref()
            .and_then(time::parse);
        issue.updated_at = rest::optional(record, "/updated_at")
            .as_deref()
            .and_then(time::parse);
        let blockers = record.pointer("/issue_dependencies_summary/blocked_by");
        let is_blocked = blockers.and_then(Value::as_u64).is_some_and(|it| it > 0);
        issue.dispatchable = !is_blocked && self.is_assigned(record);
        issue.labels = labels;
        Ok(Some(issue))
    }

    fn is_assigned(&self, record: &Value) -> bool {
        let Some(wanted) = &self.assignee else {
            return true;
        };
        let assignees = record.get("assignees").and_then(Value::as_array);
        let mut logins = assignees
            .into_iter()
            .flatten()
            .filter_map(|it| it.get("login")?.as_str());
        logins.any(|login| login.eq_ignore_ascii_case(wanted))
    }
}

fn paging(why: &str) -> TrackerError {
    TrackerError::new(TrackerErrorKind::Pagination, why)
}

/// Issues may move from page to page while they are read.
fn unique(issues: Vec<Issue>) -> Vec<Issue> {
    let mut seen = BTreeSet::new();
    let is_new = |issue: &Issue| seen.insert(issue.id.clone());
    issues.into_iter().filter(is_new).collect()
}

impl Tracker for GitHubTracker {
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
            name: "github_api",
            product: "GitHub",
            project: self.project(),
            parts: &["issues", "pulls", "labels", "milestones", "assignees"],
            within: None,
            issue: issue.identifier.clone(),
            example: format!("issues/{}/comments", issue.id),
        }
        .shared()
    }

    fn secret_variables(&self) -> Vec<String> {
        let mut variables = self.http.secret_variables();
        // The command line of GitHub reads this one as well.
        variables.push("GH_TOKEN".to_owned());
        variables
    }
}
