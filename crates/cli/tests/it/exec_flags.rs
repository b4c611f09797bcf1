//! What each flag of `quipu exec` does, as the model that is asked and the files of the machine see it.

use std::path::Path;
use std::process::Output;

use quipu_client::wire::ThreadSetNameParams;
use quipu_client::{Client, Options};
use quipu_testkit::client::within;
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::exec::{Place, call, script, text};
use crate::support::QUIPU;

/// The smallest image there is.
pub const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

/// A place whose runs ask a model that remembers what it was asked.
pub async fn with_model() -> (Place, ModelServer) {
    let model = ModelServer::start().await.unwrap();
    let place = Place::new();
    let home = place.directory.path().join(".quipu");
    std::fs::create_dir_all(&home).unwrap();
    let config = format!(
        "model = \"configured\"\nmodel_provider = \"scripted\"\n\
         [profiles.other]\nmodel = \"of-the-profile\"\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}\"\nwire_api = \"responses\"\n",
        model.base_url(),
    );
    std::fs::write(home.join("config.toml"), config).unwrap();
    (place, model)
}

/// The body of the latest request.
fn asked(model: &ModelServer) -> Value {
    model.requests().last().unwrap().body.clone()
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn the_model_is_the_one_that_was_named_last() {
    let (place, model) = with_model().await;
    for (args, expected) in [
        (&["hi"][..], "configured"),
        (&["-m", "flagged", "hi"], "flagged"),
        (&["-p", "other", "hi"], "of-the-profile"),
        (&["-c", "model=\"set\"", "hi"], "set"),
        (&["-p", "other", "-m", "flagged", "hi"], "flagged"),
        (&["-m", "a", "resume", "--last", "-m", "b", "hi"], "b"),
    ] {
        succeeded(&place.run(args).await);
        assert_eq!(asked(&model)["model"], expected, "{args:?}");
    }
    let unknown = place.run(&["-p", "nobody", "hi"]).await;
    assert_eq!(unknown.status.code(), Some(1));
    assert_eq!(
        text(&unknown.stderr).lines().last(),
        Some("Error: config profile `nobody` not found; there are: other")
    );
}

#[tokio::test]
async fn features_change_what_the_model_is_offered() {
    let (place, model) = with_model().await;
    for (args, expected) in [
        (&["--enable", "multi_agent", "hi"][..], true),
        (&["--disable", "multi_agent", "hi"], false),
        (&["hi", "--disable", "multi_agent"], false),
    ] {
        succeeded(&place.run(args).await);
        let tools = asked(&model)["tools"].take();
        let mut tools = tools.as_array().unwrap().iter();
        let offered = tools.any(|it| it["name"] == "spawn_agent");
        assert_eq!(offered, expected, "{args:?}");
    }
    let unknown = place.run(&["--enable", "nobody", "hi"]).await;
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("Unknown feature flag: nobody"));
}

#[tokio::test]
async fn images_go_with_the_prompt() {
    let (place, model) = with_model().await;
    let first = place.work().join("first.png");
    let second = place.work().join("second.png");
    for path in [&first, &second] {
        std::fs::write(path, PNG).unwrap();
    }
    let [first, second] = [&first, &second].map(|it| it.to_str().unwrap());
    let both = format!("{first},{second}");
    for (args, count) in [
        (&["look", "-i", first][..], 1),
        (&["-i", first, "look"], 1),
        (&["-i", first, "--image", second, "--", "look"], 2),
        (&["-i", &both, "look"], 2),
        (
            &[
                "-C",
                "/",
                "--skip-git-repo-check",
                "-i",
                "first.png",
                "look",
            ],
            1,
        ),
        (&["--ephemeral", "look"], 0),
    ] {
        succeeded(&place.run(args).await);
        assert_eq!(images(&asked(&model)), count, "{args:?}");
    }
    // A run that goes on has those of the runs before it too.
    succeeded(
        &place
            .run(&["resume", "--last", "look again", "-i", second])
            .await,
    );
    assert_eq!(images(&asked(&model)), 3);
}

