//! The issues of one GitHub repository.

use std::collections::BTreeSet;
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};

use super::http::{Answer, Http};
use super::provider::{Provider, invalid};
use super::remote::Remote;
use super::rest::{self, ApiTool, Half, MAX_PAGES, PAGE};
use super::{Issue, TrackerError, labels};
use crate::config::TrackerConfig;
use crate::env::Env;
use crate::session::Tool;

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
                Err(rest::paging("the next page is at another address"))
            }
            next => Ok(next),
        }
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
        // Old issues have labels that are only a name.
        let names = rest::list(record, "/labels");
        let labels = labels(names.filter_map(|it| it.get("name").unwrap_or(it).as_str()));
        let state = rest::state(self.state_prefix.as_deref(), &labels, &native, CLOSED);
        let mut issue = rest::numbered(&self.repository, number, &title, &state);
        issue.native_ref = rest::native_ref(json!({
            "repository": self.repository,
            "number": number,
            "node_id": record.get("node_id"),
        }));
        issue.description = rest::optional(record, "/body");
        issue.priority = rest::priority(&labels);
        issue.url = rest::optional(record, "/html_url");
        issue.assignee_id = rest::optional(record, "/assignee/login");
        issue.created_at = rest::instant(record, "/created_at");
        issue.updated_at = rest::instant(record, "/updated_at");
        let blockers = record.pointer("/issue_dependencies_summary/blocked_by");
        let is_blocked = blockers.and_then(Value::as_u64).is_some_and(|it| it > 0);
        issue.dispatchable =
            !is_blocked && rest::is_assigned(record, "login", self.assignee.as_deref());
        issue.labels = labels;
        Ok(Some(issue))
    }
}

impl Remote for GitHubTracker {
    /// The command line of GitHub reads this one as well.
    const OTHER_VARIABLES: &[&str] = &["GH_TOKEN"];

    fn http(&self) -> &Http {
        &self.http
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
                return Ok(issues);
            };
            if !seen.insert(url) {
                return Err(rest::paging("the same page comes again and again"));
            }
            url = next;
        }
        Err(rest::endless())
    }

    async fn by_id(&self, ids: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let mut issues = Vec::new();
        for number in rest::numbers(ids) {
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

    fn tool(&self, issue: &Issue) -> Arc<dyn Tool> {
        Arc::new(ApiTool {
            http: self.http.clone(),
            name: "github_api",
            product: "GitHub",
            project: self.project(),
            parts: &["issues", "pulls", "labels", "milestones", "assignees"],
            within: None,
            issue: issue.identifier.clone(),
            example: format!("issues/{}/comments", issue.id),
        })
    }
}
