//! The everyday names, against Quipu.

use futures_util::StreamExt as _;
use quipu_client::wire::{
    AskForApproval, ModelListParams, ReviewDelivery, ReviewStartParams, ReviewTarget, SandboxMode,
    ServerNotification, ThreadListParams, ThreadResumeParams, ThreadStartParams, TurnStatus,
    TurnSteerParams,
};
use quipu_client::{Event, prompt};
use serde_json::json;

use crate::support::{Lab, connect, script, soon, thread, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_from_start_to_archive() {
    let lab = Lab::new();
    let client = lab.client().await;
    let id = thread(&client).await;
    soon(client.run_turn(prompt(&id, "hello"))).await;
    let read = soon(client.read_thread(&id, true)).await;
    assert_eq!((read.turns.len(), &*read.preview), (1, "hello"));
    let fork = soon(client.fork_thread(&id)).await;
    assert_eq!(fork.turns.len(), 1);
    let resumed = soon(client.resume_thread(&fork.id, ThreadResumeParams::default())).await;
    assert_eq!(resumed.id, fork.id);
    soon(client.compact_thread(&id)).await;

    let params = ThreadListParams {
        limit: Some(1),
        ..ThreadListParams::default()
    };
    let listed: Vec<_> = within("the list", client.threads(params.clone()).collect()).await;
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!(
        soon(client.list_threads(params.clone())).await.data.len(),
        1
    );
    soon(client.archive_thread(&fork.id)).await;
    let listed: Vec<_> = within("the list", client.threads(params).collect()).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(
        !soon(client.list_models(ModelListParams::default()))
            .await
            .data
            .is_empty()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_and_reviews_by_their_everyday_names() {
    let lab = Lab::new();
    let client = lab.client().await;
    let id = thread(&client).await;
    let mut events = client.thread_events(&id);
    let mut ended = async || loop {
        let event = within("the end", events.next()).await.unwrap();
        if let Event::Notification(ServerNotification::TurnCompleted(it)) = event {
            return it.turn.status;
        }
    };
    let stalled = script(json!([{ "text": "…", "stall": true }]));
    let turn = soon(client.start_turn(prompt(&id, stalled))).await;
    assert_eq!(turn.status, TurnStatus::InProgress);
    let steered = client.steer_turn(TurnSteerParams {
        thread_id: id.clone(),
        input: prompt("", "and this").input,
        expected_turn_id: turn.id.clone(),
        ..TurnSteerParams::default()
    });
    assert_eq!(soon(steered).await, turn.id);
    soon(client.interrupt_turn(&id, &turn.id)).await;
    assert_eq!(ended().await, TurnStatus::Interrupted);
    let review = client.start_review(ReviewStartParams {
        thread_id: id.clone(),
        target: ReviewTarget::Custom {
            instructions: script(json!([{ "text": "Fine." }])),
        },
        delivery: None,
    });
    assert_eq!(soon(review).await.review_thread_id, id);
    assert_eq!(ended().await, TurnStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_fill_what_params_leave_open() {
    let lab = Lab::new();
    let options = lab.options().model("quipu-7").cwd(lab.directory.path());
    let options = options
        .approval_policy(AskForApproval::Untrusted)
        .sandbox(SandboxMode::ReadOnly);
    let client = connect(options).await;
    let params = client.with_defaults(ThreadStartParams {
        approval_policy: Some(AskForApproval::Never),
        ..ThreadStartParams::default()
    });
    let started = soon(client.thread_start(params)).await;
    assert_eq!(started.model, "quipu-7");
    assert_eq!(started.cwd, lab.directory.path().to_str().unwrap());
    assert_eq!(started.approval_policy, AskForApproval::Never);
    let thread = soon(client.start_thread(ThreadStartParams::default())).await;
    assert_eq!(thread.cwd, started.cwd);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reviews_in_the_thread_and_beside_it() {
    let lab = Lab::new();
    let client = lab.client().await;
    let thread = thread(&client).await;
    soon(client.run_turn(prompt(&thread, "hello"))).await;
    for delivery in [ReviewDelivery::Inline, ReviewDelivery::Detached] {
        let params = ReviewStartParams {
            thread_id: thread.clone(),
            target: ReviewTarget::Custom {
                instructions: script(json!([{ "text": "Nothing to complain about." }])),
            },
            delivery: Some(delivery),
        };
        let done = soon(client.run_review(params)).await;
        assert_eq!(done.turn.status, TurnStatus::Completed);
        assert!(
            done.review_text.contains("Nothing to complain about."),
            "{done:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_threads_at_once_do_not_mix() {
    let lab = Lab::new();
    let client = lab.client().await;
    let mut running = Vec::new();
    for number in 0..20 {
        let client = client.clone();
        running.push(tokio::spawn(async move {
            let thread = thread(&client).await;
            let steps = json!([{ "deltas": ["thread ", number.to_string()] }]);
            soon(client.run_turn(prompt(&thread, script(steps)))).await
        }));
    }
    for (number, turn) in running.into_iter().enumerate() {
        let done = within("a turn", turn).await.unwrap();
        assert_eq!(done.agent_message, format!("thread {number}"));
    }
}
