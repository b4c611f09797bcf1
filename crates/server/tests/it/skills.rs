//! Skills: listed for directories, switched on and off, named in turns, watched.

use std::path::{Path, PathBuf};

use quipu_testkit::client::Client;
use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::stage::{Stage, calls, completed, run, text};

#[tokio::test]
async fn skills_are_listed_and_switched() {
    let lab = Lab::new();
    let directory = lab.directory.path().join("home/skills/greet");
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("SKILL.md");
    std::fs::write(&file, "---\ndescription: Say hello\n---\nHello.\n").unwrap();
    let client = lab.client().await;
    let list = async || {
        let list = client.call_raw("skills/list", &json!({})).await.unwrap();
        let skills = list["data"][0]["skills"].as_array().unwrap().clone();
        let greet = skills.into_iter().find(|skill| skill["name"] == "greet");
        greet.unwrap()
    };
    let skill = list().await;
    assert_eq!(skill["enabled"], true);
    assert_eq!(skill["scope"], "user");
    for (enabled, selector) in [(false, "path"), (true, "path")] {
        let switch = json!({ selector: file, "enabled": enabled });
        let answer = client.call_raw("skills/config/write", &switch).await;
        assert_eq!(answer.unwrap(), json!({ "effectiveEnabled": enabled }));
        assert_eq!(list().await["enabled"], enabled);
    }
    client.finish().await;
}

#[tokio::test]
async fn bad_requests_are_refused() {
    let lab = Lab::new();
    let client = lab.client().await;
    let roots = |root: &str| {
        json!({ "cwds": ["/"], "perCwdExtraUserRoots": [
            { "cwd": "/", "extraUserRoots": [root] },
            { "cwd": "/other", "extraUserRoots": ["ignored"] },
        ] })
    };
    let error = client.call_raw("skills/list", &roots("rel")).await;
    assert_eq!(
        error.unwrap_err().message,
        "skills/list perCwdExtraUserRoots extraUserRoots paths must be absolute: rel"
    );
    let listed = client.call_raw("skills/list", &roots("/missing")).await;
    assert_eq!(listed.unwrap()["data"][0]["cwd"], "/");
    let neither: Value = json!({ "enabled": true });
    let both = json!({ "enabled": true, "name": "a", "path": "/a" });
    let blank = json!({ "enabled": true, "name": " " });
    for params in [neither, both, blank] {
        let error = client.call_raw("skills/config/write", &params).await;
        assert_eq!(error.unwrap_err().code, -32602, "{params}");
    }
    client.finish().await;
}

/// Writes a skill below a directory; the path of its `SKILL.md`.
fn write_skill(directory: &Path, name: &str, body: &str) -> PathBuf {
    let directory = directory.join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("SKILL.md");
    let text = format!("---\nname: {name}\ndescription: About {name}\n---\n{body}\n");
    std::fs::write(&file, text).unwrap();
    file
}

