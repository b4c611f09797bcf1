//! The thread that a session goes on in, and what has to be the same for that.

use serde::{Deserialize, Serialize};

use crate::{Slice, Usage};

/// Which thread was used last, kept in the session for [`reuse_threads`](crate::Adapter::reuse_threads).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreadState {
    /// The thread's id; empty if there is none.
    pub thread_id: String,
    /// The working directory.
    pub cwd: String,
    /// The workspace's fingerprint, if the agent worked in one.
    pub workspace_fingerprint: Option<String>,
    /// A digest of the tools. A thread keeps those that it was started with.
    pub tools: String,
    /// A digest of approvals, sandbox and MCP servers. A thread that is loaded keeps those too.
    #[serde(default)]
    pub settings: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// What was used in the thread, as last reported.
    pub used: Usage,
}

impl Slice for ThreadState {
    const NAME: &'static str = "quipu.thread";
    type Event = ThreadState;

    fn apply(&mut self, state: ThreadState) {
        *self = state;
    }
}

impl ThreadState {
    /// Whether an evaluation that would start this thread can go on in another.
    pub(crate) fn fits(&self, wanted: &ThreadState) -> bool {
        !self.thread_id.is_empty()
            && self.cwd == wanted.cwd
            && self.workspace_fingerprint == wanted.workspace_fingerprint
            && self.tools == wanted.tools
            && self.settings == wanted.settings
            && self.model == wanted.model
    }
}
