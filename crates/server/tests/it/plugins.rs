//! Plugins, apps and spoken threads are not used yet: their methods answer as the reference does while
//! those features are off.

use std::fs;

use serde_json::json;

use crate::lab::Lab;
use crate::stage::Stage;

#[tokio::test]
async fn a_plugin_is_installed_for_later_and_removed() {
    let config = "# mine\nmodel = \"a\"\n";
    let lab = Lab::with(&[], config);
    let client = lab.client().await;
    let root = lab.directory.path().join("market");
    let source = root.join("plugins/demo");
    fs::create_dir_all(root.join(".agents/plugins")).unwrap();
    fs::create_dir_all(source.join(".codex-plugin")).unwrap();
    fs::create_dir_all(source.join("skills/s")).unwrap();
    fs::write(
        source.join(".codex-plugin/plugin.json"),
        r#"{"name":"demo"}"#,
    )
    .unwrap();
    fs::write(source.join("skills/s/SKILL.md"), "x").unwrap();
    std::os::unix::fs::symlink("/etc", source.join("link")).unwrap();
    let marketplace = root.join(".agents/plugins/marketplace.json");
    let offer = json!({ "name": "demo", "source": { "source": "local", "path": "./plugins/demo" },
        "policy": { "authentication": "ON_USE" } });
    let text = json!({ "name": "mkt", "plugins": [offer] }).to_string();
    fs::write(&marketplace, text).unwrap();

    let home = lab.directory.path().join("home");
    let installed = home.join("plugins/cache/mkt/demo/local");
    let install = json!({ "marketplacePath": marketplace, "pluginName": "demo" });
    // Twice: the second copy takes the place of the first.
    for _ in 0..2 {
        let answer = client.call_raw("plugin/install", &install).await.unwrap();
        assert_eq!(
            answer,
            json!({ "authPolicy": "ON_USE", "appsNeedingAuth": [] })
        );
        assert!(installed.join("skills/s/SKILL.md").is_file());
        assert!(!installed.join("link").exists(), "links stay behind");
        let shelf = fs::read_dir(home.join("plugins/cache/mkt")).unwrap();
        assert_eq!(shelf.count(), 1, "nothing else is left there");
    }
    let settings = || fs::read_to_string(home.join("config.toml")).unwrap();
    let entry = "\n[plugins.\"demo@mkt\"]\nenabled = true\n";
    assert_eq!(settings(), format!("{config}{entry}"));

    let list = json!({ "cwds": [root] });
    let list = client.call_raw("plugin/list", &list).await.unwrap();
    assert_eq!(list["marketplaces"], json!([]));
    let uninstall = json!({ "pluginId": "demo@mkt" });
    for _ in 0..2 {
        let answer = client.call_raw("plugin/uninstall", &uninstall).await;
        assert_eq!(answer.unwrap(), json!({}));
    }
    assert!(!installed.exists());
    assert_eq!(settings(), config);
    client.finish().await;
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_reported_instead_of_an_empty_list() {
    let lab = Lab::with(&[], "model = 7\n");
    let mut client = lab.client().await;
    client.ignore(&["configWarning"]);
    let read = json!({ "marketplacePath": "/x", "pluginName": "p" });
    for (method, params) in [
        ("app/list", json!({})),
        ("plugin/list", json!({})),
        ("plugin/read", read),
        ("skills/list", json!({})),
        ("experimentalFeature/list", json!({})),
    ] {
        let error = client.call_raw(method, &params).await.unwrap_err();
        assert_eq!(error.code, -32603, "{method}: {error}");
        let words = "failed to reload config: ";
        assert!(error.message.starts_with(words), "{method}: {error}");
        assert!(error.message.contains("config.toml:1:9: invalid type"));
    }
    client.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_cannot_be_spoken_with() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let audio = json!({ "data": "AA==", "sampleRate": 24000, "numChannels": 1 });
    for (method, more) in [
        ("start", json!({ "prompt": "p" })),
        ("appendText", json!({ "text": "t" })),
        ("appendAudio", json!({ "audio": audio })),
        ("stop", json!({})),
    ] {
        let mut params = more;
        params["threadId"] = json!(thread);
        let method = format!("thread/realtime/{method}");
        let refused = client.refused(&method, params).await;
        let text = format!("thread {thread} does not support realtime conversation");
        assert_eq!(refused, text);
    }
    let apps = client.call("app/list", json!({ "threadId": thread })).await;
    assert_eq!(apps, json!({ "data": [], "nextCursor": null }));
}
