//! Order and load: what belongs together takes effect as it was sent, what does not waits for nobody,
//! and too much is refused.

use std::collections::HashMap;

use quipu_rpc::{Connection, Limits};
use quipu_testkit::conversation::Conversation;
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::lab::Lab;
use crate::stage::{input, text};

/// The prompt that makes the offline model play steps.
fn script(steps: Value) -> String {
    json!({ "script": steps }).to_string()
}

async fn thread(client: &mut Conversation) -> String {
    let started = client.call("thread/start", json!({})).await;
    text(&started["thread"]["id"])
}

/// A client whose thread has so much to tell that it is stuck until the client reads on.
async fn stuck(lab: &Lab) -> (Conversation, String) {
    let narrow = Limits {
        messages: 4,
        bytes: 1 << 16,
    };
    let (ours, theirs) = Connection::pair(narrow);
    lab.serve(theirs);
    let mut client = Conversation::start(ours).await;
    let id = thread(&mut client).await;
    let flood = script(json!([{ "deltas": 120, "size": 100_000 }]));
    client.call("turn/start", input(&id, &flood)).await;
    (client, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_request_delays_nothing_unrelated() {
    // A provider that takes connections and says nothing, and a pipe that nobody has written to.
    let provider = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", provider.local_addr().unwrap());
    let config = format!(
        "model_provider = \"slow\"\n[model_providers.slow]\nname = \"slow\"\nbase_url = \"{url}\"\n"
    );
    let lab = Lab::with(&[], &config);
    let pipe = lab.directory.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let run = |command: Value| json!({ "command": command, "sandboxPolicy": { "type": "dangerFullAccess" } });

    let mut client = Conversation::start(lab.connection()).await;
    let slow = [
        client.ask("model/list", json!({})).await,
        client.ask("command/exec", run(json!(["cat", pipe]))).await,
    ];
    let (silent, _) = provider.accept().await.unwrap();
    for _ in 0..50 {
        client.call("thread/loaded/list", json!({})).await;
        client.call("fs/getMetadata", json!({ "path": pipe })).await;
        client.call("command/exec", run(json!(["true"]))).await;
    }
    let offline = json!({ "modelProvider": "offline" });
    let started = client.call("thread/start", offline).await;
    let hello = input(
        &text(&started["thread"]["id"]),
        &script(json!([{ "text": "hello" }])),
    );
    client.call("turn/start", hello).await;
    let received = client.until("turn/completed").await;
    let answered = |received: &Value| slow.iter().any(|id| received["id"] == *id);
    assert!(!received.iter().any(answered), "{received:?}");

    drop((silent, provider));
    let writer = tokio::task::spawn_blocking(move || std::fs::write(pipe, "at last"));
    client.answered(slow[0]).await.unwrap();
    let said = client.answered(slow[1]).await.unwrap();
    assert_eq!(said["stdout"], "at last");
    writer.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_thread_take_effect_in_order() {
    let lab = Lab::new();
    let mut client = Conversation::start(lab.connection()).await;
    let id = thread(&mut client).await;
    let hello = script(json!([{ "text": "hello" }]));
    client.call("turn/start", input(&id, &hello)).await;
    client.skip_to("turn/completed").await;
    for number in 0..100 {
        let name = json!({ "threadId": id, "name": number.to_string() });
        client.ask("thread/name/set", name).await;
    }
    // Another spelling of the same thread.
    let upper = json!({ "threadId": id.to_uppercase() });
    let read = client.call("thread/read", upper).await;
    assert_eq!(read["thread"]["name"], "99");
    for number in 0..100 {
        let received = client.skip_to("thread/name/updated").await;
        assert_eq!(received["params"]["threadName"], number.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_requests_are_refused_and_every_one_is_answered() {
    const SENT: usize = 3000;
    let lab = Lab::new();
    let (mut reader, id) = stuck(&lab).await;
    let mut raw: Raw = lab.raw_initialized(Value::Null).await;
    let request = |number: usize| {
        let params = json!({ "threadId": id });
        json!({ "id": number, "method": "thread/read", "params": params }).to_string()
    };
    let mut outcomes: HashMap<i64, Value> = HashMap::new();
    let mut refused = 0;
    for batch in (0..SENT).collect::<Vec<_>>().chunks(600) {
        raw.send(batch.iter().map(|number| request(*number))).await;
        // Some of each batch find no room, whether the thread is stuck already or not.
        while refused == 0 || outcomes.len() + 512 < batch[batch.len() - 1] + 1 {
            let answer = next_answer(&mut raw).await;
            refused += usize::from(answer["error"]["code"] == -32001);
            let before = outcomes.insert(answer["id"].as_i64().unwrap(), answer);
            assert_eq!(before, None);
        }
    }
    reader.skip_to("turn/completed").await;
    while outcomes.len() < SENT {
        let answer = next_answer(&mut raw).await;
        let before = outcomes.insert(answer["id"].as_i64().unwrap(), answer);
        assert_eq!(before, None);
    }
    for answer in outcomes.values() {
        let overloaded = json!({ "code": -32001, "message": "Server overloaded; retry later." });
        assert!(
            answer["result"].is_object() || answer["error"] == overloaded,
            "{answer}"
        );
    }
    // Afterwards there is room again.
    raw.send([request(SENT)]).await;
    let again = next_answer(&mut raw).await;
    assert!(again["result"].is_object(), "{again}");
}

/// The next message that answers something; everyone is told of the thread's status besides.
async fn next_answer(raw: &mut Raw) -> Value {
    loop {
        let message = raw.next().await.unwrap();
        if !message["id"].is_null() {
            return message;
        }
    }
}
