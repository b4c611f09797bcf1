//! Servers on one database: what one of them stored, every other one finds, with homes of their own.

use std::path::Path;

use quipu_testkit::cluster::Cluster;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use quipu_testkit::process::{Launch, ServerProcess, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::app_server;

/// A database, a model, and servers with homes of their own.
pub struct Nodes {
    cluster: Cluster,
    database: String,
    url: String,
    model: ModelServer,
    homes: Vec<TempDir>,
    files: TempDir,
}

impl Nodes {
    /// None where PostgreSQL is not installed.
    pub async fn new() -> Option<Nodes> {
        let cluster = Cluster::start()?;
        let database = cluster.database();
        let url = cluster.address(&database);
        let mut migrate = Launch::new(crate::support::QUIPU)
            .args(["store", "migrate", "--store", &url])
            .start();
        assert!(migrate.exit().await.success());
        Some(Nodes {
            cluster,
            database,
            url,
            model: ModelServer::start().await.unwrap(),
            homes: Vec::new(),
            files: tempfile::tempdir().unwrap(),
        })
    }

    /// A file that only this user can read; its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.files.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, mode).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn home(&mut self, more: &str, store: &str) -> &Path {
        let home = tempfile::tempdir().unwrap();
        let config = format!(
            "model = \"m\"\nmodel_provider = \"own\"\n[model_providers.own]\nname = \"own\"\nbase_url = \"{}\"\nwire_api = \"responses\"\n{more}\n[store]\nurl = \"{}\"\n{store}",
            self.model.base_url(),
            self.url
        );
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        self.homes.push(home);
        self.homes.last().unwrap().path()
    }

    /// A server on a machine of its own.
    pub fn start(&mut self, more: &str) -> ServerProcess {
        self.start_with(more, "", &[])
    }

    /// The same with more settings of the store and more arguments.
    pub fn start_with(&mut self, more: &str, store: &str, arguments: &[&str]) -> ServerProcess {
        let home = self.home(more, store).to_str().unwrap().to_owned();
        let launch = app_server(arguments.iter().copied());
        launch.env("QUIPU_HOME", &home).start()
    }

    /// A server with the model that does what the prompt says.
    pub fn start_offline(&mut self, store: &str, arguments: &[&str]) -> ServerProcess {
        let home = tempfile::tempdir().unwrap();
        let url = &self.url;
        let config = format!("model_provider = \"offline\"\n[store]\nurl = \"{url}\"\n{store}");
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        let launch = app_server(arguments.iter().copied());
        let process = launch.env("QUIPU_HOME", home.path().to_str().unwrap());
        self.homes.push(home);
        process.start()
    }

    /// Ends all connections to the database.
    pub fn cut_connections(&self) {
        let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND datname = current_database()";
        self.cluster.execute(&self.database, others);
    }

    /// The model calls a tool next.
    pub fn play_calls(&self, tool: &str) {
        let calls = json!([{ "name": tool, "arguments": {} }]);
        self.model.queue_json(json!({ "calls": calls }));
    }

    /// What the model was sent last, as text.
    pub fn last_request(&self) -> String {
        let requests = self.model.requests();
        requests
            .last()
            .map(|it| it.body.to_string())
            .unwrap_or_default()
    }

    pub fn play(&self, text: &str) {
        let usage = json!({ "input": 1000, "output": 200 });
        self.model
            .queue_json(json!({ "text": text, "usage": usage }));
    }
}

pub fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

pub fn turn(thread: &str, text: &str, key: &str) -> Value {
    let input = json!([{ "type": "text", "text": text }]);
    json!({ "threadId": thread, "input": input, "idempotencyKey": key })
}

