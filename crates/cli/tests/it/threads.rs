//! `quipu threads`: the sessions that `exec resume` can continue.

use serde_json::Value;

use crate::exec::{Place, text};

#[tokio::test]
async fn stored_sessions_are_listed() {
    let place = Place::new();
    let list = async |args: &[&str]| {
        let output = place.quipu(&[&["threads"], args].concat()).output().await;
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        output
    };
    assert_eq!(text(&list(&[]).await.stderr), "no sessions are stored\n");
    let first = place.lines(&["fix the\nbug"], 0).await;
    let second = place.lines(&["then the docs"], 0).await;
    let ids = [&second, &first].map(|it| it[0]["thread_id"].as_str().unwrap());
    let work = place.work().canonicalize().unwrap();

    let output = list(&[]).await;
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (line, (id, title)) in lines
        .iter()
        .zip(ids.iter().zip(["then the docs", "fix the "]))
    {
        assert!(line.starts_with(id) && line.contains(title), "{line}");
        assert!(line.ends_with(work.to_str().unwrap()), "{line}");
    }
    let output = list(&["--json", "-n", "1"]).await;
    let only: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&only["id"], &only["preview"]),
        (&ids[0].into(), &"then the docs".into())
    );
    let elsewhere = list(&["-C", "/"]).await;
    assert_eq!(text(&elsewhere.stdout), "");
    // What it lists can be resumed.
    place.lines(&["resume", ids[1], "go on"], 0).await;
}
