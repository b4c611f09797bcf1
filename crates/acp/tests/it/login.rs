//! Logins that expire or are replaced while an editor works.

use quipu_testkit::identity::{IdentityServer, TOKEN};
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::editor::{Editor, Place};

/// A server whose model needs a login.
async fn place(model: &ModelServer, identity: &IdentityServer) -> Place {
    let config = format!(
        "model = \"m\"\nmodel_provider = \"mine\"\n[model_providers.mine]\nname = \"mine\"\nbase_url = \"{}\"\n\
         wire_api = \"responses\"\nrequires_openai_auth = true\nrequest_max_retries = 0\nstream_max_retries = 0\n",
        model.base_url(),
    );
    let issuer = identity.issuer();
    Place::with(&config, &[("CODEX_APP_SERVER_LOGIN_ISSUER", &issuer)])
}

/// Stores a login as `quipu login` in a terminal does, and returns its access token.
fn log_in(place: &Place, identity: &IdentityServer) -> String {
    let [id, access, refresh] = identity.mint();
    let tokens = json!({
        "id_token": id, "access_token": access, "refresh_token": refresh, "account_id": "acct-1",
    });
    let auth = json!({ "auth_mode": "chatgpt", "tokens": tokens });
    let new = place.home().join("auth.new");
    std::fs::write(&new, auth.to_string()).unwrap();
    std::fs::rename(new, place.home().join("auth.json")).unwrap();
    access
}

async fn hello(place: &Place) -> Editor {
    let mut editor = place.stranger();
    let capabilities = json!({ "auth": { "terminal": true } });
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
    editor.call("initialize", hello).await;
    editor
}

async fn say(editor: &mut Editor, session: &Value) -> Value {
    let text = json!({ "type": "text", "text": "hello" });
    let params = json!({ "sessionId": session, "prompt": [text] });
    editor.call("session/prompt", params).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_expires_is_asked_for_again_and_its_successor_is_used() {
    let model = ModelServer::start().await.unwrap();
    let identity = IdentityServer::start().await.unwrap();
    let place = place(&model, &identity).await;
    let mut editor = hello(&place).await;
    let new = json!({ "cwd": place.work(), "mcpServers": [] });
    let opened = editor.call("session/new", new.clone()).await;
    assert_eq!(opened["error"]["code"], -32000, "{opened}");
    log_in(&place, &identity);
    let login = json!({ "methodId": "login" });
    let answer = editor.call("authenticate", login.clone()).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let opened = editor.call("session/new", new).await;
    let session = &opened["result"]["sessionId"];

    // The provider refuses the tokens, and they cannot be refreshed.
    model.queue_json(json!({ "fail": 401, "body": "expired" }));
    let gone = json!({ "error": { "code": "refresh_token_expired" } });
    identity.reply(TOKEN, 401, gone.to_string());
    let answer = say(&mut editor, session).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("Authentication required: "),
        "{message}"
    );

    // Editors that always authenticate with a key do not replace a login.
    let stored = || std::fs::read_to_string(place.home().join("auth.json")).unwrap();
    let before = stored();
    let key = json!({ "methodId": "api-key" });
    let answer = editor.call("authenticate", key).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert_eq!(stored(), before);

    let access = log_in(&place, &identity);
    let answer = editor.call("authenticate", login).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    model.queue_json(json!({ "text": "again" }));
    let answer = say(&mut editor, session).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(editor.said(), "again");
    let sent = model.requests().pop().unwrap();
    assert_eq!(sent.headers["authorization"], format!("Bearer {access}"));
}
