//! The thread that a run works in: a new one, or one that is stored.

use quipu_client::wire::{
    AskForApproval, SandboxPolicy, Thread, ThreadListCwdFilter, ThreadListParams, ThreadReadParams,
    ThreadResumeParams, ThreadSortKey, ThreadSourceKind, ThreadStartParams,
};
use quipu_client::{Client, Error};

use super::job::{Job, Which};
use super::reason;

/// A thread with the settings in force.
pub struct Opened {
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    pub cwd: String,
    pub sandbox: SandboxPolicy,
}

pub async fn open(client: &Client, job: &Job) -> Result<Opened, String> {
    let id = match &job.thread {
        Which::New => return start(client, job).await,
        Which::Stored(name) => stored(client, name).await?,
        Which::Latest { anywhere } => {
            let cwd = (!anywhere).then(|| job.cwd.display().to_string());
            latest(client, cwd).await?
        }
    };
    let params = ThreadResumeParams {
        thread_id: id,
        model: job.model.clone(),
        cwd: Some(job.cwd.display().to_string()),
        approval_policy: Some(AskForApproval::Never),
        sandbox: job.sandbox,
        ..ThreadResumeParams::default()
    };
    let it = client.thread_resume(params).await.map_err(text)?;
    Ok(Opened {
        thread: it.thread,
        model: it.model,
        model_provider: it.model_provider,
        cwd: it.cwd,
        sandbox: it.sandbox,
    })
}

async fn start(client: &Client, job: &Job) -> Result<Opened, String> {
    let params = ThreadStartParams {
        model: job.model.clone(),
        cwd: Some(job.cwd.display().to_string()),
        approval_policy: Some(AskForApproval::Never),
        sandbox: job.sandbox,
        ephemeral: Some(job.ephemeral),
        ..ThreadStartParams::default()
    };
    let it = client.thread_start(params).await.map_err(text)?;
    Ok(Opened {
        thread: it.thread,
        model: it.model,
        model_provider: it.model_provider,
        cwd: it.cwd,
        sandbox: it.sandbox,
    })
}

/// The id of the thread with this id or name.
pub async fn stored(client: &Client, name: &str) -> Result<String, String> {
    let params = ThreadReadParams {
        thread_id: name.to_owned(),
        include_turns: false,
    };
    if let Ok(read) = client.thread_read(params).await {
        return Ok(read.thread.id);
    }
    let mut params = everything();
    loop {
        let page = client.list_threads(params.clone()).await.map_err(text)?;
        let named = |thread: &&Thread| thread.name.as_deref() == Some(name);
        if let Some(thread) = page.data.iter().find(named) {
            return Ok(thread.id.clone());
        }
        if page.next_cursor.is_none() {
            return Err(format!(
                "no stored run has the id or name `{name}`; `quipu threads` lists them"
            ));
        }
        params.cursor = page.next_cursor;
    }
}

async fn latest(client: &Client, cwd: Option<String>) -> Result<String, String> {
    let place = cwd
        .as_ref()
        .map_or(String::new(), |cwd| format!(" for {cwd} (try --all)"));
    let params = ThreadListParams {
        limit: Some(1),
        cwd: cwd.map(ThreadListCwdFilter::One),
        ..everything()
    };
    let page = client.list_threads(params).await.map_err(text)?;
    match page.data.into_iter().next() {
        Some(thread) => Ok(thread.id),
        None => Err(format!("no run is stored{place}")),
    }
}

/// Threads of every kind that a person began, the latest first, of any provider.
pub fn everything() -> ThreadListParams {
    ThreadListParams {
        limit: Some(100),
        sort_key: Some(ThreadSortKey::UpdatedAt),
        model_providers: Some(Vec::new()),
        source_kinds: Some(vec![
            ThreadSourceKind::Cli,
            ThreadSourceKind::Vscode,
            ThreadSourceKind::Exec,
            ThreadSourceKind::AppServer,
        ]),
        ..ThreadListParams::default()
    }
}

/// What a person needs to know of an error: the server's words, without the method and the code.
pub fn text(error: Error) -> String {
    match error {
        Error::Refused { error, .. } => error.message,
        Error::TurnFailed { error, .. } => reason::failure(&error),
        other => other.to_string(),
    }
}
