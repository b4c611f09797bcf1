//! What must hold for text that repeats itself: no reader of it overflows the stack of a thread of the server, or
//! takes more than moments. The fuzz target `nesting` and a plain test both run this.

use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

use quipu_config::edit::{self, Edit};
use quipu_config::{Overrides, parse_toml, split_key_path};
use quipu_policy::rules::Rules;
use quipu_wire::{Json, MergeStrategy, ThreadStartParams, TurnStartParams, codec};

/// The stack of a thread of the server.
const STACK: usize = 2 * 1024 * 1024;
/// The longest file that any of these readers is given.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Generous: without optimisation, each reader is done in a tenth of it.
const PATIENCE: Duration = Duration::from_secs(20);

type Reader = (&'static str, fn(&str));

const READERS: [Reader; 8] = [
    ("settings", settings),
    ("edit", edit),
    ("rules", rules),
    ("script", script),
    ("patch", patch),
    ("message", message),
    ("params", params),
    ("rollout", rollout),
];

/// The lines of `data` are a number, what is repeated so often, what stands in the middle, and what is repeated
/// after it; `\n` in them is a line break.
pub fn check(data: &[u8]) {
    let data = String::from_utf8_lossy(data).into_owned();
    let mut lines = data.lines().map(|line| line.replace("\\n", "\n"));
    let count: usize = lines.next().and_then(|it| it.parse().ok()).unwrap_or(1);
    let [open, middle, close] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    let count = count.min(MAX_BYTES / (open.len() + close.len()).max(1));
    let text = format!("{}{middle}{}", open.repeat(count), close.repeat(count));
    let reading = std::thread::Builder::new().stack_size(STACK);
    let reading = reading.spawn(move || {
        for (name, read) in READERS {
            let begun = Instant::now();
            read(&text);
            let took = begun.elapsed();
            assert!(took < PATIENCE, "{name} took {took:?}");
        }
    });
    reading
        .expect("a thread can be started")
        .join()
        .expect("no reader panics");
}

fn settings(text: &str) {
    parse_toml(text).ok();
    for flag in [format!("{text}=1"), format!("a={text}")] {
        Overrides::default().add_flag(&flag).ok();
    }
}

fn edit(text: &str) {
    let Ok(path) = split_key_path(text) else {
        return;
    };
    let edit = Edit {
        path,
        value: text.into(),
        strategy: MergeStrategy::Upsert,
    };
    edit::apply(text, std::slice::from_ref(&edit)).ok();
    edit::apply("", &[edit]).ok();
}

fn rules(text: &str) {
    Rules::parse(Path::new("any.rules"), text).ok();
}

fn script(text: &str) {
    let argv = ["bash", "-lc", text].map(str::to_owned);
    drop(quipu_policy::actions::command_actions(&argv));
    drop(quipu_policy::bash::parse_script(text));
}

fn patch(text: &str) {
    let argv = ["bash", "-lc", text].map(str::to_owned);
    quipu_patch::detect(&argv);
    quipu_patch::Patch::parse(text).ok();
}

fn message(text: &str) {
    quipu_rpc::Frame::parse(text.to_owned().into()).ok();
    let request = format!(r#"{{"id":1,"method":"x","params":{text}}}"#);
    quipu_rpc::Frame::parse(request.into()).ok();
}

fn params(text: &str) {
    if let Ok(json) = serde_json::from_str::<Json>(text) {
        drop(json.to_value());
    }
    let config = format!(r#"{{"config":{{"a":{text}}}}}"#);
    codec::decode_strictly::<ThreadStartParams>(&config).ok();
    let turn = format!(r#"{{"threadId":"t","input":{text},"outputSchema":{text}}}"#);
    codec::decode_strictly::<TurnStartParams>(&turn).ok();
}

fn rollout(text: &str) {
    let lines = format!(
        "{}\n{{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{text}}}\n{text}\n",
        r#"{"timestamp":"t","type":"session_meta","payload":{"id":"01a1de06-9491-7e71-ac1f-03e96ae2351f","timestamp":"t","cwd":"/p"}}"#
    );
    if let Ok(replay) = quipu_journal::Replay::read(Cursor::new(&lines), Path::new("any")) {
        replay.history.read(Cursor::new(&lines)).ok();
    }
}
