//! Searching files through the protocol.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use quipu_testkit::client::Client;
use quipu_wire::method::event::{FuzzyFileSearchSessionCompleted, FuzzyFileSearchSessionUpdated};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::lab::Lab;

fn tree(lab: &Lab, files: &[&str]) -> PathBuf {
    let root = lab.directory.path().join("tree");
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    root
}

async fn search(client: &Client, query: &str, roots: &[&Path]) -> Vec<Value> {
    let params = json!({ "query": query, "roots": roots, "cancellationToken": null });
    let found = client.call_raw("fuzzyFileSearch", &params).await.unwrap();
    found["files"].as_array().unwrap().clone()
}

fn paths(files: &[Value]) -> Vec<&str> {
    files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect()
}

/// Scores, indices and order are those of the official server.
#[tokio::test]
async fn results_have_scores_and_places() {
    let lab = Lab::new();
    let client = lab.client().await;
    let root = tree(
        &lab,
        &["alpha.rs", "beta.rs", "src/alphabet.rs", "src/main.rs"],
    );
    let files = search(&client, "alp", &[&root]).await;
    let file = |path: &str, name: &str, score: u32, indices: [u32; 3]| {
        json!({ "root": root, "path": path, "match_type": "file", "file_name": name,
            "score": score, "indices": indices })
    };
    assert_eq!(
        files,
        [
            file("alpha.rs", "alpha.rs", 84, [0, 1, 2]),
            file("src/alphabet.rs", "alphabet.rs", 84, [4, 5, 6]),
        ]
    );
    assert_eq!(
        search(&client, "src", &[&root]).await[0]["match_type"],
        "directory"
    );
    assert_eq!(
        paths(&search(&client, "alp src", &[&root]).await),
        ["src/alphabet.rs"]
    );
    assert!(search(&client, "Alp", &[&root]).await.is_empty());
    assert!(search(&client, "", &[&root]).await.is_empty());
    assert!(search(&client, "alp", &[]).await.is_empty());
    assert!(
        search(&client, "alp", &[Path::new("/does/not/exist")])
            .await
            .is_empty()
    );
    let relative = search(&client, "alp", &[Path::new("tree")]).await;
    assert_eq!((relative.len(), &relative[0]["root"]), (2, &json!("tree")));
}

/// A query and what the official server found: path, score, places, and whether it is a directory.
#[derive(Deserialize)]
struct Recorded {
    query: String,
    files: Vec<Vec<Value>>,
}

#[tokio::test]
async fn a_corpus_is_ranked_as_the_reference_ranks_it() {
    let lab = Lab::new();
    let client = lab.client().await;
    let mut lines = include_str!("../fixtures/search_corpus.jsonl").lines();
    let files: Vec<&str> = serde_json::from_str(lines.next().unwrap()).unwrap();
    let root = tree(&lab, &files);
    for line in lines {
        let Recorded { query, files } = serde_json::from_str(line).unwrap();
        let found = search(&client, &query, &[&root]).await;
        let brief = found.iter().map(|file| {
            let mut brief = vec![&file["path"], &file["score"], &file["indices"]];
            brief.extend((file["match_type"] == "directory").then_some(&file["match_type"]));
            brief.into_iter().cloned().collect::<Vec<_>>()
        });
        assert_eq!(brief.collect::<Vec<_>>(), files, "{query}");
    }
}

/// A query and what the official server found in a larger tree. A place that is a number is that of a file
/// in the list of all. Of the last ones that scored the same, which are shown is chance, so only their
/// scores were kept.
#[derive(Deserialize)]
struct Large {
    query: String,
    above: Vec<(Value, u64, Value)>,
    tied: Vec<u64>,
}

