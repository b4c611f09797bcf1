//! Plugins of the account: recommended, taken over, enabled and uninstalled at the backend.

use std::path::{Path, PathBuf};

use quipu_testkit::backend::Backend;
use serde_json::{Value, json};

use crate::marketplace::{Marketplace, put};
use crate::stage::{Stage, text};

const FEATURED: &str = "/plugins/featured";
const LIST: &str = "/plugins/list";

/// A backend, and a stage with the provider's marketplace that uses it.
async fn stage() -> (Backend, Stage, Marketplace) {
    let backend = Backend::start().await.unwrap();
    backend.set("GET", FEATURED, 200, &json!(["linear@openai-curated"]));
    backend.set("GET", LIST, 200, &json!([]));
    let base = format!(
        "chatgpt_base_url = \"{}\"\n[features]\napps = false\n",
        backend.base_url()
    );
    let stage = Stage::with(&base).await;
    let mut market = Marketplace::new(&stage.home().join(".tmp/plugins"), "openai-curated");
    for name in ["linear", "gmail"] {
        market.offer(name, &json!({ "name": name }), &json!({}));
    }
    put(stage.home(), ".tmp/plugins.sha", "abc123\n");
    (backend, stage, market)
}

fn remote(plugins: &[(&str, bool)]) -> Value {
    let plugin = |(name, enabled): &(&str, bool)| json!({ "id": name, "name": name, "marketplace_name": "openai-curated", "version": "1", "enabled": enabled });
    plugins.iter().map(plugin).collect()
}

/// The ids of the installed plugins in a list.
fn installed(list: &Value) -> Vec<String> {
    let plugins = list["marketplaces"][0]["plugins"]
        .as_array()
        .unwrap()
        .iter();
    let installed = plugins.filter(|it| it["installed"] == true && it["enabled"] == true);
    installed.map(|it| text(&it["name"])).collect()
}

