//! Files through the protocol.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu_testkit::client::{Client, within};
use quipu_wire::FsChangedNotification;
use quipu_wire::method::event::FsChanged;
use serde_json::{Value, json};

use crate::lab::Lab;

/// A client and a directory for its files.
async fn place() -> (Lab, Client, PathBuf) {
    let lab = Lab::new();
    let client = lab.client().await;
    let directory = lab.directory.path().join("files");
    fs::create_dir(&directory).unwrap();
    (lab, client, directory)
}

/// Asks and expects a result.
async fn done(client: &Client, method: &str, params: Value) -> Value {
    client.call_raw(method, &params).await.unwrap()
}

/// Asks and expects an error.
async fn refused(client: &Client, method: &str, params: Value) -> (i64, String) {
    let error = client.call_raw(method, &params).await.unwrap_err();
    (error.code, error.message)
}

fn at(path: impl AsRef<Path>) -> Value {
    json!({ "path": path.as_ref() })
}

fn os(code: i32) -> (i64, String) {
    (-32603, std::io::Error::from_raw_os_error(code).to_string())
}

#[tokio::test]
async fn contents_survive_the_way_there_and_back() {
    let (_lab, client, directory) = place().await;
    let path = directory.join("data");
    // Around the sizes at which the encoding is cut into pieces.
    for length in [0, 1, 2, 3, 49_151, 49_152, 49_153, 300_000] {
        let bytes: Vec<u8> = (0..length).map(|n| (n * 7 % 251) as u8).collect();
        let data = STANDARD.encode(&bytes);
        done(
            &client,
            "fs/writeFile",
            json!({ "path": path, "dataBase64": data }),
        )
        .await;
        assert_eq!(fs::read(&path).unwrap(), bytes);
        let read = done(&client, "fs/readFile", at(&path)).await;
        assert_eq!(read, json!({ "dataBase64": data }));
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
}

#[tokio::test]
async fn what_cannot_be_read_or_written_is_said_as_the_system_says_it() {
    let (_lab, client, directory) = place().await;
    let missing = directory.join("missing");
    fs::write(directory.join("file"), "x").unwrap();
    for method in ["fs/readFile", "fs/getMetadata", "fs/readDirectory"] {
        assert_eq!(refused(&client, method, at(&missing)).await, os(2));
        let relative = refused(&client, method, at("relative")).await;
        assert_eq!(relative.0, -32600, "{}", relative.1);
    }
    assert_eq!(
        refused(&client, "fs/readFile", at(&directory)).await,
        os(21)
    );
    assert_eq!(
        refused(&client, "fs/readDirectory", at(directory.join("file"))).await,
        os(20)
    );
    let write = |path: PathBuf, data: &str| json!({ "path": path, "dataBase64": data });
    let into_nothing = write(missing.join("file"), "");
    assert_eq!(refused(&client, "fs/writeFile", into_nothing).await, os(2));
    assert_eq!(
        refused(&client, "fs/writeFile", write(directory.clone(), "")).await,
        os(21)
    );
    let text = "fs/writeFile requires valid base64 dataBase64: Invalid symbol 64, offset 0.";
    let garbage = write(missing.clone(), "@@@");
    assert_eq!(
        refused(&client, "fs/writeFile", garbage).await,
        (-32600, text.to_owned())
    );
    assert!(!missing.exists());
    let zero = refused(&client, "fs/readFile", at("/a\0b")).await;
    assert_eq!(zero.0, -32600, "{}", zero.1);
}

#[tokio::test]
async fn a_failure_in_the_midst_of_a_file_is_said_as_the_system_says_it() {
    let (_lab, client, _directory) = place().await;
    // This file can be opened, but nothing is mapped where it begins.
    assert_eq!(
        refused(&client, "fs/readFile", at("/proc/self/mem")).await,
        os(5)
    );
    // The kernel's own files are written in place, and say what they think of it.
    let write = json!({ "path": "/dev/full", "dataBase64": "eA==" });
    assert_eq!(refused(&client, "fs/writeFile", write).await, os(28));
}

#[tokio::test]
async fn a_pipe_does_not_hold_its_reader() {
    let (_lab, client, directory) = place().await;
    let pipe = directory.join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let read = done(&client, "fs/readFile", at(&pipe)).await;
    assert_eq!(read, json!({ "dataBase64": "" }));
    let data = json!({ "path": pipe, "dataBase64": "eA==" });
    assert_eq!(refused(&client, "fs/writeFile", data).await, os(6));
}

#[tokio::test]
async fn directories_are_made_listed_and_removed() {
    let (_lab, client, directory) = place().await;
    let deep = directory.join("a/b");
    let flat = |path: &Path| json!({ "path": path, "recursive": false });
    assert_eq!(
        refused(&client, "fs/createDirectory", flat(&deep)).await,
        os(2)
    );
    done(&client, "fs/createDirectory", at(&deep)).await;
    done(&client, "fs/createDirectory", at(&deep)).await;
    assert_eq!(
        refused(&client, "fs/createDirectory", flat(&deep)).await,
        os(17)
    );
    symlink("b", directory.join("a/link")).unwrap();
    let listed = done(&client, "fs/readDirectory", at(directory.join("a"))).await;
    let mut entries = listed["entries"].as_array().unwrap().clone();
    entries.sort_by_key(|entry| entry["fileName"].to_string());
    let entry = |name| json!({ "fileName": name, "isDirectory": true, "isFile": false });
    assert_eq!(entries, [entry("b"), entry("link")]);
    let metadata = done(&client, "fs/getMetadata", at(directory.join("a/link"))).await;
    assert_eq!(metadata["isDirectory"], true);
    assert!(metadata["modifiedAtMs"].as_i64().unwrap() > 0);

    assert_eq!(
        refused(&client, "fs/remove", flat(&directory.join("a"))).await,
        os(39)
    );
    done(&client, "fs/remove", at(directory.join("a/link"))).await;
    assert!(deep.is_dir());
    done(&client, "fs/remove", at(directory.join("a"))).await;
    done(&client, "fs/remove", at(directory.join("a"))).await;
    let firm = json!({ "path": directory.join("a"), "force": false });
    assert_eq!(refused(&client, "fs/remove", firm).await, os(2));
}

#[tokio::test]
async fn trees_are_copied_but_not_into_themselves() {
    let (_lab, client, directory) = place().await;
    let tree = directory.join("tree");
    fs::create_dir_all(tree.join("sub")).unwrap();
    fs::write(tree.join("sub/run"), "x").unwrap();
    fs::set_permissions(tree.join("sub/run"), fs::Permissions::from_mode(0o751)).unwrap();
    symlink("nowhere", tree.join("link")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, tree.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let copy = |from: &Path, to: &Path, recursive: bool| json!({ "sourcePath": from, "destinationPath": to, "recursive": recursive });
    let to = directory.join("new/copy");
    let text = "fs/copy requires recursive: true when sourcePath is a directory";
    let flat = copy(&tree, &to, false);
    assert_eq!(
        refused(&client, "fs/copy", flat).await,
        (-32600, text.to_owned())
    );
    done(&client, "fs/copy", copy(&tree, &to, true)).await;
    assert_eq!(fs::read_to_string(to.join("sub/run")).unwrap(), "x");
    let mode = fs::metadata(to.join("sub/run"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o751);
    assert_eq!(
        fs::read_link(to.join("link")).unwrap(),
        Path::new("nowhere")
    );
    assert!(!to.join("pipe").exists());

    symlink(&tree, directory.join("alias")).unwrap();
    let text = "fs/copy cannot copy a directory to itself or one of its descendants";
    for inside in [
        tree.clone(),
        tree.join("sub/in"),
        directory.join("alias/in"),
    ] {
        let params = copy(&tree, &inside, true);
        assert_eq!(
            refused(&client, "fs/copy", params).await,
            (-32600, text.to_owned())
        );
    }
    let special = copy(&tree.join("pipe"), &directory.join("pipe"), true);
    let text = "fs/copy only supports regular files, directories, and symlinks";
    assert_eq!(
        refused(&client, "fs/copy", special).await,
        (-32600, text.to_owned())
    );
    // A file copied to itself keeps its content.
    let run = tree.join("sub/run");
    done(&client, "fs/copy", copy(&run, &run, false)).await;
    assert_eq!(fs::read_to_string(&run).unwrap(), "x");
    let link = copy(&tree.join("link"), &to.join("link"), false);
    assert_eq!(refused(&client, "fs/copy", link).await, os(17));
}

async fn watch(client: &Client, path: &Path) -> String {
    let watched = done(client, "fs/watch", at(path)).await;
    assert_eq!(watched["path"], json!(path));
    watched["watchId"].as_str().unwrap().to_owned()
}

async fn changed(client: &mut Client) -> (String, Vec<String>) {
    let FsChangedNotification {
        watch_id,
        changed_paths,
    } = client.notified::<FsChanged>().await;
    let paths = changed_paths
        .iter()
        .map(|path| path.as_path().display().to_string());
    (watch_id, paths.collect())
}

#[tokio::test]
async fn a_watched_file_may_be_replaced_removed_and_made_again() {
    let (_lab, mut client, directory) = place().await;
    let file = directory.join("file");
    let text = file.display().to_string();
    fs::write(&file, "1").unwrap();
    let id = watch(&client, &file).await;
    let expected = (id, vec![text]);
    fs::write(&file, "2").unwrap();
    assert_eq!(changed(&mut client).await, expected);
    fs::write(directory.join("other"), "3").unwrap();
    fs::rename(directory.join("other"), &file).unwrap();
    assert_eq!(changed(&mut client).await, expected);
    fs::remove_file(&file).unwrap();
    assert_eq!(changed(&mut client).await, expected);
    fs::write(&file, "4").unwrap();
    assert_eq!(changed(&mut client).await, expected);
    client.finish().await;
}

#[tokio::test]
async fn a_watched_directory_names_its_children_once_and_hides_our_own_work() {
    let (_lab, mut client, directory) = place().await;
    symlink(&directory, directory.with_file_name("alias")).unwrap();
    let alias = directory.with_file_name("alias");
    let id = watch(&client, &alias).await;
    for name in ["b", "a"] {
        let params = json!({ "path": directory.join(name), "dataBase64": "eA==" });
        done(&client, "fs/writeFile", params).await;
    }
    let paths: Vec<_> = ["a", "b"]
        .map(|name| alias.join(name).display().to_string())
        .into();
    assert_eq!(changed(&mut client).await, (id, paths));
    client.finish().await;
}

#[tokio::test]
async fn a_burst_of_changes_is_reported_once_and_a_rename_with_both_names() {
    let (_lab, mut client, directory) = place().await;
    fs::write(directory.join("old"), "x").unwrap();
    let id = watch(&client, &directory).await;
    for number in 0..20 {
        fs::write(directory.join("busy"), number.to_string()).unwrap();
    }
    fs::rename(directory.join("old"), directory.join("new")).unwrap();
    let mut received = Vec::new();
    let mut messages = 0;
    while !received.contains(&directory.join("new").display().to_string()) {
        let (watch, paths) = changed(&mut client).await;
        assert_eq!(watch, id);
        received.extend(paths);
        messages += 1;
    }
    // A loaded machine may need more than one gathering, but never one for every change.
    assert!(messages < 10, "{messages}");
    received.sort();
    received.dedup();
    let all = ["busy", "new", "old"].map(|name| directory.join(name).display().to_string());
    assert_eq!(received, all);
    client.ignore(&["fs/changed"]);
    client.finish().await;
}

#[tokio::test]
async fn watches_end_with_their_connection() {
    let (lab, client, directory) = place().await;
    watch(&client, &directory).await;
    client.finish().await;
    let mut other = lab.client().await;
    let id = watch(&other, &directory).await;
    fs::write(directory.join("a"), "x").unwrap();
    // Only the watch that is left is told of, and its name is not known to anybody else.
    assert_eq!(changed(&mut other).await.0, id);
    other.finish().await;
}

#[tokio::test]
async fn an_ended_watch_is_silent_and_others_cannot_end_it() {
    let (lab, mut client, directory) = place().await;
    let id = watch(&client, &directory).await;
    let other = lab.client().await;
    done(&other, "fs/unwatch", json!({ "watchId": id })).await;
    fs::write(directory.join("a"), "x").unwrap();
    assert_eq!(changed(&mut client).await.0, id);
    done(&client, "fs/unwatch", json!({ "watchId": id })).await;
    fs::write(directory.join("b"), "x").unwrap();
    // A second watch hears of what comes later, the first does not.
    let second = watch(&client, &directory).await;
    fs::write(directory.join("c"), "x").unwrap();
    let heard = within("a change", changed(&mut client)).await;
    assert_eq!(heard.0, second);
    other.finish().await;
    client.finish().await;
}
