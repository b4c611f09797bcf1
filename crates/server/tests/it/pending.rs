//! Input that waits until the model takes it: bounded, and refused in words.

use serde_json::{Value, json};

use crate::stage::{Stage, calls, gate, input, open, say, status};

/// The longest text that one request may have: four mebibytes.
fn longest() -> String {
    "\u{1f9f6}".repeat(1 << 20)
}

fn steer(thread: &str, turn: &str, words: &str) -> Value {
    let mut params = input(thread, words);
    params["expectedTurnId"] = json!(turn);
    params
}

#[tokio::test(flavor = "multi_thread")]
async fn input_that_waits_for_the_model_is_bounded() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    // By bytes, then by number.
    for (words, most) in [(longest(), 15), ("x".to_owned(), 1000)] {
        stage.play([calls("gate", json!({})), json!({ "text": "seen" })]);
        let turn = say(&mut client, &thread, "go").await;
        let question = client.skip_to("item/tool/call").await["id"].clone();
        for _ in 0..most {
            client
                .call("turn/steer", steer(&thread, &turn, &words))
                .await;
        }
        let refused = client
            .refused("turn/steer", steer(&thread, &turn, &words))
            .await;
        let expected =
            "too much input waits for the model: at most 1000 messages and 67108864 bytes";
        assert!(refused.starts_with(expected), "{refused}");
        // A new turn's input is the running turn's too.
        assert_eq!(
            client.refused("turn/start", input(&thread, &words)).await,
            refused
        );
        client.reply(&question, open()).await;
        let received = client.until("turn/completed").await;
        assert_eq!(status(&received), "completed");
    }
}

/// What one turn may hold, eight of them may not.
#[tokio::test(flavor = "multi_thread")]
async fn input_that_waits_in_all_threads_is_bounded() {
    let stage = Stage::new().await;
    let words = longest();
    let mut refused = None;
    let mut turns = Vec::new();
    'turns: for _ in 0..8 {
        let (mut client, thread) = stage.thread_with(gate()).await;
        stage.play([calls("gate", json!({}))]);
        let turn = say(&mut client, &thread, "go").await;
        client.skip_to("item/tool/call").await;
        for _ in 0..15 {
            let steered = client
                .try_call("turn/steer", steer(&thread, &turn, &words))
                .await;
            if let Err(error) = steered {
                refused = Some(error);
                break 'turns;
            }
        }
        turns.push((client, thread, turn));
    }
    let refused = refused.expect("there is a limit");
    assert_eq!(refused["code"], -32001, "{refused}");
    assert_eq!(
        turns.len(),
        4,
        "256 MiB are enough for four turns of 60 MiB"
    );
    // What ends gives its room back.
    let (mut client, thread, turn) = turns.pop().unwrap();
    let interrupt = json!({ "threadId": thread, "turnId": turn });
    client.call("turn/interrupt", interrupt).await;
    let (client, thread, turn) = &mut turns[0];
    let refused = client
        .refused("turn/steer", steer(thread, turn, &words))
        .await;
    assert!(refused.starts_with("too much input waits"), "{refused}");
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([calls("gate", json!({}))]);
    let turn = say(&mut client, &thread, "go").await;
    client.skip_to("item/tool/call").await;
    client
        .call("turn/steer", steer(&thread, &turn, &words))
        .await;
}
