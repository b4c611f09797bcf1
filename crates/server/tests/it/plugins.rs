//! Plugins: listed, installed, used in turns and removed.

use std::fs;

use serde_json::json;

use crate::lab::Lab;
use crate::marketplace::{Marketplace, add_server, add_skill, put};
use crate::stage::{Stage, calls, completed, run, status, text};

#[tokio::test]
async fn a_plugin_is_listed_read_installed_and_removed() {
    let config = "# mine\nmodel = \"a\"\n[[skills.config]]\nname = \"demo:off\"\nenabled = false\n";
    let lab = Lab::with(&[], config);
    let client = lab.client().await;
    let root = lab.directory.path().join("repo");
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    let mut market = Marketplace::new(&root, "mkt");
    let manifest = json!({ "name": "demo", "description": "Demo", "interface": {
        "displayName": "Demo!", "category": "Own", "defaultPrompt": "Do it", "logo": "./assets/l.png",
        "screenshots": ["./s.png", "../x.png"],
    } });
    let policy = json!({ "category": "Cat", "policy": { "authentication": "ON_USE" } });
    let plugin = market.offer("demo", &manifest, &policy);
    add_skill(&plugin, "on");
    add_skill(&plugin, "off");
    add_server(&plugin, "srv");
    put(&plugin, ".app.json", r#"{"apps":{"x":{"id":"cal_1"}}}"#);
    let hook = json!({ "type": "command", "command": "true" });
    let later = json!({ "type": "prompt" });
    let hooks = json!({ "hooks": { "Stop": [{ "hooks": [later, hook] }] } });
    put(&plugin, "hooks/hooks.json", &hooks.to_string());
    market.offer("bare", &json!({}), &json!({}));

    let list = async || {
        let params = json!({ "cwds": [root.join("a/b")] });
        client.call_raw("plugin/list", &params).await.unwrap()
    };
    let listed = list().await;
    assert_eq!(listed["marketplaceLoadErrors"], json!([]));
    let entry = &listed["marketplaces"][0];
    assert_eq!(
        (&entry["name"], &entry["path"], &entry["interface"]),
        (&json!("mkt"), &json!(market.file()), &json!(null))
    );
    let demo = json!({
        "id": "demo@mkt", "name": "demo", "source": { "type": "local", "path": plugin },
        "installed": false, "enabled": false, "installPolicy": "AVAILABLE", "authPolicy": "ON_USE",
        "interface": {
            "displayName": "Demo!", "shortDescription": null, "longDescription": null,
            "developerName": null, "category": "Cat", "capabilities": [], "websiteUrl": null,
            "privacyPolicyUrl": null, "termsOfServiceUrl": null, "defaultPrompt": ["Do it"],
            "brandColor": null, "composerIcon": null, "logo": plugin.join("assets/l.png"),
            "screenshots": [plugin.join("s.png")], "screenshotUrls": [],
        },
    });
    assert_eq!(entry["plugins"][0], demo);
    let bare = &entry["plugins"][1];
    assert_eq!(
        (&bare["authPolicy"], &bare["interface"]),
        (&json!("ON_INSTALL"), &json!(null))
    );

    let read = client
        .call_raw("plugin/read", &market.plugin("demo"))
        .await
        .unwrap();
    let read = &read["plugin"];
    assert_eq!(read["summary"], demo);
    assert_eq!(read["description"], "Demo");
    let skills = read["skills"].as_array().unwrap().iter();
    let skills: Vec<_> = skills
        .map(|it| (text(&it["name"]), it["enabled"] == true))
        .collect();
    assert_eq!(
        skills,
        [("demo:off".to_owned(), false), ("demo:on".to_owned(), true)]
    );
    assert_eq!(read["mcpServers"], json!(["srv"]));
    let hook = json!({ "key": "demo@mkt:hooks/hooks.json:stop:0:1", "eventName": "stop" });
    assert_eq!(read["hooks"], json!([hook]));
    assert_eq!(read["appTemplates"], json!([]));
    let app = json!({
        "id": "cal_1", "name": "cal_1", "description": null, "needsAuth": true,
        "installUrl": "https://chatgpt.com/apps/cal-1/cal_1",
    });
    assert_eq!(read["apps"], json!([app]));

    let home = lab.directory.path().join("home");
    let installed = home.join("plugins/cache/mkt/demo/local");
    // Twice: the second copy takes the place of the first.
    for _ in 0..2 {
        let answer = client
            .call_raw("plugin/install", &market.plugin("demo"))
            .await;
        let expected = json!({ "authPolicy": "ON_USE", "appsNeedingAuth": [] });
        assert_eq!(answer.unwrap(), expected);
        assert!(installed.join("skills/on/SKILL.md").is_file());
        let shelf = fs::read_dir(home.join("plugins/cache/mkt")).unwrap();
        assert_eq!(shelf.count(), 1, "nothing else is left there");
    }
    let settings = || fs::read_to_string(home.join("config.toml")).unwrap();
    let entry = "\n[plugins.\"demo@mkt\"]\nenabled = true\n";
    assert_eq!(settings(), format!("{config}{entry}"));
    let shown = &list().await["marketplaces"][0]["plugins"][0];
    assert_eq!(
        (&shown["installed"], &shown["enabled"]),
        (&json!(true), &json!(true))
    );

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
async fn a_broken_marketplace_hides_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let user = directory.path().join("user");
    let lab = Lab::at(directory, &[("HOME", user.to_str().unwrap())], "");
    let client = lab.client().await;
    let at = |name: &str| lab.directory.path().join(name);
    for (place, name) in [("user", "own"), ("b", "mkt")] {
        Marketplace::new(&at(place), name).offer("demo", &json!({}), &json!({}));
    }
    // The same plugin again is not shown twice, and one for other products not at all.
    let mut again = Marketplace::new(&at("c"), "mkt");
    again.offer("demo", &json!({}), &json!({}));
    again.offer(
        "other",
        &json!({}),
        &json!({ "policy": { "products": ["chatgpt"] } }),
    );
    put(&at("a"), ".agents/plugins/marketplace.json", "{}");
    let odd = json!({ "policy": { "installation": "SOMETIMES" } });
    Marketplace::new(&at("d"), "odd").offer("x", &json!({}), &odd);
    let params = json!({ "cwds": [at("c"), at("a"), at("b"), at("d"), at("nowhere")] });
    let list = client.call_raw("plugin/list", &params).await.unwrap();
    let names = list["marketplaces"].as_array().unwrap().iter();
    let names: Vec<String> = names.map(|it| text(&it["name"])).collect();
    assert_eq!(names, ["own", "mkt"], "the user's own comes first");
    let file = at("a").join(".agents/plugins/marketplace.json");
    let message = format!(
        "invalid marketplace file `{}`: missing field `name` at line 1 column 2",
        file.display()
    );
    let error = json!({ "marketplacePath": file, "message": message });
    let errors = &list["marketplaceLoadErrors"];
    assert_eq!(errors[0], error);
    assert!(text(&errors[1]["message"]).contains("unknown variant `SOMETIMES`"));
    client.finish().await;
}

#[cfg(unix)]
#[tokio::test]
async fn hostile_plugins_are_refused_with_a_reason() {
    use std::os::unix::fs::symlink;
    let lab = Lab::new();
    let client = lab.client().await;
    let mut market = Marketplace::new(&lab.directory.path().join("market"), "mkt");
    let out = market.offer("out", &json!({}), &json!({}));
    symlink("/etc", out.join("link")).unwrap();
    let moved = market.offer("moved", &json!({}), &json!({}));
    let elsewhere = lab.directory.path().join("elsewhere");
    fs::rename(&moved, &elsewhere).unwrap();
    symlink(&elsewhere, &moved).unwrap();
    let deep = market.offer("deep", &json!({}), &json!({}));
    fs::create_dir_all(deep.join("x/".repeat(20))).unwrap();
    market.offer("a b", &json!({}), &json!({}));
    let outside = "local plugin source path must stay within the marketplace root";
    let names = "invalid plugin name: only ASCII letters, digits, `_`, and `-` are allowed";
    for (name, reason) in [
        ("out", "`link` is a link out of the plugin"),
        ("moved", outside),
        ("deep", "is nested too deeply"),
        ("a b", names),
    ] {
        let refused = client
            .call_raw("plugin/install", &market.plugin(name))
            .await;
        let refused = refused.unwrap_err();
        assert_eq!(refused.code, -32600, "{name}");
        assert!(refused.message.ends_with(reason), "{name}: {refused}");
    }
    let cache = lab.directory.path().join("home/plugins/cache/mkt");
    assert_eq!(fs::read_dir(cache).unwrap().count(), 0, "nothing is left");
    let refused = client
        .call_raw("plugin/read", &market.plugin("moved"))
        .await;
    let text = "path does not exist or is not a directory";
    assert_eq!(refused.unwrap_err().message, text);
    client.finish().await;
}

/// The names of the tools that the model was offered last, and what it read before the user's text.
fn last_offer(stage: &Stage) -> (Vec<String>, String) {
    let requests = stage.model.requests();
    let body = &requests.last().unwrap().body;
    let tools = body["tools"].as_array().unwrap().iter();
    let names = tools.filter_map(|tool| Some(tool["name"].as_str()?.to_owned()));
    (names.collect(), body["input"].to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loaded_thread_uses_what_a_plugin_brings_until_it_is_removed() {
    let stage = Stage::with("[features]\ncodex_hooks = true\n").await;
    let (mut client, thread) = stage.thread().await;
    run(&mut client, &thread, "before").await;
    let mut market = Marketplace::new(&stage.directory().join("market"), "mkt");
    let manifest = json!({ "name": "demo", "description": "Shows things", "interface": { "displayName": "Demo" } });
    let plugin = market.offer("demo", &manifest, &json!({}));
    add_skill(&plugin, "sk");
    add_server(&plugin, "srv");
    let ran = stage.directory().join("ran");
    let hook = json!({ "type": "command", "command": format!("cat > {}", ran.display()) });
    let hooks = json!({ "hooks": { "UserPromptSubmit": [{ "hooks": [hook] }] } });
    put(&plugin, "hooks/hooks.json", &hooks.to_string());
    client.call("plugin/install", market.plugin("demo")).await;

    stage.play([
        calls("mcp__srv__echo", json!({ "z": 1 })),
        json!({ "text": "done" }),
    ]);
    let mention = json!({ "type": "mention", "name": "Demo", "path": "plugin://demo@mkt" });
    let words = json!({ "type": "text", "text": "use $demo:sk" });
    let input = json!({ "threadId": thread, "input": [words, mention] });
    client.call("turn/start", input).await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    assert_eq!(
        completed(&messages, "mcpToolCall")[0]["status"],
        "completed"
    );
    let (tools, input) = last_offer(&stage);
    assert!(tools.contains(&"mcp__srv__echo".to_owned()), "{tools:?}");
    assert!(input.contains("Body of sk"), "the skill is read");
    assert!(
        input.contains("- `Demo`: Shows things"),
        "the list has the plugin"
    );
    assert!(input.contains("mentioned the plugin `Demo`"), "{input}");
    assert!(fs::read_to_string(&ran).unwrap().contains("use $demo:sk"));
    let servers = client.call("mcpServerStatus/list", json!({})).await;
    assert_eq!(servers["data"][0]["name"], "srv");
    assert!(servers["data"][0]["tools"]["echo"].is_object());
    let skills = client.call("skills/list", json!({})).await;
    assert!(skills.to_string().contains("demo:sk"));

    client
        .call("plugin/uninstall", json!({ "pluginId": "demo@mkt" }))
        .await;
    fs::remove_file(&ran).unwrap();
    run(&mut client, &thread, "after $demo:sk").await;
    let (tools, input) = last_offer(&stage);
    assert!(!tools.contains(&"mcp__srv__echo".to_owned()), "{tools:?}");
    assert_eq!(
        input.matches("Body of sk").count(),
        1,
        "only what was read before"
    );
    assert!(!ran.exists(), "its hook is gone");
    let skills = client.call("skills/list", json!({})).await;
    assert!(!skills.to_string().contains("demo:sk"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_is_off_brings_nothing() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let mut market = Marketplace::new(&stage.directory().join("market"), "mkt");
    let plugin = market.offer("demo", &json!({}), &json!({}));
    add_skill(&plugin, "sk");
    client.call("plugin/install", market.plugin("demo")).await;
    let has_skill = async |client: &mut quipu_testkit::conversation::Conversation| {
        let skills = client.call("skills/list", json!({})).await;
        skills.to_string().contains("demo:sk")
    };
    assert!(has_skill(&mut client).await);
    for key in ["plugins.\"demo@mkt\".enabled", "features.plugins"] {
        let set =
            |value: bool| json!({ "keyPath": key, "value": value, "mergeStrategy": "upsert" });
        client.call("config/value/write", set(false)).await;
        assert!(!has_skill(&mut client).await, "{key}");
        client.call("config/value/write", set(true)).await;
        assert!(has_skill(&mut client).await, "{key}");
    }
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
