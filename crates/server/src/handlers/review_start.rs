//! `review/start`: a code review, in the thread or beside it.

use std::sync::Arc;

use quipu_wire::method::event;
use quipu_wire::method::request::ReviewStart;
use quipu_wire::{
    ReviewDelivery, ReviewStartParams, ReviewTarget, Thread, ThreadStartedNotification,
};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::git_command::Git;
use crate::threads::{self, Overrides, ThreadHandle, Verb, load};
use crate::{Cx, Refusal, Reply};
use quipu_prompt::review;

impl ReplyHandler for ReviewStart {
    async fn handle(cx: Cx, mut params: ReviewStartParams, reply: Reply<Self>) {
        let thread = match prepare(&cx, &mut params).await {
            Ok(thread) => thread,
            Err(error) => return reply.send(Err(error)).await,
        };
        let merge_base = merge_base(&cx, &thread, &params.target).await;
        let message = Verb::Review {
            params,
            merge_base,
            reply,
        };
        thread.send(message).await;
    }
}

/// Where the current branch and the one it is compared with parted: the newest commit that it has in common
/// with that branch or its upstream, which may be ahead. Nothing if git cannot tell.
async fn merge_base(cx: &Cx, thread: &ThreadHandle, target: &ReviewTarget) -> Option<String> {
    let ReviewTarget::BaseBranch { branch } = target else {
        return None;
    };
    let cwd = thread.snapshot().await?.cwd;
    let git = Git::new(&cx.server.settings.config, &cwd);
    let mut commits = Vec::new();
    for name in [branch.clone(), format!("{branch}@{{upstream}}")] {
        let name = format!("{name}^{{commit}}");
        let verify = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &name,
        ];
        commits.extend(git.text(&verify).await);
    }
    // A branch that does not exist has no upstream either.
    commits.first()?;
    let known = commits.iter().map(|commit| commit.trim());
    let arguments: Vec<&str> = ["merge-base", "HEAD"].into_iter().chain(known).collect();
    let base = git.text(&arguments).await?;
    base.split_whitespace().next().map(str::to_owned)
}

/// The thread to review in: the one named, or a copy of it.
async fn prepare(cx: &Cx, params: &mut ReviewStartParams) -> Result<ThreadHandle, Refusal> {
    cx.server.takes_turns()?;
    let thread = threads::loaded(&cx.server, &params.thread_id)?;
    params.target = review::checked(params.target.clone()).map_err(Refusal::invalid_request)?;
    if params.delivery != Some(ReviewDelivery::Detached) {
        return Ok(thread);
    }
    let id = threads::parse_id(&thread.id)?;
    let snapshot = thread.snapshot().await.ok_or(Refusal::NoRollout(id))?;
    let rollout = match snapshot.rollout {
        Some(rollout) => rollout,
        None if snapshot.ephemeral => return Err(Refusal::NoRollout(id)),
        None => return Err(cannot_copy("No such file or directory (os error 2)")),
    };
    let client = Arc::clone(&cx.client);
    let forking = move |server: &Arc<_>| {
        let whole = load::Copy {
            ephemeral: false,
            cut: load::Cut::None,
            id: None,
        };
        load::fork(server, &client, &rollout, &Overrides::default(), &whole)
    };
    let opened = blocking(&cx.server, forking).await?;
    let opened = opened.map_err(|error| cannot_copy(&error.to_string()))?;
    let started = ThreadStartedNotification {
        thread: Thread {
            turns: Vec::new(),
            ..opened.thread
        },
    };
    cx.server
        .hub
        .broadcast::<event::ThreadStarted>(&started)
        .await;
    Ok(opened.handle)
}

fn cannot_copy(why: &str) -> Refusal {
    Refusal::internal(format!("error creating detached review thread: {why}"))
}
