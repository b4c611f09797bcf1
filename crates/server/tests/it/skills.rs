//! Skills: listed for directories, switched on and off.

use serde_json::{Value, json};

use crate::lab::Lab;

#[tokio::test]
async fn skills_are_listed_and_switched() {
    let lab = Lab::new();
    let folder = lab.folder.path().join("home/skills/greet");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("SKILL.md");
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
