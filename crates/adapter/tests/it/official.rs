//! The adapter on official servers, if the tester has them: give the programs' paths in `QUIPU_TEST_CODEX`, separated
//! by colons. They speak to a scripted model on loopback and never leave the machine.

use std::path::Path;
use std::time::Duration;

use quipu_adapter::{
    Adapter, Phase, Prompt, Section, Server, Session, Slice, Tool, ToolContext, ToolError,
};
use quipu_testkit::model::ModelServer;
use quipu_testkit::process_table::{left, marker};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Events, on, script, scripted, soon};

#[tokio::test(flavor = "multi_thread")]
async fn official_servers_evaluate_the_same_way() {
    let Some(programs) = std::env::var_os("QUIPU_TEST_CODEX") else {
        eprintln!("skipped: QUIPU_TEST_CODEX names no official servers");
        return;
    };
    for program in std::env::split_paths(&programs) {
        eprintln!("{}", program.display());
        let lab = Lab::new(&program).await;
        lab.an_answer_becomes_its_type().await;
        lab.tools_are_called_and_undone().await;
        lab.commands_are_reported().await;
        lab.a_thread_goes_on().await;
        lab.a_failed_turn_has_its_cause().await;
        lab.a_deadline_leaves_nothing().await;
        lab.one_process_evaluates_at_once().await;
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Count(u32);

impl Slice for Count {
    const NAME: &'static str = "count";
    type Event = ();

    fn apply(&mut self, (): ()) {
        self.0 += 1;
    }
}

#[derive(JsonSchema, Deserialize)]
struct Step {
    /// Whether to fail after counting.
    fails: bool,
}

fn counting() -> Tool {
    Tool::new(
        "count",
        "Counts.",
        async |step: Step, context: ToolContext| {
            context.session().dispatch::<Count>(());
            match step.fails {
                true => Err(ToolError::new("as asked")),
                false => Ok("counted"),
            }
        },
    )
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Animal {
    name: String,
}

/// A home and a model of one server's own.
struct Lab {
    home: TempDir,
    model: ModelServer,
    server: Server,
    /// In the arguments of the server, by which it is found.
    mark: String,
}

impl Lab {
    async fn new(program: &Path) -> Lab {
        let model = ModelServer::start().await.unwrap();
        let home = tempfile::tempdir().unwrap();
        let config = on(&model) + "request_max_retries = 0\nstream_max_retries = 0\n";
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        let mark = marker();
        let server = Server::spawn(program)
            .args([
                "app-server",
                "-c",
                &format!("developer_instructions=\"{mark}\""),
            ])
            .env("CODEX_HOME", home.path())
            .env("QUIPU_HOME", home.path())
            .env("HOME", home.path())
            .env_remove("OPENAI_API_KEY");
        Lab {
            home,
            model,
            server,
            mark,
        }
    }

    fn adapter(&self) -> Adapter {
        self.on(self.server.clone())
    }

    fn on(&self, server: Server) -> Adapter {
        Adapter::new(server)
            .cwd(self.home.path())
            .startup_timeout(Duration::from_secs(60))
    }

    async fn an_answer_becomes_its_type(&self) {
        let (adapter, events) = Events::of(self.adapter());
        let prompt = Prompt::<Animal>::new("test")
            .section(script(json!([{ "text": r#"{"name":"llama"}"# }])));
        let response = soon(adapter.evaluate(&prompt, &Session::new())).await;
        let response = response.unwrap();
        assert_eq!(response.output.name, "llama");
        assert!(response.usage.total > 0, "{:?}", response.usage);
        assert_eq!(events.summary(), ["rendered", "executed"]);
        let requests = self.model.requests();
        let schema = &requests.last().unwrap().body["text"]["format"]["schema"];
        assert!(schema["properties"]["name"].is_object(), "{schema}");
    }

    async fn tools_are_called_and_undone(&self) {
        let (adapter, events) = Events::of(self.adapter());
        let call =
            |arguments: Value| json!({ "calls": [{ "name": "count", "arguments": arguments }] });
        let steps = json!([
            call(json!({ "fails": false })),
            call(json!({ "fails": true })),
            call(json!({ "fails": "perhaps" })),
            { "text": "done" },
        ]);
        let session = Session::new();
        let response = soon(adapter.evaluate(&scripted(steps).tool(counting()), &session)).await;
        assert_eq!(response.unwrap().output, "done");
        assert_eq!(session.get::<Count>().0, 1);
        assert_eq!(
            events.summary(),
            [
                "rendered",
                "count",
                "count failed",
                "count failed",
                "executed"
            ]
        );
        let read = self.model.requests().last().unwrap().body.to_string();
        assert!(
            read.contains("counted") && read.contains("as asked"),
            "{read}"
        );
    }

    async fn commands_are_reported(&self) {
        let (adapter, events) = Events::of(self.adapter());
        let requests = self.model.requests();
        let tools = requests[0].body["tools"].as_array().unwrap();
        let offers = |name: &str| tools.iter().any(|it| it["name"] == name);
        let call = |line: &str| match () {
            () if offers("shell_command") => ("shell_command", json!({ "command": line })),
            () if offers("exec_command") => ("exec_command", json!({ "cmd": line })),
            () => ("shell", json!({ "command": ["bash", "-c", line] })),
        };
        let call = |line: &str| {
            let (name, arguments) = call(line);
            json!({ "calls": [{ "name": name, "arguments": arguments }] })
        };
        let steps = json!([call("echo made > made"), call("exit 3"), { "text": "done" }]);
        let response = soon(adapter.evaluate(&scripted(steps), &Session::new())).await;
        assert_eq!(response.unwrap().output, "done");
        assert!(self.home.path().join("made").exists());
        assert_eq!(
            events.summary(),
            ["rendered", "command", "command failed", "executed"]
        );
    }

    async fn a_thread_goes_on(&self) {
        let adapter = self.adapter().reuse_threads();
        let session = Session::new();
        for words in ["remember the llama", "what animal was it"] {
            let prompt = Prompt::text("test").section(Section::new("Task", words));
            soon(adapter.evaluate(&prompt, &session)).await.unwrap();
        }
        let last = self.model.requests().last().unwrap().body.to_string();
        let both = last.contains("remember the llama") && last.contains("what animal was it");
        assert!(both, "{last}");
    }

    async fn a_failed_turn_has_its_cause(&self) {
        let failing = json!([{ "fail": 400, "body": { "error": { "message": "as scripted" } } }]);
        let adapter = self.adapter();
        let error = soon(adapter.evaluate(&scripted(failing), &Session::new()))
            .await
            .unwrap_err();
        assert!(error.message().contains("as scripted"), "{error:?}");
        assert!(error.cause().is_some(), "{error:?}");
    }

    async fn a_deadline_leaves_nothing(&self) {
        let adapter = self.adapter();
        let (prompt, session) = (
            scripted(json!([{ "text": "…", "stall": true }])),
            Session::new(),
        );
        let evaluation = adapter
            .evaluate(&prompt, &session)
            .timeout(Duration::from_secs(5));
        let error = soon(evaluation).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Deadline, "{error}");
        assert_eq!(left(&self.mark).await, [""; 0]);
    }

    async fn one_process_evaluates_at_once(&self) {
        let adapter = self.on(self.server.clone().pooled());
        let prompts: Vec<_> = (0..4)
            .map(|at| scripted(json!([{ "text": format!("answer {at}") }])))
            .collect();
        let sessions: Vec<_> = prompts.iter().map(|_| Session::new()).collect();
        let all = prompts.iter().zip(&sessions).map(|(prompt, session)| {
            let evaluation = adapter.evaluate(prompt, session);
            async { soon(evaluation).await }
        });
        for (at, response) in futures_util::future::join_all(all)
            .await
            .into_iter()
            .enumerate()
        {
            assert_eq!(response.unwrap().output, format!("answer {at}"));
        }
        adapter.close().await;
        assert_eq!(left(&self.mark).await, [""; 0]);
    }
}