#[tokio::test]
async fn an_image_that_cannot_be_sent_fails_before_the_turn() {
    let (place, model) = with_model().await;
    std::fs::write(place.work().join("words.png"), "no image").unwrap();
    for (path, why) in [
        (
            "missing.png",
            "cannot use the image missing.png: No such file",
        ),
        (
            "words.png",
            "cannot use the image words.png: it is not a complete PNG, JPEG, GIF or WebP image",
        ),
    ] {
        let output = place.run(&["-i", path, "look"]).await;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let printed = text(&output.stderr);
        assert!(printed.contains(why), "{printed}");
    }
    assert!(model.requests().is_empty());
}

/// How many images the input of a request holds.
fn images(request: &Value) -> usize {
    let url = r#""image_url":"data:image/png;base64,"#;
    request["input"].to_string().matches(url).count()
}

#[tokio::test]
async fn commands_run_in_the_directory_and_write_where_they_may() {
    let place = Place::new();
    let beside = tempfile::tempdir().unwrap();
    let [work, added, configured] = ["work", "added", "configured"].map(|name| {
        let directory = beside.path().join(name);
        std::fs::create_dir(&directory).unwrap();
        directory.to_str().unwrap().to_owned()
    });
    let write = format!("pwd; touch {added}/made; touch {configured}/made");
    let steps = script(json!([call(&write), { "text": "tried" }]));
    let roots = format!("sandbox_workspace_write.writable_roots=[\"{configured}\"]");
    // A sandboxed command may write to temporary directories as well, unless told otherwise.
    let tmp = "sandbox_workspace_write.exclude_slash_tmp=true";
    let base = [
        "--skip-git-repo-check",
        "-C",
        &work,
        "-c",
        &roots,
        "-c",
        tmp,
    ];
    let made = |directory: &str| Path::new(directory).join("made").exists();
    let run = async |args: &[&str]| -> String {
        let lines = place.lines(&[&base, args, &[&steps]].concat(), 0).await;
        let ran = lines.iter().find(|it| it["type"] == "item.completed");
        let output = &ran.unwrap()["item"]["aggregated_output"];
        output.as_str().unwrap().to_owned()
    };
    let output = run(&["-s", "read-only"]).await;
    assert!(output.starts_with(&format!("{work}\n")), "{output}");
    assert!(!made(&added) && !made(&configured), "{output}");
    let output = run(&["-s", "workspace-write"]).await;
    assert!(!made(&added) && made(&configured), "{output}");
    std::fs::remove_file(format!("{configured}/made")).unwrap();
    let output = run(&["-s", "workspace-write", "--add-dir", &added]).await;
    assert!(made(&added) && made(&configured), "{output}");
    std::fs::remove_file(format!("{added}/made")).unwrap();
    let output = run(&["--dangerously-bypass-approvals-and-sandbox"]).await;
    assert!(made(&added), "{output}");
}

#[tokio::test]
async fn without_a_sandbox_no_repository_is_needed() {
    let place = Place::new();
    std::fs::remove_dir(place.work().join(".git")).unwrap();
    let bypass = "--dangerously-bypass-approvals-and-sandbox";
    for flag in [bypass, "--yolo"] {
        let output = place.run(&[flag, "hi"]).await;
        succeeded(&output);
        assert!(text(&output.stderr).contains("sandbox: none"), "{output:?}");
    }
    let both = place.run(&["--full-auto", bypass, "hi"]).await;
    assert_eq!(both.status.code(), Some(2), "{both:?}");
}

#[tokio::test]
async fn colours_can_be_had_in_a_pipe() {
    let place = Place::new();
    for (color, expected) in [("always", true), ("never", false), ("auto", false)] {
        let output = place.run(&["--color", color, "hi"]).await;
        succeeded(&output);
        let printed = text(&output.stderr);
        assert_eq!(printed.contains("\x1b["), expected, "{printed}");
    }
}

