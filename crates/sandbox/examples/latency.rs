//! What running `true` costs: bare, and under each policy and enforcement.
//!
//! Run it with `cargo run --release -p quipu-sandbox --example latency [ROUNDS]`.

use std::time::{Duration, Instant};

use quipu_sandbox::{
    Command, Enforcement, Hidden, Network, Policy, Readable, SpawnError, Spawned, WorkspaceWrite,
    spawn,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    quipu_sandbox::maybe_run_helper();
    let rounds = std::env::args()
        .nth(1)
        .map_or(Ok(300), |rounds| rounds.parse())?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(measure(rounds))
}

async fn measure(rounds: usize) -> Result<(), Box<dyn std::error::Error>> {
    eprintln!("{}", quipu_sandbox::capabilities().await?);
    let workspace = std::env::current_dir()?;
    let read_only = Policy::ReadOnly {
        readable: Readable::Everything,
        hidden: Hidden::default(),
        network: Network::Off,
    };
    let online = Policy::ReadOnly {
        readable: Readable::Everything,
        hidden: Hidden::default(),
        network: Network::Internet,
    };
    let write = Policy::WorkspaceWrite(WorkspaceWrite::new(workspace));
    let cases = [
        ("full access", Policy::FullAccess, Enforcement::Auto),
        (
            "read-only, namespaces",
            read_only.clone(),
            Enforcement::Namespaces,
        ),
        (
            "read-only online, namespaces",
            online,
            Enforcement::Namespaces,
        ),
        (
            "workspace, namespaces",
            write.clone(),
            Enforcement::Namespaces,
        ),
        ("read-only, Landlock", read_only, Enforcement::Landlock),
        ("workspace, Landlock", write, Enforcement::Landlock),
    ];
    // The cases take turns, so that a busy moment of the machine hits them all.
    let mut bare = Vec::new();
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..rounds {
        bare.push(run_bare()?);
        for ((_, policy, enforcement), times) in cases.iter().zip(&mut times) {
            times.push(run(policy.clone(), *enforcement).await?);
        }
    }
    report("bare fork and exec", bare);
    for ((name, ..), times) in cases.iter().zip(times) {
        report(name, times);
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the bare process is what we compare with"
)]
fn run_bare() -> std::io::Result<Duration> {
    let start = Instant::now();
    std::process::Command::new("/bin/true").output()?;
    Ok(start.elapsed())
}

async fn run(policy: Policy, enforcement: Enforcement) -> Result<Duration, SpawnError> {
    let start = Instant::now();
    let mut command = Command::new(["/bin/true"], "/", policy);
    command.enforcement = enforcement;
    let Spawned {
        process,
        mut output,
    } = spawn(command).await?;
    while output.next().await.is_some() {}
    process.wait().await;
    Ok(start.elapsed())
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1000.0;
    eprintln!(
        "{name:30} p10 {:6.2} ms   p50 {:6.2} ms   p90 {:6.2} ms",
        at(10),
        at(50),
        at(90)
    );
}
