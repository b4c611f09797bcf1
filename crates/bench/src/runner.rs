//! What `quipu runner` costs: how fast an issue gets its agent, and what the service itself uses while 0, 50 and 500
//! agents are at work. The agents are scripted, in shell, and say something every second.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use quipu_testkit::process::{Launch, ServerProcess};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::ground::Subject;
use crate::{Result, usage};

const SESSIONS: [usize; 3] = [0, 50, 500];
/// How long the service is watched at rest.
const WATCHED: Duration = Duration::from_secs(10);
/// Issues whose way to their agent is timed, one after the other.
const TIMED: usize = 10;
const PATIENCE: Duration = Duration::from_secs(300);

/// An app-server that accepts everything, and whose turn only ends with it.
const AGENT: &str = r#"
say() { printf '%s\n' "$1"; }
next=0
ok() { next=$((next + 1)); say '{"id":'"$next"',"result":'"$1"'}'; }
while IFS= read -r line; do
  case $line in
    *'"method":"initialize"'*) ok '{"userAgent":"sh/0.118.0 (bench)"}' ;;
    *'"method":"thread/start"'*) ok '{"thread":{"id":"t-'$$'"}}' ;;
    *'"method":"turn/start"'*)
      ok '{"turn":{"id":"1"}}'
      (while say '{"method":"item/started","params":{"threadId":"t-'$$'","turnId":"1","item":{"type":"agentMessage","id":"i","text":"x"}}}'; do sleep 1; done) &
      ;;
    *'"method":"turn/interrupt"'*) ok '{}' ;;
  esac
done
kill $! 2>/dev/null
"#;

pub async fn run(subject: &Subject, quick: bool) -> Result<()> {
    let mut out = String::from(
        "| running sessions | all started after, s | dispatch latency, ms | CPU of the service, % of a core | memory, MB |\n\
         |---|---|---|---|---|\n",
    );
    for sessions in SESSIONS.map(|it| if quick { it / 10 } else { it }) {
        out.push_str(&measure(subject, sessions).await?);
    }
    write!(io::stdout().lock(), "{out}")?;
    Ok(())
}

async fn measure(subject: &Subject, sessions: usize) -> Result<String> {
    let directory = prepare(sessions)?;
    let begun = Instant::now();
    let mut service = Launch::new(&subject.program)
        .args(["runner", "--port", "0"])
        .directory_at(directory.path())
        .env(
            "QUIPU_HOME",
            &directory.path().join("home").to_string_lossy(),
        )
        .start();
    let said = service.said("dashboard: http://").await;
    let address = said.split("dashboard: http://").nth(1).unwrap_or_default();
    let address = address.split('/').next().unwrap_or_default().to_owned();
    until(&address, sessions).await?;
    let started = begun.elapsed();
    let (cpu, memory) = at_rest(&service).await?;
    let latency = latency(&address, directory.path(), sessions).await?;
    Ok(format!(
        "| {sessions} | {:.2} | {latency:.1} | {cpu:.2} | {memory:.1} |\n",
        started.as_secs_f64()
    ))
}

fn prepare(sessions: usize) -> Result<TempDir> {
    let directory = tempfile::tempdir()?;
    fs::create_dir(directory.path().join("issues"))?;
    let agent = directory.path().join("agent.sh");
    fs::write(&agent, AGENT)?;
    let most = sessions + TIMED;
    let text = format!(
        "---\nworkspace: {{ root: work }}\nagent: {{ max_concurrent_agents: {most} }}\n\
         codex: {{ command: \"exec sh {}\", read_timeout_ms: 60000 }}\n---\nWork on {{{{ issue.title }}}}.\n",
        agent.display()
    );
    fs::write(directory.path().join("WORKFLOW.md"), text)?;
    for number in 0..sessions {
        write_issue(directory.path(), &format!("I-{number}"))?;
    }
    Ok(directory)
}

fn write_issue(directory: &Path, name: &str) -> Result<()> {
    let text = "---\nstate: Todo\n---\nWork.\n";
    Ok(fs::write(
        directory.join(format!("issues/{name}.md")),
        text,
    )?)
}

/// Processor time in percent of a core, and memory in MB, of the service alone: agents are others' programs.
async fn at_rest(service: &ServerProcess) -> Result<(f64, f64)> {
    let before = usage::alone(service.pid())?;
    tokio::time::sleep(WATCHED).await;
    let used = usage::alone(service.pid())? - before;
    let memory = service.memory();
    Ok((
        used.as_secs_f64() / WATCHED.as_secs_f64() * 100.0,
        memory as f64 * 1024.0 / 1e6,
    ))
}

/// From a poll that finds an issue to the first turn of its agent, in the middle of some.
async fn latency(address: &str, directory: &Path, running: usize) -> Result<f64> {
    let mut times = Vec::new();
    for number in 0..TIMED {
        write_issue(directory, &format!("T-{number}"))?;
        let begun = Instant::now();
        ask(address, "POST", "/api/v1/refresh").await?;
        until(address, running + number + 1).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(crate::rows::median(times))
}

/// Waits until so many sessions have begun their turn.
async fn until(address: &str, sessions: usize) -> Result<()> {
    let begun = Instant::now();
    let mut looks = tokio::time::interval(Duration::from_millis(2 + sessions as u64 / 10));
    loop {
        looks.tick().await;
        let state = ask(address, "GET", "/api/v1/state").await?;
        let rows = state["running"].as_array().into_iter().flatten();
        if rows.filter(|it| it["turn_count"] == 1).count() >= sessions {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("the sessions did not start: {}", state["counts"]).into());
        }
    }
}

async fn ask(address: &str, method: &str, path: &str) -> Result<Value> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let body = text.split_once("\r\n\r\n").map_or("", |it| it.1);
    Ok(serde_json::from_str(body)?)
}
