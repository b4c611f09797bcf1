//! What tools read in the server's own name: no more than a command could, and no longer than it takes.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, input, order, run, status};

/// A whole image of one pixel.
pub(crate) const IMAGE: &[u8] =
    b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\
    \x00\x00:~\x9bU\x00\x00\x00\x0aIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\
    \x00IEND\xaeB`\x82";

fn view(path: &str) -> Value {
    calls("view_image", json!({ "path": path }))
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_read_no_more_than_commands_may() {
    let stage = Stage::new().await;
    let (open, shut) = (
        stage.directory().join("open"),
        stage.directory().join("shut"),
    );
    for directory in [&open, &shut] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join("p.png"), IMAGE).unwrap();
    }
    fs::write(shut.join("secret"), "the secret\n").unwrap();
    symlink(&shut, open.join("link")).unwrap();
    let (mut client, thread) = stage.thread_with(json!({ "cwd": open })).await;
    let patch = |file: &str| {
        let patch = format!(
            "*** Begin Patch\n*** Update File: {file}\n@@\n-the secret\n+messages\n*** End Patch"
        );
        json!({ "calls": [{ "name": "apply_patch", "arguments": patch, "custom": true }] })
    };
    let hidden = "is outside of the directories that may be read";
    for (call, refused) in [
        (view("p.png"), None),
        (view("../shut/p.png"), Some(hidden)),
        (view("../shut/none.png"), Some(hidden)),
        (view("link/p.png"), Some(hidden)),
        (patch("../shut/secret"), Some(hidden)),
        (patch("../shut/none"), Some(hidden)),
        (patch("link/secret"), Some(hidden)),
    ] {
        stage.play([call.clone(), json!({ "text": "so it is" })]);
        let mut turn = input(&thread, "look");
        turn["sandboxPolicy"] = json!({ "type": "readOnly", "access": {
            "type": "restricted", "includePlatformDefaults": true, "readableRoots": [open],
        } });
        client.call("turn/start", turn).await;
        let messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "completed");
        let requests = stage.model.requests();
        let output = requests.last().unwrap().body["input"].as_array().unwrap();
        let output = output.last().unwrap().to_string();
        assert_eq!(
            refused.is_some(),
            output.contains(hidden),
            "{call}: {output}"
        );
        let seen =
            completed(&messages, "imageView").len() + completed(&messages, "fileChange").len();
        assert_eq!(
            seen,
            usize::from(refused.is_none()),
            "{:?}",
            order(&messages)
        );
    }
}

/// A command can swap a file between any two looks at it. An image that becomes a pipe is not waited for.
#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_is_swapped_meanwhile_holds_nobody_up() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let path = |name: &str| stage.directory().join(name);
    let (shown, picture, pipe) = (path("x.png"), path("picture"), path("pipe"));
    fs::write(&picture, IMAGE).unwrap();
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    symlink(&picture, &shown).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let (over, new) = (Arc::clone(&over), path("new"));
        move || {
            while !over.load(Ordering::Relaxed) {
                for target in [&pipe, &picture] {
                    symlink(target, &new).unwrap();
                    fs::rename(&new, &shown).unwrap();
                }
            }
        }
    });
    let looks = vec![json!({ "name": "view_image", "arguments": { "path": "x.png" } }); 100];
    stage.play([json!({ "calls": looks }), json!({ "text": "seen" })]);
    let messages = run(&mut client, &thread, "look").await;
    over.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert_eq!(status(&messages), "completed");
}
