//! `quipu runner --demo`: the service at work, without key or network. Three issues in a temporary directory: two are
//! worked on at once, one of these fails and is retried, and the third waits for the first.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use quipu_runner::service::{Handle, Query, Service, ServiceOptions};
use serde_json::{Value, json};

use super::{own_program, quoted};
use crate::exec::args::Color;
use crate::exec::screen::{Look, Screen, Stream};
use crate::exec::stops::Stops;
use crate::runtime;

/// How often the demo looks at the service.
const LOOK: Duration = Duration::from_millis(100);
/// It ends after this time, whatever happens.
const LONGEST: Duration = Duration::from_secs(55);

pub fn run(port: Option<u16>, exit: bool) -> Result<ExitCode, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let directory = directory.path();
    prepare(directory).map_err(|error| format!("cannot prepare the demo: {error}"))?;
    let options = ServiceOptions::new(&directory.join("WORKFLOW.md"), &directory.join("home"));
    let mut options = options.map_err(|error| error.to_string())?;
    options.port = Some(port.unwrap_or(0));
    let runtime = runtime::make()?;
    let stays = io::stdout().is_terminal() && !exit;
    let done = runtime.block_on(show(options, directory, stays));
    runtime.shutdown_background();
    done
}

async fn show(options: ServiceOptions, directory: &Path, stays: bool) -> Result<ExitCode, String> {
    let mut screen = Screen::new(Stream::Output, Color::Auto);
    screen.line(
        Look::Strong,
        "Three issues, worked on by the scripted offline model.",
    );
    let service = Service::start(options)
        .await
        .map_err(|error| error.to_string())?;
    if let Some(address) = service.address() {
        screen.line(Look::Place, &format!("dashboard: http://{address}/"));
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let handle = service.handle();
    let running = tokio::spawn(service.run(async {
        // A dropped sender asks for the end, too.
        stopped.await.ok();
    }));
    let mut stops = Stops::new();
    let finished = tokio::select! {
        finished = watch(&mut screen, &handle) => finished,
        () = tokio::time::sleep(LONGEST) => false,
        () = stops.next() => false,
    };
    if finished {
        results(&mut screen, &handle, directory).await;
    }
    if finished && stays {
        screen.line(Look::Strong, "The dashboard stays until you press Ctrl-C.");
        stops.next().await;
    }
    drop(stop);
    running.await.map_err(|error| error.to_string())?;
    match finished {
        true => Ok(ExitCode::SUCCESS),
        false => Err("the demo was ended before its issues were done".to_owned()),
    }
}

/// Says what happens, until all three issues are done.
async fn watch(screen: &mut Screen, handle: &Handle) -> bool {
    let mut said = BTreeSet::new();
    let mut looks = tokio::time::interval(LOOK);
    loop {
        looks.tick().await;
        let Ok(state) = handle.ask(Query::State).await else {
            return false;
        };
        for line in lines(&state) {
            if said.insert(line.clone()) {
                screen.line(Look::Plain, &line);
            }
        }
        let count = |key: &str| state["counts"][key].as_u64().unwrap_or(0);
        let busy = count("running") + count("retrying") + count("waiting");
        if busy == 0 && count("completed") == 3 {
            return true;
        }
    }
}

fn lines(state: &Value) -> Vec<String> {
    let rows = |key: &str| state[key].as_array().cloned().unwrap_or_default();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    for row in rows("running") {
        let again = match row["attempt"].as_u64() {
            Some(attempt) => format!(", attempt {attempt}"),
            None => String::new(),
        };
        lines.push(format!(
            "{}: an agent works on it{again}",
            text(&row, "issue_identifier")
        ));
    }
    for row in rows("retrying") {
        if let Some(error) = row["error"].as_str() {
            lines.push(format!(
                "{}: failed, tried again soon ({error})",
                text(&row, "issue_identifier")
            ));
        }
    }
    for row in rows("waiting") {
        let name = text(&row, "issue_identifier");
        lines.push(format!("{name}: waits, {}", text(&row, "reason")));
    }
    lines
}

async fn results(screen: &mut Screen, handle: &Handle, directory: &Path) {
    screen.line(Look::Strong, "All done. What is known of each:");
    for issue in ISSUES {
        let asked = handle.ask(|answer| Query::Issue(issue.to_owned(), answer));
        let Ok(Some(details)) = asked.await else {
            continue;
        };
        let attempts = details["tracked"]["attempts"]
            .as_array()
            .map_or(0, Vec::len);
        let tokens = &details["tracked"]["spent"]["total_tokens"];
        screen.line(
            Look::Plain,
            &format!("{issue}: {attempts} attempts, {tokens} tokens"),
        );
        if let Some(patch) = details
            .pointer("/tracked/attempts")
            .and_then(Value::as_array)
        {
            let path = patch.iter().rev().find_map(|it| it["patch"].as_str());
            let text = path
                .and_then(|it| fs::read_to_string(it).ok())
                .unwrap_or_default();
            for line in text
                .lines()
                .filter(|it| it.starts_with('+') && !it.starts_with("+++"))
            {
                screen.line(Look::Good, &format!("    {line}"));
            }
        }
    }
    let state = fs::read_to_string(directory.join("issues/greet.md")).unwrap_or_default();
    let last = state
        .lines()
        .find(|it| it.starts_with("state:"))
        .unwrap_or_default();
    screen.line(
        Look::Plain,
        &format!("issues/greet.md says `{last}`: the agents moved their issues themselves."),
    );
}

const ISSUES: [&str; 3] = ["greet", "count", "sign"];

fn prepare(directory: &Path) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let issues = directory.join("issues");
    for directory in [
        &issues,
        &directory.join("home"),
        &directory.join("agent-home"),
    ] {
        fs::create_dir_all(directory).map_err(text)?;
    }
    let settings = "model_provider = \"offline\"\n";
    fs::write(directory.join("agent-home/config.toml"), settings).map_err(text)?;
    fs::write(directory.join("WORKFLOW.md"), workflow(directory)?).map_err(text)?;
    let issue = |name: &str, head: &str, title: &str, steps: Value| {
        let script = json!({ "script": steps });
        let text = format!("---\ntitle: {title}\nstate: Todo\n{head}---\n{script}\n");
        fs::write(issues.join(format!("{name}.md")), text)
    };
    issue(
        "greet",
        "priority: 1\n",
        "Greet the world",
        work("greeting.txt", "Hello, world!"),
    )
    .map_err(text)?;
    issue(
        "count",
        "labels: [flaky]\n",
        "Count to three",
        work("numbers.txt", "one two three"),
    )
    .map_err(text)?;
    issue(
        "sign",
        "blocked_by: [greet]\n",
        "Sign the greeting",
        work("signature.txt", "Yours, Quipu"),
    )
    .map_err(text)
}

