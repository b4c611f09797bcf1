//! Marketplaces that the user adds, and the lists over all of them.

use std::fs;
use std::path::Path;

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::marketplace::{Marketplace, put};
use crate::remote_plugins::{commit, git};
use crate::stage::Stage;

/// The URL that stands for a repository of the test.
const URL: &str = "https://git.example/tools.git";

/// A marketplace with one plugin.
fn market(root: &Path, name: &str) -> Marketplace {
    let mut market = Marketplace::new(root, name);
    let manifest = json!({ "name": "one", "interface": { "shortDescription": "Sweeps floors" } });
    market.offer("one", &manifest, &json!({}));
    market
}

/// Lets `git` find a repository at the URL.
fn alias(stage: &Stage, repository: &Path) {
    let alias = format!(
        "[url \"{}\"]\ninsteadOf = {URL}\n",
        repository.to_str().unwrap()
    );
    fs::write(stage.directory().join(".gitconfig"), alias).unwrap();
}

async fn listed(client: &mut Conversation) -> Vec<Value> {
    let list = client.call("plugin/list", json!({})).await;
    let ids = list["marketplaces"].as_array().unwrap().iter();
    ids.flat_map(|it| it["plugins"].as_array().unwrap())
        .map(|it| it["id"].clone())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_is_added_listed_and_removed() {
    let mut stage = Stage::new().await;
    let root = fs::canonicalize(stage.directory()).unwrap().join("market");
    market(&root, "team");
    let mut client = stage.client().await;
    let source = json!({ "source": root });
    let mut expected =
        json!({ "marketplaceName": "team", "installedRoot": root, "alreadyAdded": false });
    let added = client.call("marketplace/add", source.clone()).await;
    assert_eq!(added, expected);
    expected["alreadyAdded"] = json!(true);
    assert_eq!(client.call("marketplace/add", source).await, expected);
    stage.restart().await;
    let mut client = stage.client().await;
    assert_eq!(listed(&mut client).await, ["one@team"]);
    let selected = client.call("marketplace/upgrade", json!({})).await;
    let nothing = json!({ "selectedMarketplaces": [], "upgradedRoots": [], "errors": [] });
    assert_eq!(selected, nothing);
    let remove = json!({ "marketplaceName": "team" });
    let removed = client.call("marketplace/remove", remove.clone()).await;
    assert_eq!(
        removed,
        json!({ "marketplaceName": "team", "installedRoot": null })
    );
    assert!(listed(&mut client).await.is_empty());
    assert!(root.is_dir());
    let again = client.refused("marketplace/remove", remove).await;
    assert_eq!(again, "marketplace `team` is not configured or installed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_fetched_and_fetched_again_when_it_has_changed() {
    let stage = Stage::new().await;
    let repository = stage.directory().join("repository");
    let mut market = market(&repository, "tools");
    git(&repository, &["init", "-q", "-b", "main"]);
    commit(&repository);
    alias(&stage, &repository);
    let mut client = stage.client().await;
    let copy = fs::canonicalize(stage.home()).unwrap();
    let copy = copy.join(".tmp/marketplaces/tools");
    let source = json!({ "source": format!("{URL}#main") });
    let added = client.call("marketplace/add", source.clone()).await;
    assert_eq!(added["alreadyAdded"], false);
    let root = added["installedRoot"].as_str().unwrap();
    assert_eq!(fs::canonicalize(root).unwrap(), copy);
    let again = client.call("marketplace/add", source).await;
    assert_eq!(again["alreadyAdded"], true);
    assert_eq!(listed(&mut client).await, ["one@tools"]);
    let other = client.refused("marketplace/add", json!({ "source": URL }));
    assert_eq!(
        other.await,
        "marketplace 'tools' is already added from a different source; remove it before adding this source"
    );
    let upgrade = json!({ "marketplaceName": "tools" });
    let same = client.call("marketplace/upgrade", upgrade.clone()).await;
    let unchanged = json!({ "selectedMarketplaces": ["tools"], "upgradedRoots": [], "errors": [] });
    assert_eq!(same, unchanged);
    market.offer("two", &json!({ "name": "two" }), &json!({}));
    commit(&repository);
    let newer = client.call("marketplace/upgrade", upgrade.clone()).await;
    assert_eq!(newer["upgradedRoots"].as_array().unwrap().len(), 1);
    assert_eq!(listed(&mut client).await, ["one@tools", "two@tools"]);
    // A repository that is gone leaves the copy as it is.
    fs::rename(&repository, stage.directory().join("away")).unwrap();
    let failed = client.call("marketplace/upgrade", upgrade).await;
    assert_eq!(failed["errors"][0]["marketplaceName"], "tools");
    assert_eq!(listed(&mut client).await, ["one@tools", "two@tools"]);
    let remove = json!({ "marketplaceName": "tools" });
    let removed = client.call("marketplace/remove", remove).await;
    assert!(removed["installedRoot"].is_string());
    assert!(!copy.exists());
    let left = fs::read_dir(copy.parent().unwrap()).unwrap().count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_repository_is_fetched() {
    let stage = Stage::new().await;
    let repository = stage.directory().join("repository");
    market(&repository, "tools");
    put(&repository, "big/file", "x");
    put(&repository, "top", "x");
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["config", "uploadpack.allowFilter", "true"]);
    commit(&repository);
    alias(&stage, &repository);
    let mut client = stage.client().await;
    let part = |paths: &[&str]| json!({ "source": URL, "sparsePaths": paths });
    let paths = [".agents", "plugins/one"];
    let added = client.call("marketplace/add", part(&paths)).await;
    assert_eq!(added["alreadyAdded"], false);
    let copy = Path::new(added["installedRoot"].as_str().unwrap());
    let has = |file: &str| copy.join(file).exists();
    assert!(has("top") && has("plugins/one/.codex-plugin/plugin.json"));
    assert!(!has("big"));
    let again = client.call("marketplace/add", part(&paths)).await;
    assert_eq!(again["alreadyAdded"], true);
    let whole = client.refused("marketplace/add", part(&[])).await;
    assert!(whole.contains("different source"), "{whole}");
    // The part stays the same when it is fetched again.
    put(&repository, "plugins/one/new", "x");
    put(&repository, "big/new", "x");
    commit(&repository);
    client.call("marketplace/upgrade", json!({})).await;
    assert!(has("plugins/one/new") && !has("big"));
    let settings = fs::read_to_string(stage.home().join("config.toml")).unwrap();
    assert!(settings.contains(r#"sparse_paths = [".agents", "plugins/one"]"#));
    let remove = json!({ "marketplaceName": "tools" });
    client.call("marketplace/remove", remove).await;
    let option = client.refused("marketplace/add", part(&["--stdin"])).await;
    assert_eq!(option, "a sparse path must not be empty or begin with `-`");
    let outside = client.refused("marketplace/add", part(&["../x"])).await;
    assert!(
        outside.starts_with("git sparse-checkout failed: "),
        "{outside}"
    );
    let other = client.refused("marketplace/add", part(&["big"])).await;
    assert!(
        other.ends_with("does not contain a supported manifest"),
        "{other}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_marketplace_is_refused_and_changes_nothing() {
    let stage = Stage::new().await;
    let directory = fs::canonicalize(stage.directory()).unwrap();
    market(&directory.join("curated"), "openai-curated");
    market(&directory.join("odd"), "a b");
    let good = directory.join("good");
    market(&good, "good");
    let config = stage.home().join("config.toml");
    let before = fs::read_to_string(&config).unwrap();
    let mut client = stage.client().await;
    let format = "invalid marketplace source format; expected owner/repo, a git URL, or a local marketplace path";
    let empty = directory.join("empty");
    fs::create_dir(&empty).unwrap();
    let no_manifest = format!(
        "invalid marketplace file `{}`: marketplace root does not contain a supported manifest",
        empty.display()
    );
    let cases = [
        (
            json!({ "source": "" }),
            "marketplace source must not be empty",
        ),
        (json!({ "source": "word" }), format),
        (json!({ "source": "file:///x" }), format),
        (json!({ "source": empty }), no_manifest.as_str()),
        (
            json!({ "source": directory.join("none") }),
            "failed to resolve local marketplace source path: No such file or directory (os error 2)",
        ),
        (
            json!({ "source": good.join(".agents/plugins/marketplace.json") }),
            "local marketplace source must be a directory, not a file",
        ),
        (
            json!({ "source": good, "refName": "main" }),
            "--ref is only supported for git marketplace sources",
        ),
        (
            json!({ "source": good, "sparsePaths": ["x"] }),
            "--sparse is only supported for git marketplace sources",
        ),
        (
            json!({ "source": directory.join("curated") }),
            "marketplace `openai-curated` is reserved and cannot be added from this source",
        ),
        (
            json!({ "source": directory.join("odd") }),
            "invalid marketplace name: only ASCII letters, digits, `_`, and `-` are allowed",
        ),
    ];
    for (params, expected) in cases {
        assert_eq!(client.refused("marketplace/add", params).await, expected);
    }
    for (name, expected) in [
        ("", "invalid marketplace name: must not be empty"),
        (
            "../x",
            "invalid marketplace name: only ASCII letters, digits, `_`, and `-` are allowed",
        ),
    ] {
        let params = json!({ "marketplaceName": name });
        assert_eq!(client.refused("marketplace/remove", params).await, expected);
    }
    let params = json!({ "marketplaceName": "none" });
    assert_eq!(
        client.refused("marketplace/upgrade", params).await,
        "marketplace `none` is not configured as a Git marketplace"
    );
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_are_found_by_word_and_by_being_installed() {
    let stage = Stage::new().await;
    let root = stage.directory().join("market");
    let mut market = market(&root, "team");
    market.offer("two", &json!({ "name": "two" }), &json!({}));
    let mut client = stage.client().await;
    client
        .call("marketplace/add", json!({ "source": root }))
        .await;
    let search = client
        .call("plugin/search", json!({ "searchTerm": "SWEEPS" }))
        .await;
    assert_eq!(search["data"].as_array().unwrap().len(), 1);
    assert_eq!(search["data"][0]["plugin"]["id"], "one@team");
    assert_eq!(search["data"][0]["marketplaceName"], "team");
    let nothing = client
        .call("plugin/search", json!({ "searchTerm": " " }))
        .await;
    assert_eq!(nothing, json!({ "data": [], "nextCursor": null }));
    let page = |cursor: Value| json!({ "searchTerm": "o", "limit": 1, "cursor": cursor });
    let first = client.call("plugin/search", page(Value::Null)).await;
    let second = client
        .call("plugin/search", page(first["nextCursor"].clone()))
        .await;
    assert_eq!(second["data"][0]["plugin"]["id"], "two@team");
    assert_eq!(second["nextCursor"], Value::Null);
    let installed = client.call("plugin/installed", json!({})).await;
    assert_eq!(installed["marketplaces"], json!([]));
    client.call("plugin/install", market.plugin("one")).await;
    let ids = |answer: Value| {
        let plugins = answer["marketplaces"][0]["plugins"].clone();
        let plugins = plugins.as_array().unwrap().iter();
        plugins.map(|it| it["id"].clone()).collect::<Vec<_>>()
    };
    let installed = client.call("plugin/installed", json!({})).await;
    assert_eq!(ids(installed), ["one@team"]);
    let suggest = json!({ "installSuggestionPluginNames": ["two"] });
    let installed = client.call("plugin/installed", suggest).await;
    assert_eq!(ids(installed), ["one@team", "two@team"]);
}
