//! What all trackers that are reached over the network have in common.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::http::Http;
use super::{Issue, Tracker, TrackerError};
use crate::session::Tool;

/// A service with issues: what each of them does in its own way.
pub(super) trait Remote: Send + Sync + 'static {
    /// Variables besides the usual one that may hold the secret.
    const OTHER_VARIABLES: &[&str] = &[];

    fn http(&self) -> &Http;

    /// The issues in some states.
    fn in_states(
        &self,
        states: &[String],
    ) -> impl Future<Output = Result<Vec<Issue>, TrackerError>> + Send;

    /// The issues with these ids, of which none is there twice.
    fn by_id(
        &self,
        ids: &[String],
    ) -> impl Future<Output = Result<Vec<Issue>, TrackerError>> + Send;

    /// The tool with which an agent reaches it.
    fn tool(&self, issue: &Issue) -> Arc<dyn Tool>;
}

/// Such a service as a tracker.
pub(super) struct RemoteTracker<R>(pub R);

impl<R: Remote> Tracker for RemoteTracker<R> {
    fn issues_in_states<'a>(
        &'a self,
        states: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>> {
        async move {
            if states.is_empty() {
                return Ok(Vec::new());
            }
            let mut issues = self.0.in_states(states).await?;
            // One may move from page to page while they are read.
            let mut seen = BTreeSet::new();
            issues.retain(|it| seen.insert(it.id.clone()));
            Ok(issues)
        }
        .boxed()
    }

    fn issues_by_id<'a>(
        &'a self,
        ids: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>> {
        async move {
            let ids: BTreeSet<String> = ids.iter().cloned().collect();
            self.0.by_id(&Vec::from_iter(ids)).await
        }
        .boxed()
    }

    fn tools(&self, issue: &Issue) -> Vec<Arc<dyn Tool>> {
        vec![self.0.tool(issue)]
    }

    fn secret_variables(&self) -> Vec<String> {
        let others = R::OTHER_VARIABLES.iter().map(|it| (*it).to_owned());
        let mut variables = self.0.http().secret_variables();
        variables.extend(others);
        variables
    }
}