async fn names(client: &Client, params: &Value) -> Vec<String> {
    let list = client.call_raw("skills/list", params).await.unwrap();
    let skills = list["data"][0]["skills"].as_array().unwrap().iter();
    let own = skills.filter(|skill| skill["scope"] != "system");
    own.map(|skill| skill["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn what_is_kept_is_never_stale() {
    let lab = Lab::new();
    let client = lab.client().await;
    let skills = lab.directory.path().join("home/skills");
    let extra = lab.directory.path().join("extra");
    write_skill(&extra, "more", "x");
    let cwd = lab.directory.path();
    let plain = json!({ "cwds": [cwd] });
    assert!(names(&client, &plain).await.is_empty());
    for (name, count) in [("a", 1), ("b", 2)] {
        write_skill(&skills, name, "x");
        assert_eq!(names(&client, &plain).await.len(), count);
        assert_eq!(names(&client, &plain).await.len(), count);
    }
    let with_extra = json!({ "cwds": [cwd], "perCwdExtraUserRoots": [
        { "cwd": cwd, "extraUserRoots": [extra] },
    ] });
    assert_eq!(names(&client, &with_extra).await, ["a", "b", "more"]);
    assert_eq!(names(&client, &plain).await, ["a", "b"]);
    std::fs::remove_dir_all(skills.join("a")).unwrap();
    let reload = json!({ "cwds": [cwd], "forceReload": true });
    assert_eq!(names(&client, &reload).await, ["b"]);
    client.finish().await;
}

#[tokio::test]
async fn the_skills_of_the_program_are_there_unless_switched_off() {
    let lab = Lab::new();
    let client = lab.client().await;
    let list = client.call_raw("skills/list", &json!({})).await.unwrap();
    let skills = list["data"][0]["skills"].as_array().unwrap();
    let shown: Vec<_> = skills
        .iter()
        .map(|skill| {
            (
                &skill["name"],
                &skill["scope"],
                &skill["interface"]["displayName"],
            )
        })
        .collect();
    let system = json!("system");
    assert_eq!(
        shown,
        [
            (&json!("skill-creator"), &system, &json!("Skill Creator")),
            (
                &json!("skill-installer"),
                &system,
                &json!("Skill Installer")
            ),
        ]
    );
    let path = Path::new(skills[0]["path"].as_str().unwrap());
    assert!(path.ends_with("home/skills/.system/skill-creator/SKILL.md"));
    assert!(path.is_file());
    client.finish().await;

    let lab = Lab::with(&[], "[skills.bundled]\nenabled = false\n");
    let client = lab.client().await;
    let list = client.call_raw("skills/list", &json!({})).await.unwrap();
    assert_eq!(list["data"][0]["skills"], json!([]));
    assert!(!lab.directory.path().join("home/skills").exists());
    client.finish().await;
}

/// The user's part of what the model was sent last, without what describes the surroundings.
fn sent(stage: &Stage) -> Vec<String> {
    let requests = stage.model.requests();
    let body = &requests.last().unwrap().body;
    let input = body["input"].as_array().unwrap().iter();
    let users = input.filter(|item| item["role"] == "user");
    users
        .map(|item| text(&item["content"][0]["text"]))
        .filter(|text| !text.starts_with("<environment_context>"))
        .collect()
}

fn injected(name: &str, file: &Path, body: &str) -> String {
    let path = file.display();
    format!(
        "<skill>\n<name>{name}</name>\n<path>{path}</path>\n---\nname: {name}\n\
         description: About {name}\n---\n{body}\n\n</skill>"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_skill_reaches_the_model() {
    let stage = Stage::new().await;
    let skills = stage.home().join("skills");
    let greet = write_skill(&skills, "greet", "Say hello.");
    let (mut client, thread) = stage.thread().await;
    stage.play((0..5).map(|_| json!({ "text": "ok" })));
    run(&mut client, &thread, "do $greet now").await;
    let body = injected("greet", &greet, "Say hello.");
    assert_eq!(sent(&stage), ["do $greet now", body.as_str()]);
    assert!(
        stage
            .last_request()
            .contains("- greet: About greet (file: ")
    );

    // A skill that is written while the thread is loaded can be named at once, one that is gone cannot.
    let late = write_skill(&skills, "late", "Be late.");
    std::fs::remove_file(&greet).unwrap();
    let item = json!({ "type": "skill", "name": "late", "path": late });
    let input = json!([item, { "type": "text", "text": "and $greet" }]);
    let turn = json!({ "threadId": thread, "input": input });
    client.call("turn/start", turn).await;
    let messages = client.until("turn/completed").await;
    assert_eq!(completed(&messages, "userMessage")[0]["content"][0], item);
    let body = injected("late", &late, "Be late.");
    assert_eq!(sent(&stage)[2..], ["and $greet".to_owned(), body]);
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_of_a_thread_hear_of_changed_skills() {
    let stage = Stage::new().await;
    let skills = stage.home().join("skills");
    write_skill(&skills, "first", "x");
    let (mut client, _thread) = stage.thread().await;
    // Nothing waits for the directories to be watched: a change is noticed from the answer on.
    write_skill(&skills, "first", "longer");
    write_skill(&skills, "second", "x");
    let changed = client.skip_to("skills/changed").await;
    assert_eq!(changed["params"], json!({}));
    let list = client.call("skills/list", json!({})).await;
    assert!(list.to_string().contains("About second"), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_reaches_loaded_threads() {
    let stage = Stage::new().await;
    write_skill(&stage.home().join("skills"), "greet", "BODY");
    let (mut client, thread) = stage.thread().await;
    let bodies = async |client: &mut Conversation| {
        stage.play([json!({ "text": "ok" })]);
        run(client, &thread, "$greet").await;
        stage.last_request().matches("BODY").count()
    };
    assert_eq!(bodies(&mut client).await, 1);
    let off = json!({ "name": "greet", "enabled": false });
    client.call("skills/config/write", off).await;
    assert_eq!(bodies(&mut client).await, 2, "not before it is told");
    let edit = json!({ "keyPath": "shell_environment_policy.set.FRESH", "value": "yes", "mergeStrategy": "upsert" });
    let reload = json!({ "edits": [edit], "reloadUserConfig": true });
    client.call("config/batchWrite", reload).await;
    assert_eq!(bodies(&mut client).await, 2);
    stage.play([
        calls("exec_command", json!({ "cmd": "echo is $FRESH" })),
        json!({ "text": "ok" }),
    ]);
    let messages = run(&mut client, &thread, "go").await;
    let command = completed(&messages, "commandExecution")[0];
    assert_eq!(command["aggregatedOutput"], "is yes\n");

    // Files that cannot be used change nothing.
    let config = stage.home().join("config.toml");
    let broken = std::fs::read_to_string(&config).unwrap() + "\nmodel = [";
    std::fs::write(&config, broken).unwrap();
    let set = json!({ "enablement": { "apps": false } });
    let error = client
        .try_call("experimentalFeature/enablement/set", set)
        .await;
    let error = text(&error.unwrap_err()["message"]);
    assert!(error.starts_with("failed to resolve feature override precedence: "));
    assert_eq!(bodies(&mut client).await, 2);
}