#[tokio::test]
async fn thousands_of_files_are_ranked_as_the_reference_ranks_them() {
    let lab = Lab::new();
    let client = lab.client().await;
    let mut lines = include_str!("../fixtures/search_large.jsonl").lines();
    let files: Vec<&str> = serde_json::from_str(lines.next().unwrap()).unwrap();
    let root = tree(&lab, &files);
    for line in lines {
        let Large { query, above, tied } = serde_json::from_str(line).unwrap();
        let found = search(&client, &query, &[&root]).await;
        let shown = |file: &Value| {
            let path = file["path"].as_str().unwrap();
            let place = files.iter().position(|it| *it == path);
            let place = place.map_or(json!(path), |place| json!(place));
            (
                place,
                file["score"].as_u64().unwrap(),
                file["indices"].clone(),
            )
        };
        let (best, rest) = found.split_at(above.len().min(found.len()));
        assert_eq!(best.iter().map(shown).collect::<Vec<_>>(), above, "{query}");
        let scores = rest.iter().map(|file| file["score"].as_u64().unwrap());
        assert_eq!(scores.collect::<Vec<_>>(), tied, "{query}");
    }
}

#[tokio::test]
async fn a_newer_search_ends_the_older_and_both_are_answered() {
    let lab = Lab::new();
    let client = lab.client().await;
    let names: Vec<_> = (0..2000).map(|n| format!("d{}/file{n}", n % 50)).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let root = tree(&lab, &names);
    let params = |query: &str| json!({ "query": query, "roots": [root], "cancellationToken": "t" });
    let asked = ["f", "fi", "file1999"].map(|query| {
        let client = &client;
        let params = params(query);
        async move { client.call_raw("fuzzyFileSearch", &params).await.unwrap() }
    });
    let answers = futures_util::future::join_all(asked).await;
    let last = answers.last().unwrap()["files"].as_array().unwrap();
    assert_eq!(
        paths(last),
        ["d49/file1999"],
        "the newest is answered in full"
    );
}

#[tokio::test]
async fn git_decides_what_is_ignored_only_in_its_repositories() {
    let lab = Lab::new();
    let client = lab.client().await;
    let root = tree(&lab, &["seen.rs", "unseen.rs", ".hidden/seen.rs"]);
    fs::write(root.join(".gitignore"), "unseen*\n").unwrap();
    assert_eq!(search(&client, "seen.rs", &[&root]).await.len(), 3);
    fs::create_dir(root.join(".git")).unwrap();
    let found = search(&client, "seen.rs", &[&root]).await;
    assert_eq!(paths(&found), [".hidden/seen.rs", "seen.rs"]);
}

/// The official server was asked the same about the same files.
#[tokio::test]
async fn all_kinds_of_ignore_files_count_as_in_the_reference() {
    let lab = Lab::new();
    let client = lab.client().await;
    let root = tree(
        &lab,
        &[
            "r/a.log",
            "r/keep.log",
            "r/build/x.txt",
            "r/rooted.txt",
            "r/sub/rooted.txt",
            "r/sub/q/deep.txt",
            "r/sub/inner.txt",
            "r/inner.txt",
            "r/byexclude1",
            "r/byignore.txt",
            "r/byrg.txt",
            "r/.hidden/h.txt",
            "r/nested/.git/HEAD",
            "r/nested/n.log",
            "r/nested/n.txt",
            "r/wt/w.log",
            "r/node_modules/m.txt",
            "r/.git/info/x",
            "plain/p.txt",
            "plain/nope.md",
            "plain/yes.md",
        ],
    );
    for (file, text) in [
        (
            "r/.gitignore",
            "*.log\nbuild/\n!keep.log\n/rooted.txt\nsub/**/deep.txt\n",
        ),
        ("r/.git/info/exclude", "byexclude*\n"),
        ("r/sub/.gitignore", "inner.txt\n"),
        ("r/.ignore", "byignore*\n"),
        ("r/.rgignore", "byrg*\n"),
        ("r/wt/.git", "gitdir: ../x"),
        ("plain/.gitignore", "*.txt\n"),
        ("plain/.ignore", "nope*\n"),
    ] {
        fs::write(root.join(file), text).unwrap();
    }
    symlink("../plain", root.join("r/linkdir")).unwrap();
    symlink("nowhere", root.join("r/dangling.txt")).unwrap();
    for (directory, query, expected) in [
        (
            "",
            "txt",
            &[
                "plain/p.txt",
                "r/.hidden/h.txt",
                "r/byrg.txt",
                "r/inner.txt",
                "r/nested/n.txt",
                "r/node_modules/m.txt",
                "r/sub/rooted.txt",
            ][..],
        ),
        ("", "log", &["r/keep.log", "r/nested/n.log", "r/wt/w.log"]),
        ("", "by", &["r/byrg.txt"]),
        (
            "",
            "md",
            &[
                "plain/yes.md",
                "r/linkdir/yes.md",
                "r/node_modules",
                "r/node_modules/m.txt",
            ],
        ),
        ("r/sub", "txt", &["rooted.txt"]),
        ("plain", "txt", &["p.txt"]),
        ("plain", "md", &["yes.md"]),
    ] {
        let found = search(&client, query, &[&root.join(directory)]).await;
        let mut found = paths(&found);
        found.sort_unstable();
        assert_eq!(found, expected, "{query} in {directory:?}");
    }
}

