//! Requests that cannot be granted: relative and missing paths, directories for files, broken base64, wrong
//! types, ids of nobody. Each was put to the official server, whose words are expected here.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::lab::Lab;

/// One request and the error it is answered with; `{work}` is the directory that `tree` makes.
#[derive(Deserialize)]
struct Recorded {
    method: String,
    params: Value,
    error: Value,
}

#[tokio::test]
async fn refusals_are_those_of_the_reference_and_change_nothing() {
    let config = "model = \"a\"\nsandbox_mode = \"danger-full-access\"\n[features]\nplugins = false\napps = false\n";
    let path = std::env::var("PATH").unwrap();
    let lab = Lab::with(&[("PATH", &path), ("OPENAI_API_KEY", "k")], config);
    let work = lab.directory.path().join("work");
    tree(&work);
    let before = everything_in(lab.directory.path());
    let mut raw = lab
        .raw_initialized(json!({ "experimentalApi": true }))
        .await;
    let recorded = include_str!("../fixtures/bad_requests.jsonl");
    for line in recorded.lines() {
        let line = line.replace("{work}", work.to_str().unwrap());
        let Recorded {
            method,
            params,
            error,
        } = serde_json::from_str(&line).unwrap();
        let request = json!({ "id": 1, "method": method, "params": params });
        let answer = raw.call(&request).await;
        assert_eq!(answer, json!({ "id": 1, "error": error }), "{request}");
    }
    assert_eq!(everything_in(lab.directory.path()), before);
    let config_now = fs::read_to_string(lab.directory.path().join("home/config.toml")).unwrap();
    assert_eq!(config_now, config);
}

/// The files that the recorded requests are about.
fn tree(work: &Path) {
    let make = |path: &str, text: &str| {
        let path = work.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    make("f", "hello");
    make("d/e/x", "x");
    for (link, target) in [("dangling", "nowhere"), ("link", "f"), ("dlink", "d")] {
        symlink(target, work.join(link)).unwrap();
    }
    let pipe = work.join("d/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RWXU).unwrap();
    let big = File::create(work.join("big")).unwrap();
    big.set_len(512 * 1024 * 1024 + 1).unwrap();

    let offer = |name: &str, path: &str, policy: Value| json!({ "name": name, "source": { "source": "local", "path": path }, "policy": policy });
    let market = |plugins: Vec<Value>| json!({ "name": "mkt", "plugins": plugins }).to_string();
    let file = ".agents/plugins/marketplace.json";
    let other = "./plugins/other";
    make(
        file,
        &market(vec![
            offer("hidden", other, json!({ "installation": "NOT_AVAILABLE" })),
            offer("elsewhere", other, json!({ "products": ["atlas"] })),
            offer("other", other, json!({})),
            offer("absent", "./plugins/absent", json!({})),
            offer("broken", "./plugins/broken", json!({})),
            offer("bare", "./plugins/bare", json!({})),
            offer("b c", other, json!({})),
        ]),
    );
    make(
        "plugins/other/.codex-plugin/plugin.json",
        r#"{"name":"someone"}"#,
    );
    make("plugins/broken/.codex-plugin/plugin.json", "{");
    fs::create_dir(work.join("plugins/bare")).unwrap();
    make(&format!("bad/{file}"), "{");
    for (directory, path) in [("odd", "plugins/demo"), ("odd2", "./../x"), ("odd3", "./")] {
        let text = market(vec![offer("demo", path, json!({}))]);
        make(&format!("{directory}/{file}"), &text);
    }
    make("stray.json", r#"{"name":"m","plugins":[]}"#);
}

/// The paths below a directory.
fn everything_in(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // The program keeps its own state in the home directory.
        if path.ends_with("home") {
            continue;
        }
        found.push(path.display().to_string());
        if path.is_dir() && !path.is_symlink() {
            found.extend(everything_in(&path));
        }
    }
    found.sort();
    found
}
