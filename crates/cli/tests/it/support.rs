//! The program under test, and what several tests say to it.

use quipu_testkit::model::ModelServer;
use quipu_testkit::process::{Launch, ServerProcess};
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program as it was built.
pub const QUIPU: &str = env!("CARGO_BIN_EXE_quipu");

/// `quipu app-server` with more arguments.
pub fn app_server<'a>(args: impl IntoIterator<Item = &'a str>) -> Launch {
    Launch::new(QUIPU).args(["app-server"]).args(args)
}

/// A server on a websocket port of its own.
pub fn websocket_server() -> ServerProcess {
    app_server(["--listen", "ws://127.0.0.1:0"]).start()
}

/// A server on a home that outlives it.
pub fn server_in(home: &TempDir) -> ServerProcess {
    let path = home.path().to_str().unwrap();
    app_server([]).env("QUIPU_HOME", path).start()
}

/// A home whose model is scripted and whose commands run unsandboxed and unasked.
pub async fn scripted_home() -> (TempDir, ModelServer) {
    let model = ModelServer::start().await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let config = format!(
        "model = \"scripted-model\"\nmodel_provider = \"scripted\"\nsandbox_mode = \"danger-full-access\"\n\
         approval_policy = \"never\"\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}\"\n\
         wire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 0\n",
        model.base_url(),
    );
    std::fs::write(directory.path().join("config.toml"), config).unwrap();
    (directory, model)
}

pub fn initialize(id: i64) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    json!({ "id": id, "method": "initialize", "params": { "clientInfo": info } })
}

pub fn list(id: i64) -> Value {
    json!({ "id": id, "method": "thread/loaded/list", "params": {} })
}

/// Introduces itself and asks something, to see that the connection works.
pub async fn converse(raw: &mut Raw) {
    let hello = raw.call(&initialize(1)).await;
    assert!(hello["result"].is_object(), "{hello}");
    let page = raw.call(&list(2)).await;
    assert!(page["result"].is_object(), "{page}");
}