/// What the model does for an issue: a file, then the issue's state.
fn work(file: &str, line: &str) -> Value {
    let patch = format!("*** Begin Patch\n*** Add File: {file}\n+{line}\n*** End Patch");
    let done = json!({ "state": "Done", "comment": format!("Wrote {file}.") });
    json!([
        { "deltas": ["I ", "write ", "the ", "file. "], "every": 150, "patch": patch },
        { "calls": [{ "name": "update_issue", "arguments": done }] },
        { "text": "Done.", "usage": { "input": 1200, "output": 80 } },
    ])
}

fn workflow(directory: &Path) -> Result<String, String> {
    let home = quoted(&directory.join("agent-home"));
    let program = quoted(&own_program()?);
    let command = json!(format!("QUIPU_HOME={home} exec {program} app-server"));
    let root = json!(directory.join("workspaces"));
    Ok(format!(
        "---\npolling: {{ interval_ms: 500 }}\nworkspace: {{ root: {root} }}\n\
         agent: {{ max_concurrent_agents: 2, max_retry_backoff_ms: 2000 }}\ncodex: {{ command: {command} }}\n---\n\
         {{% if issue.labels contains \"flaky\" and attempt == nil %}}\
         {{\"script\": [{{\"fail\": 400, \"body\": {{\"error\": {{\"message\": \"The first try fails, for the demo.\"}}}}}}]}}\
         {{% else %}}{{{{ issue.description }}}}{{% endif %}}\n"
    ))
}
