//! What sandboxed commands and tools do not get to see: the stores of the server, the user's credentials,
//! and variables named like secrets.

use std::fs;
use std::path::Path;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::ServerProcess;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::app_server;

const STORED: &str = "stored-by-the-server";
const OF_USER: &str = "credential-of-the-user";
const IN_ENV: &str = "secret-of-the-environment";

/// A user with credentials, whose server keeps secrets of its own.
struct User {
    directory: TempDir,
    process: ServerProcess,
    client: Conversation,
    thread: Value,
    approval_policy: &'static str,
}

impl User {
    async fn new(settings: &str) -> User {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join(".quipu");
        for name in [
            ".ssh",
            ".aws",
            ".quipu/skills",
            ".quipu/sessions/2020/01/01",
            "work",
        ] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        let config = format!(
            "model_provider = \"offline\"\nexperimental_note = \"{STORED}\"\n{settings}\n\
             [sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n"
        );
        for (file, text) in [
            (
                ".quipu/auth.json",
                format!("{{\"OPENAI_API_KEY\": \"{STORED}\"}}"),
            ),
            (".quipu/.credentials.json", STORED.to_owned()),
            (".quipu/sessions/2020/01/01/other.jsonl", STORED.to_owned()),
            (".quipu/.env", format!("A_SETTING={STORED}")),
            (".quipu/config.toml", config),
            (".quipu/AGENTS.md", "public instructions".to_owned()),
            (".ssh/id_ed25519", OF_USER.to_owned()),
            (".gitconfig", "public settings".to_owned()),
            (".aws/credentials", OF_USER.to_owned()),
            (".netrc", OF_USER.to_owned()),
            ("work/file", "public file".to_owned()),
        ] {
            fs::write(directory.path().join(file), text).unwrap();
        }
        let mut process = app_server([])
            .env("HOME", directory.path().to_str().unwrap())
            .env("QUIPU_HOME", home.to_str().unwrap())
            .env("GITHUB_TOKEN", IN_ENV)
            .env("PGPASSWORD", IN_ENV)
            .env("PLAIN", "public variable")
            .start();
        let mut client = Conversation::start(process.stdio()).await;
        let params = json!({ "cwd": directory.path().join("work") });
        let started = client.call("thread/start", params).await;
        User {
            thread: started["thread"]["id"].clone(),
            directory,
            process,
            client,
            approval_policy: "never",
        }
    }

    /// What becomes of a tool call, and the items of its turn.
    async fn calls(&mut self, tool: &str, arguments: Value) -> String {
        let call = json!({ "name": tool, "arguments": arguments });
        let script = json!({ "script": [{ "calls": [call] }, { "text": "done" }] });
        let input = json!([{ "type": "text", "text": script.to_string() }]);
        let params = json!({
            "threadId": self.thread, "input": input, "approvalPolicy": self.approval_policy,
        });
        self.client.call("turn/start", params).await;
        let printed = self.client.until("turn/completed").await;
        let items = printed.iter().filter(|it| it["method"] == "item/completed");
        let of_tools = items.filter(|it| it["params"]["item"]["type"] != "userMessage");
        of_tools.map(Value::to_string).collect()
    }

    async fn runs(&mut self, command: &str) -> String {
        let arguments = json!({ "cmd": command, "login": false });
        self.calls("exec_command", arguments).await
    }

    async fn leaves(mut self) {
        self.client.leave().await;
        self.process.exit().await;
    }
}

fn cat_all(user: &Path) -> String {
    let files = [
        ".quipu/auth.json",
        ".quipu/.credentials.json",
        ".quipu/config.toml",
        ".quipu/.env",
        ".quipu/sessions/2020/01/01/other.jsonl",
        ".quipu/AGENTS.md",
        ".ssh/id_ed25519",
        ".gitconfig",
        ".aws/credentials",
        ".netrc",
        "work/file",
    ];
    let paths = files.map(|file| user.join(file).display().to_string());
    format!("cat {}", paths.join(" "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_harmless_command_reads_no_store_and_no_credential() {
    for mode in ["read-only", "workspace-write"] {
        let mut user = User::new(&format!("sandbox_mode = \"{mode}\"\n")).await;
        let cat = cat_all(user.directory.path());
        // Runs unasked; if it failed, it would be asked about.
        user.approval_policy = "untrusted";
        let said = user.runs(&format!("{cat} || true")).await;
        for public in ["public instructions", "public settings", "public file"] {
            assert!(said.contains(public), "{mode}: {public}: {said}");
        }
        assert!(!said.contains(STORED) && !said.contains(OF_USER), "{said}");
        user.approval_policy = "never";
        let said = user.runs("env").await;
        assert!(!said.contains(IN_ENV), "{said}");
        assert!(said.contains("public variable"), "{said}");
        user.leaves().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_read_no_store_either() {
    let settings = "sandbox_mode = \"workspace-write\"\n";
    let mut user = User::new(settings).await;
    let home = user.directory.path().join(".quipu");
    let store = home.join("auth.json");
    let said = user.calls("view_image", json!({ "path": store })).await;
    assert!(!said.contains("imageView"), "{said}");
    let patch = format!(
        "*** Begin Patch\n*** Update File: {}\n@@\n-{{\"OPENAI_API_KEY\": \"{STORED}\"}}\n+x\n*** End Patch\n",
        store.display()
    );
    user.calls("apply_patch", json!({ "input": patch })).await;
    let kept = fs::read_to_string(&store).unwrap();
    assert!(kept.contains(STORED), "{kept}");
    user.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_with_network_or_without_a_sandbox_get_what_the_user_has() {
    let settings = "sandbox_mode = \"danger-full-access\"\n";
    let mut user = User::new(settings).await;
    let cat = cat_all(user.directory.path());
    let said = user.runs(&format!("{cat}; env")).await;
    assert!(said.contains(OF_USER) && said.contains(IN_ENV), "{said}");
    let policy = json!({ "type": "workspaceWrite", "networkAccess": true });
    let params = json!({ "command": ["sh", "-c", format!("{cat}; env")], "sandboxPolicy": policy });
    let done = user.client.call("command/exec", params).await.to_string();
    assert!(done.contains(OF_USER) && done.contains(IN_ENV), "{done}");
    assert!(!done.contains(STORED), "{done}");
    let policy = json!({ "type": "readOnly" });
    let params = json!({ "command": ["sh", "-c", format!("{cat}; env")], "sandboxPolicy": policy });
    let done = user.client.call("command/exec", params).await.to_string();
    for secret in [STORED, OF_USER, IN_ENV] {
        assert!(!done.contains(secret), "{done}");
    }
    user.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_lift_and_widen_what_is_hidden() {
    let settings = "sandbox_mode = \"read-only\"\n\
                    sandbox_hidden_paths = [\"work/file\", \".netrc\"]\n\
                    shell_environment_policy.ignore_default_excludes = true\n";
    let mut user = User::new(settings).await;
    let cat = cat_all(user.directory.path());
    let said = user.runs(&cat).await;
    assert!(
        said.contains(OF_USER) && !said.contains("public file"),
        "{said}"
    );
    assert!(!said.contains(STORED), "{said}");
    let said = user
        .runs(&format!("cat {}/.netrc", user.directory.path().display()))
        .await;
    assert!(!said.contains(OF_USER), "{said}");
    let said = user.runs("env").await;
    assert!(said.contains(IN_ENV), "{said}");
    user.leaves().await;
}