#[tokio::test]
async fn a_file_belongs_to_the_deepest_root() {
    let lab = Lab::new();
    let client = lab.client().await;
    let root = tree(&lab, &["a/b/deep.rs"]);
    let inner = root.join("a");
    let found = search(&client, "deep", &[&root, &inner]).await;
    assert_eq!(paths(&found), ["b/deep.rs", "b/deep.rs"]);
    assert!(found.iter().all(|file| file["root"] == json!(inner)));
}

#[tokio::test]
async fn results_are_bounded() {
    let lab = Lab::new();
    let client = lab.client().await;
    let names: Vec<_> = (0..200).map(|n| format!("file{n}.rs")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let root = tree(&lab, &names);
    assert_eq!(search(&client, "file", &[&root]).await.len(), 50);
}

async fn found(client: &mut Client, query: &str) -> Vec<String> {
    loop {
        let update = client.notified::<FuzzyFileSearchSessionUpdated>().await;
        if update.query == query {
            client.notified::<FuzzyFileSearchSessionCompleted>().await;
            return update.files.into_iter().map(|file| file.path).collect();
        }
    }
}

#[tokio::test]
async fn a_session_answers_each_query_and_then_is_silent() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    let root = tree(&lab, &["alpha.rs", "beta.rs"]);
    let start = json!({ "sessionId": "s", "roots": [root] });
    client
        .call_raw("fuzzyFileSearch/sessionStart", &start)
        .await
        .unwrap();
    assert!(found(&mut client, "").await.is_empty());
    let update = |query: &str| json!({ "sessionId": "s", "query": query });
    for (query, expected) in [("al", "alpha.rs"), ("al", "alpha.rs"), ("bet", "beta.rs")] {
        client
            .call_raw("fuzzyFileSearch/sessionUpdate", &update(query))
            .await
            .unwrap();
        assert_eq!(found(&mut client, query).await, [expected]);
    }
    for _ in 0..2 {
        let stop = json!({ "sessionId": "s" });
        client
            .call_raw("fuzzyFileSearch/sessionStop", &stop)
            .await
            .unwrap();
    }
    let error = client
        .call_raw("fuzzyFileSearch/sessionUpdate", &update("x"))
        .await
        .unwrap_err();
    assert_eq!(error.message, "fuzzy file search session not found: s");
    client.finish().await;
}