async fn threads(client: &mut Conversation, params: Value) -> Vec<String> {
    let page = client.call("thread/list", params).await;
    page["data"].as_array().unwrap().iter().map(id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_stored_the_next_one_goes_on_with() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut first = nodes.start("");
    let mut client = Conversation::start_numbered(first.stdio()).await;
    let started = client
        .call("thread/start", json!({ "idempotencyKey": "one" }))
        .await;
    let thread = id(&started["thread"]);
    let position = started["quipu"]["seq"].as_i64().unwrap();
    nodes.play("the first answer");
    let made = client.call("turn/start", turn(&thread, "find the needle", "two"));
    let made = id(&made.await["turn"]);
    client.skip_to("turn/completed").await;
    let forked = client
        .call(
            "thread/fork",
            json!({ "threadId": thread, "idempotencyKey": "three" }),
        )
        .await;
    let forked = id(&forked["thread"]);
    let section = client
        .call("threadSection/create", json!({ "name": "mine" }))
        .await;
    let section = id(&section["section"]);
    client
        .call(
            "thread/section/move",
            json!({ "threadId": thread, "sectionId": section }),
        )
        .await;
    let attached = json!({ "threadId": thread, "attachmentType": "t", "identityKey": "k", "payload": { "a": 1 } });
    client.call("thread/attachment/add", attached).await;
    client
        .call(
            "thread/name/set",
            json!({ "threadId": thread, "name": "named" }),
        )
        .await;
    client
        .call("thread/archive", json!({ "threadId": forked }))
        .await;
    client.leave().await;
    assert!(first.exit().await.success());

    let mut second = nodes.start("[budget.day]\ntokens = 1000\n");
    let mut client = Conversation::start_numbered(second.stdio()).await;
    assert_eq!(
        threads(&mut client, json!({})).await,
        std::slice::from_ref(&thread)
    );
    let found = threads(&mut client, json!({ "searchTerm": "needle" })).await;
    assert_eq!(found, std::slice::from_ref(&thread));
    assert_eq!(
        threads(&mut client, json!({ "searchTerm": "nothing" }))
            .await
            .len(),
        0
    );
    let archived = threads(&mut client, json!({ "archived": true })).await;
    assert_eq!(archived, std::slice::from_ref(&forked));
    client
        .call("thread/unarchive", json!({ "threadId": forked }))
        .await;
    assert_eq!(threads(&mut client, json!({})).await.len(), 2);
    let read = client
        .call("thread/read", json!({ "threadId": thread }))
        .await;
    assert_eq!(read["thread"]["name"], "named");
    assert_eq!(read["thread"]["section"]["name"], "mine");
    let attachments = client.call("thread/attachment/list", json!({ "threadId": thread }));
    assert_eq!(attachments.await["data"][0]["payload"], json!({ "a": 1 }));

    // The same requests with their keys act no more, on whatever server.
    let again = client
        .call("thread/start", json!({ "idempotencyKey": "one" }))
        .await;
    assert_eq!(id(&again["thread"]), thread);
    let other = turn(&thread, "other words", "two");
    let refused = client.refused("turn/start", other).await;
    assert!(
        refused.contains("was used for another request"),
        "{refused}"
    );
    let again = client.call("turn/start", turn(&thread, "find the needle", "two"));
    assert_eq!(id(&again.await["turn"]), made);

    // What was missed since the thread was made comes, without deltas.
    let resume = json!({ "threadId": thread, "quipu": { "after": position } });
    let resumed = client.call("thread/resume", resume).await;
    assert_eq!(resumed["quipu"]["replay"], "condensed", "{resumed}");
    let missed = client.until("turn/completed").await;
    let methods: Vec<&str> = missed
        .iter()
        .filter(|it| it["quipu"]["condensed"] == true)
        .filter_map(|it| it["method"].as_str())
        .collect();
    assert!(methods.contains(&"turn/started"), "{methods:?}");
    assert!(methods.contains(&"item/completed"), "{methods:?}");
    assert_eq!(resumed["thread"]["turns"][0]["id"], made.as_str());

    // What the first server spent counts for the budget of the second.
    client
        .call("turn/start", turn(&thread, "more", "four"))
        .await;
    let ended = client.skip_to("turn/completed").await;
    let error = ended["params"]["turn"]["error"]["message"].as_str();
    let error = error.unwrap_or_default();
    assert!(error.contains("1200 of 1000 tokens today"), "{ended}");
    client
        .call("thread/delete", json!({ "threadId": thread }))
        .await;
    assert_eq!(threads(&mut client, json!({})).await, [forked]);
    client.leave().await;
    second.signal(Signal::TERM);
    second.exit().await;
}