fn marker(home: &Path) -> PathBuf {
    home.join(".tmp/app-server-remote-plugin-sync-v1")
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_of_the_account_are_taken_over_once_at_a_start_and_on_request() {
    let (backend, stage, _) = stage().await;
    backend.log_in(stage.home(), "pro").unwrap();
    backend.set(
        "GET",
        LIST,
        200,
        &remote(&[("linear", true), ("gmail", false), ("unheard", true)]),
    );
    let mut client = stage.client().await;
    // The second request, by the test, comes after the first was dealt with.
    backend.received(LIST, 1).await;
    let forced = json!({ "forceRemoteSync": true });
    let list = client.call("plugin/list", forced.clone()).await;
    assert_eq!(installed(&list), ["linear"]);
    assert_eq!(list["remoteSyncError"], Value::Null);
    assert_eq!(list["featuredPluginIds"], json!(["linear@openai-curated"]));
    let interface = json!({ "displayName": "OpenAI Curated" });
    assert_eq!(list["marketplaces"][0]["interface"], interface);
    let files = stage
        .home()
        .join("plugins/cache/openai-curated/linear/abc123/.codex-plugin");
    assert!(files.is_dir());
    let request = &backend.requests(LIST)[0];
    let bearer = format!("Bearer {}", backend.token());
    assert_eq!(request.headers["authorization"], bearer);
    assert_eq!(request.headers["chatgpt-account-id"], "acct-1");

    // What the account has no more goes, if it is asked to.
    backend.set("GET", LIST, 200, &remote(&[("gmail", true)]));
    let list = client.call("plugin/list", json!({})).await;
    assert_eq!(installed(&list), ["linear"], "only on request");
    let list = client.call("plugin/list", forced).await;
    assert_eq!(installed(&list), ["gmail"]);
    assert!(!files.exists());
    let asked = backend.requests(FEATURED);
    assert_eq!(asked.len(), 1, "recommendations are kept");
    assert_eq!(asked[0].path, "/plugins/featured?platform=codex");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_adds_and_never_removes() {
    let (backend, stage, market) = stage().await;
    let mut client = stage.client().await;
    client.call("plugin/install", market.plugin("gmail")).await;
    drop(client);
    stage.stop().await;
    backend.log_in(stage.home(), "pro").unwrap();
    backend.set("GET", LIST, 200, &remote(&[("linear", true)]));
    let mut stage = stage;
    stage.restart().await;
    let mut client = stage.client().await;
    backend.received(LIST, 1).await;
    loop {
        let list = client.call("plugin/list", json!({})).await;
        if installed(&list) == ["linear", "gmail"] && marker(stage.home()).exists() {
            break;
        }
    }
    stage.restart().await;
    let mut client = stage.client().await;
    client.call("plugin/list", json!({})).await;
    backend.received(FEATURED, 3).await;
    assert_eq!(backend.requests(LIST).len(), 1, "once per home");
}

#[tokio::test(flavor = "multi_thread")]
async fn recommendations_need_no_login_and_everything_else_says_that_it_does() {
    let (backend, stage, market) = stage().await;
    let mut client = stage.client().await;
    let list = client
        .call("plugin/list", json!({ "forceRemoteSync": true }))
        .await;
    assert_eq!(list["featuredPluginIds"], json!(["linear@openai-curated"]));
    let no_login = "chatgpt authentication required to sync remote plugins";
    assert_eq!(list["remoteSyncError"], no_login);
    assert!(
        !backend.requests(FEATURED)[0]
            .headers
            .contains_key("authorization")
    );
    let mut install = market.plugin("gmail");
    install["forceRemoteSync"] = json!(true);
    let uninstall = json!({ "pluginId": "gmail@openai-curated", "forceRemoteSync": true });
    let no_login = "chatgpt authentication required for remote plugin mutation";
    for (method, params, verb) in [
        ("plugin/install", install, "enable"),
        ("plugin/uninstall", uninstall, "uninstall"),
    ] {
        let refused = client.refused(method, params).await;
        assert_eq!(
            refused,
            format!("failed to {verb} remote plugin: {no_login}")
        );
    }
    let key = json!({ "OPENAI_API_KEY": "sk-test-secret" }).to_string();
    std::fs::write(stage.home().join("auth.json"), key).unwrap();
    let list = client
        .call("plugin/list", json!({ "forceRemoteSync": true }))
        .await;
    let text = text(&list["remoteSyncError"]);
    assert!(
        text.ends_with("sync remote plugins; api key auth is not supported"),
        "{text}"
    );
    assert!(backend.requests(LIST).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_account_changes_first_and_what_it_refuses_does_not_happen_here() {
    let (backend, stage, market) = stage().await;
    backend.log_in(stage.home(), "pro").unwrap();
    let mut client = stage.client().await;
    let (enable, uninstall) = (
        "/plugins/gmail@openai-curated/enable",
        "/plugins/gmail@openai-curated/uninstall",
    );
    let mut install = market.plugin("gmail");
    install["forceRemoteSync"] = json!(true);
    let remove = json!({ "pluginId": "gmail@openai-curated", "forceRemoteSync": true });
    let id = "gmail@openai-curated";
    let url = format!("{}{enable}", backend.base_url());
    for (status, body, reason) in [
        (
            403,
            json!("no"),
            format!("remote plugin mutation failed with status 403 Forbidden from {url}: no"),
        ),
        (
            200,
            json!({ "id": "other", "enabled": true }),
            format!(
                "remote plugin mutation returned unexpected plugin id: expected `{id}`, got `other`"
            ),
        ),
        (
            200,
            json!({ "id": id, "enabled": false }),
            format!(
                "remote plugin mutation returned unexpected enabled state for `{id}`: expected true, got false"
            ),
        ),
    ] {
        backend.set("POST", enable, status, &body);
        let refused = client.refused("plugin/install", install.clone()).await;
        assert_eq!(refused, format!("failed to enable remote plugin: {reason}"));
    }
    let is_installed = || {
        stage
            .home()
            .join("plugins/cache/openai-curated/gmail")
            .exists()
    };
    assert!(!is_installed());
    backend.set("POST", enable, 200, &json!({ "id": id, "enabled": true }));
    client.call("plugin/install", install).await;
    assert!(is_installed());
    backend.set("POST", uninstall, 500, &json!(""));
    client.refused("plugin/uninstall", remove.clone()).await;
    assert!(is_installed());
    backend.set(
        "POST",
        uninstall,
        200,
        &json!({ "id": id, "enabled": false }),
    );
    client.call("plugin/uninstall", remove).await;
    assert!(!is_installed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_fails_leaves_the_local_list() {
    let (backend, stage, _) = stage().await;
    backend.log_in(stage.home(), "pro").unwrap();
    backend.set("GET", FEATURED, 500, &json!("x"));
    backend.set("GET", LIST, 500, &json!("oops"));
    let url = format!("{}{LIST}", backend.base_url());
    let mut client = stage.client().await;
    for (status, body, error) in [
        (
            500,
            json!("oops"),
            format!(
                "remote plugin sync request to {url} failed with status 500 Internal Server Error: oops"
            ),
        ),
        (
            200,
            json!({ "x": 1 }),
            format!(
                "failed to parse remote plugin sync response from {url}: invalid type: map, expected a sequence at line 1 column 0"
            ),
        ),
        (
            200,
            json!([{ "name": "z", "marketplace_name": "else", "enabled": true }]),
            "remote marketplace `else` is not available locally".to_owned(),
        ),
    ] {
        backend.set("GET", LIST, status, &body);
        let list = client
            .call("plugin/list", json!({ "forceRemoteSync": true }))
            .await;
        assert_eq!(list["remoteSyncError"], error);
        assert_eq!(list["featuredPluginIds"], json!([]));
        assert_eq!(
            list["marketplaces"][0]["plugins"].as_array().unwrap().len(),
            2
        );
    }
    assert!(!marker(stage.home()).exists());
}

#[expect(clippy::disallowed_methods, reason = "a marketplace is a repository")]
pub fn git(directory: &Path, arguments: &[&str]) -> String {
    let done = std::process::Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{arguments:?}: {said}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// Stores everything in the repository; the version.
pub fn commit(repository: &Path) -> String {
    git(repository, &["add", "-A"]);
    git(repository, &["commit", "-q", "-m", "more"]);
    git(repository, &["rev-parse", "HEAD"])
}

/// The names of the offered plugins.
fn offered(list: &Value) -> Vec<String> {
    let plugins = list["marketplaces"][0]["plugins"].as_array();
    let plugins = plugins.into_iter().flatten();
    plugins.map(|it| text(&it["name"])).collect()
}

/// The version that is kept.
fn version(home: &Path) -> String {
    let version = std::fs::read_to_string(home.join(".tmp/plugins.sha"));
    version.unwrap_or_default().trim().to_owned()
}

/// Asks a new process after another until the list is as it should be: a copy that is there is shown before the new one
/// has come.
async fn list_until(stage: &mut Stage, repository: &Path, expected: (&[&str], &str)) {
    loop {
        stage.restart_with_marketplace(repository);
        let list = stage.client().await.call("plugin/list", json!({})).await;
        let names = offered(&list);
        stage.stop().await;
        if names == expected.0 && version(stage.home()) == expected.1 {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_s_marketplace_is_fetched_when_plugins_are_asked_for() {
    let mut stage = Stage::with("chatgpt_base_url = \"http://127.0.0.1:9/\"").await;
    let place = tempfile::tempdir().unwrap();
    let repository = place.path().join("repository");
    let missing = place.path().join("missing");

    // Without the repository the list is that of the machine.
    stage.restart_with_marketplace(&missing);
    let mut client = stage.client().await;
    let list = client.call("plugin/list", json!({})).await;
    assert_eq!(list["marketplaces"], json!([]));
    assert!(!stage.home().join(".tmp/plugins").exists());

    let mut market = Marketplace::new(&repository, "openai-curated");
    market.offer("linear", &json!({ "name": "linear" }), &json!({}));
    git(&repository, &["init", "-q"]);
    let first = commit(&repository);
    list_until(&mut stage, &repository, (&["linear"], &first)).await;

    // A later version takes its place.
    market.offer("gmail", &json!({ "name": "gmail" }), &json!({}));
    let second = commit(&repository);
    list_until(&mut stage, &repository, (&["linear", "gmail"], &second)).await;

    // It is used without the repository too.
    stage.restart_with_marketplace(&missing);
    let mut client = stage.client().await;
    let file = stage
        .home()
        .join(".tmp/plugins/.agents/plugins/marketplace.json");
    let plugin = json!({ "marketplacePath": file, "pluginName": "gmail" });
    client.call("plugin/install", plugin).await;
    let installed = stage.home().join("plugins/cache/openai-curated/gmail");
    assert!(installed.join(second).is_dir());
}