#[tokio::test]
async fn a_session_needs_a_name_and_a_directory_and_ends_with_its_client() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    let mut other = lab.client().await;
    let start = |id: &str, roots: &[&Path]| json!({ "sessionId": id, "roots": roots });
    let refused = |params: Value| {
        let client = &client;
        async move {
            let answer = client
                .call_raw("fuzzyFileSearch/sessionStart", &params)
                .await;
            let error = answer.unwrap_err();
            (error.code, error.message)
        }
    };
    let text = "sessionId must not be empty";
    assert_eq!(refused(start("", &[])).await, (-32600, text.into()));
    let text =
        "failed to start fuzzy file search session: at least one search directory is required";
    assert_eq!(refused(start("s", &[])).await, (-32603, text.into()));
    let directory = start("s", &[lab.directory.path()]);
    client
        .call_raw("fuzzyFileSearch/sessionStart", &directory)
        .await
        .unwrap();
    other.notified::<FuzzyFileSearchSessionCompleted>().await;
    client.ignore(&[
        "fuzzyFileSearch/sessionUpdated",
        "fuzzyFileSearch/sessionCompleted",
    ]);
    client.finish().await;
    let update = json!({ "sessionId": "s", "query": "q" });
    let answer = other
        .call_raw("fuzzyFileSearch/sessionUpdate", &update)
        .await;
    assert_eq!(answer.unwrap_err().code, -32600);
}

/// Links multiply a few files to some hundred thousand, so that walking them takes a while.
#[tokio::test(flavor = "multi_thread")]
async fn results_are_reported_before_all_files_are_found() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    let names: Vec<_> = (0..2000).map(|n| format!("many/file{n}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let root = tree(&lab, &names);
    for (directory, target) in [("more", "../many"), ("most", "../more")] {
        fs::create_dir(root.join(directory)).unwrap();
        for number in 0..20 {
            symlink(target, root.join(directory).join(number.to_string())).unwrap();
        }
    }
    let start = json!({ "sessionId": "s", "roots": [root] });
    let update = json!({ "sessionId": "s", "query": "file" });
    for (method, params) in [("sessionStart", start), ("sessionUpdate", update)] {
        let method = format!("fuzzyFileSearch/{method}");
        client.call_raw(&method, &params).await.unwrap();
    }
    let early = client.notified::<FuzzyFileSearchSessionUpdated>().await;
    assert_eq!((early.query.as_str(), early.files.len()), ("file", 50));
    let stop = json!({ "sessionId": "s" });
    client
        .call_raw("fuzzyFileSearch/sessionStop", &stop)
        .await
        .unwrap();
    // More may have been found, but never everything: a `sessionCompleted` would fail this.
    client.ignore(&["fuzzyFileSearch/sessionUpdated"]);
    client.finish().await;
}

/// The official server waits at such a pipe for ever.
#[tokio::test(flavor = "multi_thread")]
async fn rules_that_cannot_be_read_hold_no_search() {
    let pipe = |path: PathBuf| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    };
    let lab = Lab::new();
    let client = lab.client().await;
    let good = ["seen/a.txt", "odd/.gitignore/x", "odd/b.txt", "work/c.txt"];
    let bad = [
        "ignore",
        "gitignore",
        "exclude",
        "linked",
        "endless",
        "huge",
    ];
    let bad: Vec<_> = bad
        .map(|directory| format!("{directory}/hidden.txt"))
        .into();
    let files = good.into_iter().chain(bad.iter().map(String::as_str));
    let root = tree(&lab, &files.collect::<Vec<_>>());
    pipe(root.join("ignore/.ignore"));
    pipe(root.join("gitignore/.gitignore"));
    fs::create_dir_all(root.join("exclude/.git/info")).unwrap();
    pipe(root.join("exclude/.git/info/exclude"));
    let elsewhere = lab.directory.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    pipe(elsewhere.join("commondir"));
    let named = format!("gitdir: {}\n", elsewhere.display());
    fs::write(root.join("linked/.git"), &named).unwrap();
    symlink("/dev/zero", root.join("endless/.ignore")).unwrap();
    let huge = fs::File::create(root.join("huge/.ignore")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let found = search(&client, "txt", &[&root]).await;
    assert_eq!(paths(&found), ["odd/b.txt", "seen/a.txt", "work/c.txt"]);
    // The same at a root, and above it.
    let roots = [&*root.join("ignore"), &*root.join("work")];
    assert_eq!(paths(&search(&client, "txt", &roots).await), ["c.txt"]);
    pipe(root.join(".gitignore"));
    assert!(search(&client, "txt", &roots).await.is_empty());
    client.finish().await;
}