#[tokio::test]
async fn a_model_server_of_this_machine_is_used_if_there_is_one() {
    let (place, model) = with_model().await;
    let run = async |args: &[&str], url: &str| {
        let mut command = place.command(args);
        let child = command.env("CODEX_OSS_BASE_URL", url);
        within("the end of a run", child.output()).await.unwrap()
    };
    for (args, expected) in [
        (&["--oss", "hi"][..], "gpt-oss:20b"),
        (&["--oss", "-m", "mine", "hi"], "mine"),
        (
            &["--local-provider", "lmstudio", "hi"],
            "openai/gpt-oss-20b",
        ),
        (
            &["--oss", "-c", "oss_provider=lmstudio", "hi"],
            "openai/gpt-oss-20b",
        ),
    ] {
        succeeded(&run(args, &model.base_url()).await);
        let last = model.requests().last().unwrap().clone();
        assert_eq!(last.body["model"], expected, "{args:?}");
        assert_eq!(last.path, "/v1/chat/completions");
    }
    // A port on which nobody listens any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", port.local_addr().unwrap());
    drop(port);
    let nobody = run(&["--oss", "hi"], &url).await;
    assert_eq!(nobody.status.code(), Some(1));
    let printed = text(&nobody.stderr);
    let expected = format!("nothing listens at {url}, where Ollama is expected");
    assert!(printed.contains(&expected), "{printed}");
    // The address is the one that is configured.
    let moved = format!(
        "model_providers.vllm={{ name = \"Moved\", base_url = {:?} }}",
        model.base_url()
    );
    let args = ["--local-provider", "vllm", "-m", "mine", "-c", &moved, "hi"];
    succeeded(&place.run(&args).await);
    assert_eq!(model.requests().last().unwrap().body["model"], "mine");
    let moved = format!("model_providers.llamacpp={{ name = \"Moved\", base_url = {url:?} }}");
    let args = ["--local-provider", "llamacpp", "-c", &moved, "hi"];
    let nobody = place.run(&args).await;
    let printed = text(&nobody.stderr);
    assert!(
        printed.contains(&format!("nothing listens at {url}, where Moved is"))
            && printed.contains("`base_url` in [model_providers.llamacpp]"),
        "{printed}"
    );
    let remote = place.run(&["--local-provider", "openai", "hi"]).await;
    let printed = text(&remote.stderr);
    let local =
        "`openai` is not a server on this machine; there are: ollama, lmstudio, llamacpp, vllm";
    assert!(printed.contains(local), "{printed}");
    let unknown = place.run(&["--local-provider", "nobody", "hi"]).await;
    let printed = text(&unknown.stderr);
    let listed = "Model provider `nobody` not found; there are: openai, ";
    assert!(
        printed.contains(listed) && printed.contains("scripted"),
        "{printed}"
    );
}

#[tokio::test]
async fn a_key_for_one_run_is_sent_and_not_stored() {
    let (place, model) = with_model().await;
    let url = format!("openai_base_url={:?}", model.base_url());
    let mut command = place.command(&["-c", "model_provider=openai", "-c", &url, "hi"]);
    let child = command.env("CODEX_API_KEY", "sk-of-the-run");
    let output = within("the end of a run", child.output()).await.unwrap();
    succeeded(&output);
    let last = model.requests().last().unwrap().clone();
    assert_eq!(last.headers["authorization"], "Bearer sk-of-the-run");
    assert!(!place.directory.path().join(".quipu/auth.json").exists());
}

