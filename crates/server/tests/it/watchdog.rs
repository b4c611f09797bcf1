//! No request may keep a thread of the runtime to itself: with as many such requests as there are threads, the
//! whole server would stand still.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quipu_wire::describe::{Content, Field, Shape, Tagging, Ty};
use quipu_wire::method::CLIENT_REQUESTS;
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use crate::stage::Stage;

/// How long a task that does nothing may wait for its turn. Builds without optimisation on a busy machine stay
/// well below it.
const LIMIT: Duration = Duration::from_secs(3);

/// Measures from outside how long tasks of this runtime wait. With one worker, that is how long others keep it.
pub struct Watchdog {
    stop: Arc<AtomicBool>,
    watching: JoinHandle<Duration>,
}

impl Watchdog {
    pub fn start() -> Watchdog {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, runtime) = (Arc::clone(&stop), Handle::current());
        let watching = thread::spawn(move || {
            let mut longest = Duration::ZERO;
            while !stopped.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let (done, ran) = std::sync::mpsc::channel();
                runtime.spawn(async move { done.send(()).ok() });
                ran.recv().ok();
                longest = longest.max(begun.elapsed());
                thread::park_timeout(Duration::from_millis(1));
            }
            longest
        });
        Watchdog { stop, watching }
    }

    /// Panics if a task had to wait for too long.
    pub fn finish(self) {
        self.stop.store(true, Ordering::Relaxed);
        let longest = self.watching.join().unwrap();
        assert!(longest < LIMIT, "a worker was held for {longest:?}");
    }
}

/// What all strings and all JSON of one request are.
#[derive(Clone, Copy)]
enum Hostile {
    Dots,
    Brackets,
    Stars,
    Plain,
    Deep,
    Multiplied,
}

const ALL: [Hostile; 6] = [
    Hostile::Dots,
    Hostile::Brackets,
    Hostile::Stars,
    Hostile::Plain,
    Hostile::Deep,
    Hostile::Multiplied,
];

impl Hostile {
    fn text(self) -> String {
        match self {
            Hostile::Dots => "a.".repeat(20_000),
            Hostile::Brackets | Hostile::Multiplied => "[".repeat(40_000),
            Hostile::Stars => "*a".repeat(20_000),
            Hostile::Plain => "x".to_owned(),
            Hostile::Deep => format!("{}{}", "{\"a\":[".repeat(5_000), "]}".repeat(5_000)),
        }
    }

    fn json(self) -> Value {
        match self {
            Hostile::Multiplied => multiplied(),
            Hostile::Deep => {
                let text = format!("{}{}", "[".repeat(90), "]".repeat(90));
                serde_json::from_str(&text).unwrap()
            }
            _ => Value::from(vec![self.text(); 10]),
        }
    }

    /// A value of a type, with all its members; `None` ends types that hold themselves.
    fn value(self, ty: &Ty, place: &Place<'_>, depth: usize) -> Option<Value> {
        if depth > 8 {
            return None;
        }
        Some(match ty {
            Ty::Bool => json!(true),
            Ty::String => self.text().into(),
            Ty::Integer(_) => json!(1),
            Ty::Number(_) => json!(0.5),
            Ty::Json => self.json(),
            Ty::Option(inner) => self.value(inner, place, depth).unwrap_or_default(),
            Ty::List(inner) => {
                let item = self.value(inner, place, depth + 1);
                vec![item?; 20].into()
            }
            Ty::Map(inner) => json!({ self.text(): self.value(inner, place, depth + 1)? }),
            Ty::Named(definition) => match &definition().shape {
                Shape::Struct(fields, _) => self.object(fields, place, depth)?.into(),
                Shape::Alias(Ty::String) => place.path.into(),
                Shape::Alias(ty) => self.value(ty, place, depth)?,
                Shape::Enum(tagging, variants) => {
                    let variant = variants.last()?;
                    let content = match &variant.content {
                        Content::Unit => None,
                        Content::One(ty) => Some(self.value(ty, place, depth + 1)?),
                        Content::Fields(fields) => {
                            Some(self.object(fields, place, depth + 1)?.into())
                        }
                    };
                    match (tagging, content) {
                        (Tagging::Tagged(tag), content) => {
                            let mut members = content.unwrap_or_else(|| json!({}));
                            members[tag] = variant.name.into();
                            members
                        }
                        (Tagging::Untagged, content) => content?,
                        (Tagging::Named | Tagging::Open(_), None) => variant.name.into(),
                        (Tagging::Named | Tagging::Open(_), Some(content)) => {
                            json!({ variant.name: content })
                        }
                    }
                }
            },
        })
    }

    fn object(
        self,
        fields: &[Field],
        place: &Place<'_>,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let mut members = Map::new();
        for field in fields.iter().filter(|field| !field.flatten) {
            let value = match field.name {
                "threadId" => place.thread.into(),
                "cwd" | "path" | "sourcePath" | "destinationPath" => place.path.into(),
                _ => self.value(&field.ty, place, depth + 1)?,
            };
            members.insert(field.name.to_owned(), value);
        }
        Some(members)
    }
}

/// What requests are about, so that they get as far as they can.
struct Place<'a> {
    thread: &'a str,
    /// Deep in a tree of directories that are not there.
    path: &'a str,
}

