//! Being taken in by a server, or not.

use quipu_client::{Cause, Client, ConnectError, Error, Options, Version};
use serde_json::{Value, json};

use crate::support::{Peer, unconnected, within};

/// Connects to a peer that answers `initialize` as told.
async fn greeted_with(
    change: impl FnOnce(Options) -> Options,
    answer: Value,
) -> (Result<Client, ConnectError>, Value) {
    let (options, mut peer) = unconnected();
    let greet = async {
        let mut hello = peer.asked("initialize").await;
        let mut answer = answer;
        answer["id"] = hello["id"].clone();
        peer.say(answer).await;
        (hello["params"].take(), hello["id"].take(), peer)
    };
    let (client, (params, id, _peer)) = within("a handshake", async {
        tokio::join!(Client::connect(change(options)), greet)
    })
    .await;
    assert_eq!(id, 0);
    (client, params)
}

fn named(agent: &str) -> Value {
    json!({ "result": { "userAgent": agent } })
}

#[tokio::test]
async fn a_client_says_who_it_is_and_what_it_can_do() {
    let change = |options: Options| {
        options
            .client("tool", "2.0")
            .client_title("The Tool")
            .experimental_api(false)
            .opt_out(["item/agentMessage/delta"])
    };
    let (client, params) = greeted_with(change, named("tool/0.118.0 (Linux)")).await;
    let expected = json!({
        "clientInfo": { "name": "tool", "title": "The Tool", "version": "2.0" },
        "capabilities": {
            "experimentalApi": false,
            "optOutNotificationMethods": ["item/agentMessage/delta"],
        },
    });
    assert_eq!(params, expected);
    let server = client.unwrap().server().clone();
    assert_eq!(server.version, Some(Version::new(0, 118, 0)));
    assert_eq!(server.codex_home, None);
}

#[tokio::test]
async fn servers_that_are_too_old_are_refused() {
    let (client, _) = greeted_with(|it| it, named("codex/0.97.9 (Linux)")).await;
    let error = client.unwrap_err().to_string();
    assert_eq!(
        error,
        "the server has version 0.97.9, but 0.98.0 or newer is needed"
    );
    let (client, _) = greeted_with(|it| it, named("a mystery")).await;
    assert!(matches!(client, Err(ConnectError::NoVersion { .. })));
    let any = |options: Options| options.minimum_version(None);
    let (client, _) = greeted_with(any, named("a mystery")).await;
    assert_eq!(client.unwrap().server().version, None);
}

#[tokio::test]
async fn servers_that_are_newer_are_taken_as_they_are() {
    for (agent, version) in [
        ("codex/0.166.0 (Linux)", Version::new(0, 166, 0)),
        ("codex/1.2.3-alpha.4 (Linux)", Version::new(1, 2, 3)),
    ] {
        let (client, _) = greeted_with(|it| it, named(agent)).await;
        assert_eq!(client.unwrap().server().version, Some(version));
    }
}

#[tokio::test]
async fn a_refusal_is_reported_as_it_is() {
    let refusal = json!({ "error": { "code": -32600, "message": "not you" } });
    let (client, _) = greeted_with(|it| it, refusal).await;
    let error = client.unwrap_err().to_string();
    assert!(error.contains("not you (code -32600)"), "{error}");
    let (client, _) = greeted_with(|it| it, json!({ "result": 7 })).await;
    let unreadable = matches!(
        client,
        Err(ConnectError::Handshake {
            error: Error::Unreadable { .. },
            ..
        })
    );
    assert!(unreadable);
}

#[tokio::test]
async fn a_server_that_hangs_up_is_an_error() {
    let (options, Peer(raw)) = unconnected();
    drop(raw);
    let error = within("the end", Client::connect(options))
        .await
        .unwrap_err();
    let left = matches!(
        error,
        ConnectError::Handshake {
            error: Error::Closed(Cause::ServerClosed | Cause::Failed(_)),
            ..
        }
    );
    assert!(left, "{error}");
}