#[tokio::test]
async fn runs_are_found_by_name_and_in_other_directories() {
    let place = Place::new();
    let first = place.lines(&["hi"], 0).await;
    let id = first[0]["thread_id"].as_str().unwrap();
    let options = Options::spawn(QUIPU).env("HOME", place.directory.path());
    let client = Client::connect(options.env_remove("QUIPU_HOME").env_remove("CODEX_HOME"));
    let client = within("a connection", client).await.unwrap();
    let named = client.thread_name_set(ThreadSetNameParams {
        thread_id: id.to_owned(),
        name: "the first".to_owned(),
    });
    within("a name", named).await.unwrap();
    within("the end", client.disconnect()).await;
    let lines = place.lines(&["resume", "the first", "go on"], 0).await;
    assert_eq!(lines[0]["thread_id"], id);

    let other = tempfile::tempdir().unwrap();
    let elsewhere = [
        "-C",
        other.path().to_str().unwrap(),
        "--skip-git-repo-check",
    ];
    let here = place
        .run(&[&elsewhere, &["resume", "--last", "go on"][..]].concat())
        .await;
    assert_eq!(here.status.code(), Some(1), "{here:?}");
    assert!(text(&here.stderr).contains("try --all"), "{here:?}");
    let args = [&elsewhere, &["resume", "--last", "--all", "go on"][..]].concat();
    let lines = place.lines(&args, 0).await;
    assert_eq!(lines[0]["thread_id"], id);
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program of the test, killed on drop"
)]
async fn git(place: &Place, args: &[&str]) -> String {
    let mut command = tokio::process::Command::new("git");
    command
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(args);
    command.current_dir(place.work()).kill_on_drop(true);
    let output = within("git", command.output()).await.unwrap();
    succeeded(&output);
    text(&output.stdout).trim().to_owned()
}

#[tokio::test]
async fn reviews_are_of_what_was_named() {
    let (place, model) = with_model().await;
    std::fs::remove_dir(place.work().join(".git")).unwrap();
    git(&place, &["init", "-q", "-b", "trunk"]).await;
    std::fs::write(place.work().join("file"), "one\n").unwrap();
    git(&place, &["add", "."]).await;
    git(&place, &["commit", "-qm", "first"]).await;
    let commit = git(&place, &["rev-parse", "HEAD"]).await;
    std::fs::write(place.work().join("file"), "two\n").unwrap();
    let titled = ["review", "--commit", &commit, "--title", "The first one"];
    for (args, expected) in [
        (&["review", "--uncommitted"][..], "not committed"),
        (&["review", "--base", "trunk"], "trunk"),
        (&["review", "--commit", &commit], &*commit),
        (&titled, "The first one"),
        (&["review", "look for ghosts"], "look for ghosts"),
    ] {
        let output = place.run(args).await;
        succeeded(&output);
        let input = asked(&model)["input"].to_string();
        let lower = input.to_lowercase();
        assert!(
            lower.contains(&expected.to_lowercase()),
            "{args:?}: {input}"
        );
    }
}

#[tokio::test]
async fn reviews_of_what_does_not_exist_fail() {
    let (place, model) = with_model().await;
    std::fs::remove_dir(place.work().join(".git")).unwrap();
    git(&place, &["init", "-q", "-b", "trunk"]).await;
    git(&place, &["commit", "-qm", "first", "--allow-empty"]).await;
    for (args, why) in [
        (["review", "--base", "nosuch"], "has no branch `nosuch`"),
        (["review", "--commit", "nosuch"], "has no commit `nosuch`"),
        // A name that git would take for an option.
        (
            ["review", "--base=--all", "--json"],
            "has no branch `--all`",
        ),
    ] {
        let output = place.run(&args).await;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let printed = text(&output.stderr);
        assert!(printed.contains(why), "{printed}");
    }
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn command_lines_that_make_no_sense_are_reported_from_runs_that_fail() {
    let place = Place::new();
    for (code, args) in [
        (2, &["--nope", "hi"][..]),
        (2, &["-s", "nope", "hi"]),
        (2, &["--color", "pink", "hi"]),
        (2, &["-m"]),
        (2, &["hi", "there"]),
        (2, &["review", "--uncommitted", "--base", "main"]),
        (2, &["review", "--title", "x"]),
        (2, &["review", "--uncommitted", "x"]),
        (1, &["resume"]),
        (1, &["-c", "novalue", "hi"]),
        (1, &["-c", "model_provider=nobody", "hi"]),
        (1, &["--output-schema", "/etc/passwd", "hi"]),
        (0, &["--help"]),
        (0, &["resume", "--help"]),
        (1, &["-o", "/nowhere/at/all", "hi"]),
    ] {
        let output = place.run(args).await;
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    }
    let version = place.run(&["--version"]).await;
    let said = text(&version.stdout);
    assert!(
        said.starts_with("quipu-exec ") && said.contains("0.166.0"),
        "{said}"
    );
}