/// A small schema of which a checker could make twelve levels of ten forms each.
fn multiplied() -> Value {
    let mut levels = Map::new();
    for level in 0..12 {
        let next = json!({ "$ref": format!("#/$defs/a{}", level + 1) });
        levels.insert(format!("a{level}"), json!({ "allOf": vec![next; 10] }));
    }
    levels.insert("a12".to_owned(), json!({}));
    json!({ "$ref": "#/$defs/a0", "$defs": levels })
}

/// These would reach out to the internet, or end the process.
const LEFT_OUT: [&str; 3] = ["account/login/start", "feedback/upload", "initialize"];

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_request_keeps_a_worker() {
    let stage = Stage::new().await;
    let watchdog = Watchdog::start();
    let path = format!("{}/none/{}", stage.directory().display(), "d/".repeat(1000));
    let path = path.trim_end_matches('/');
    for row in CLIENT_REQUESTS {
        if LEFT_OUT.contains(&row.name) {
            continue;
        }
        let (mut client, thread) = stage.thread().await;
        let place = Place {
            thread: &thread,
            path,
        };
        for hostile in ALL {
            let params = hostile.value(&row.params, &place, 0).unwrap();
            client.ask(row.name, params).await;
        }
        client.call("thread/loaded/list", json!({})).await;
        client.leave().await;
    }
    watchdog.finish();
}

/// Checking an answer against a schema can take long, and does not hold up anybody meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_schema_keeps_a_worker() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let watchdog = Watchdog::start();
    for _ in 0..2 {
        stage.play([json!({ "text": "{}" })]);
    }
    let mut params = crate::stage::input(&thread, "hi");
    params["outputSchema"] = multiplied();
    client.call("turn/start", params).await;
    let warning = client.skip_to("warning").await;
    let expected = "The final message of scripted-model does not match the output schema: checking it against the \
                    schema takes more than 2000000 steps; simplify the schema";
    assert_eq!(warning["params"]["message"], expected);
    client.skip_to("turn/completed").await;
    let many: Vec<String> = (0..200_000).map(|n| n.to_string()).collect();
    stage.play([json!({ "text": format!("[{}]", many.join(",")) })]);
    let mut params = crate::stage::input(&thread, "hi");
    params["outputSchema"] = json!({ "type": "array", "uniqueItems": true });
    client.call("turn/start", params).await;
    let ended = client.skip_to("turn/completed").await;
    assert_eq!(ended["params"]["turn"]["status"], "completed");
    watchdog.finish();
}

/// What a model writes into its calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_call_of_a_model_keeps_a_worker() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let watchdog = Watchdog::start();
    for hostile in ALL {
        let text = hostile.text();
        let patch = format!("*** Begin Patch\n*** Add File: x\n+{text}\n*** End Patch");
        let hunks = format!("*** Begin Patch\n{}", "@@\n-a\n+b\n".repeat(20_000));
        let calls = json!([
            { "name": "exec_command", "arguments": { "cmd": format!("true # {text}") } },
            { "name": "exec_command", "arguments": { "cmd": format!("true {text}") } },
            { "name": "exec_command", "arguments": text },
            { "name": "apply_patch", "arguments": patch, "custom": true },
            { "name": "apply_patch", "arguments": hunks, "custom": true },
            { "name": "update_plan", "arguments": { "plan": [{ "step": text, "status": "pending" }] } },
            { "name": "view_image", "arguments": { "path": text } },
            { "name": text, "arguments": "{}" },
        ]);
        stage.play([json!({ "calls": calls }), json!({ "text": text })]);
        crate::stage::run(&mut client, &thread, "go").await;
    }
    watchdog.finish();
}

/// What a project has where the server looks by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_file_of_a_project_keeps_a_worker() {
    let directory = tempfile::tempdir().unwrap();
    let (home, project) = (
        directory.path().join("home"),
        directory.path().join("project"),
    );
    let trusted = format!("[projects.{project:?}]\ntrust_level = \"trusted\"");
    let stage = Stage::at(directory, home, &trusted).await;
    let files = [
        "AGENTS.md",
        ".codex/config.toml",
        ".codex/rules/all.rules",
        ".agents/skills/one/SKILL.md",
        ".agents/skills/one/agents/openai.yaml",
        ".git/config",
        ".gitignore",
    ];
    let mut client = stage.client().await;
    let watchdog = Watchdog::start();
    for unit in ["[", "*a", "a."] {
        let block = format!("---\ndescription: x\nx: {}\n---\n", unit.repeat(30_000));
        for (name, text) in files.iter().flat_map(|name| {
            let other = unit.repeat(500_000);
            [(name, other), (name, block.clone())]
        }) {
            let path = project.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            // Whether it is refused is another matter.
            let asked = json!({ "cwd": project });
            client.try_call("thread/start", asked).await.ok();
            let asked = json!({ "cwds": [project], "forceReload": true });
            client.try_call("skills/list", asked).await.ok();
            let asked = json!({ "query": "a", "roots": [project] });
            client.try_call("fuzzyFileSearch", asked).await.ok();
            fs::remove_file(&path).unwrap();
        }
    }
    watchdog.finish();
}
