//! Several servers on one database: how long a client waits when one dies, how fast events pass through one that does not
//! run the thread, and what an idle client costs.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use quipu_rpc::{Event, Inbox, Peer, PeerOptions, websocket};
use quipu_testkit::process::{ServerProcess, Signal};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::place::Place;
use super::{Bench, Line};
use crate::ground::Home;
use crate::load::Clients;
use crate::rows::{median, ms};
use crate::session::turn_params;
use crate::{Result, files};

const PATIENCE: Duration = Duration::from_secs(120);
/// Seconds after which others take over, and how often that is measured.
const LEASES: [u64; 2] = [2, 10];
const TAKEOVERS: usize = 3;
const DELTAS: usize = 20_000;
const IDLE: usize = 5_000;
/// Connected before the idle ones are counted.
const FIRST: usize = 50;

pub async fn measure(bench: &Bench<'_>, places: &[Option<Place>; 3]) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for lease in LEASES {
        let mut values = [None; 3];
        for (value, place) in values.iter_mut().zip(places).skip(1) {
            if let Some(place) = place {
                *value = Some(takeover(bench, place, lease).await?);
            }
        }
        let name = format!("`kill -9` to the next event, `lease_seconds = {lease}`");
        lines.push(Line::new(name, "ms", values));
    }
    for (name, is_forwarded) in [
        (
            "events per second, from the node that runs the thread",
            false,
        ),
        ("events per second, through another node", true),
    ] {
        let mut values = [None; 3];
        for (value, place) in values.iter_mut().zip(places).skip(1) {
            if let Some(place) = place {
                *value = Some(events(bench, place, is_forwarded).await?);
            }
        }
        lines.push(Line::new(name, "1/s", values));
    }
    let mut values = [None; 3];
    for (value, place) in values.iter_mut().zip(places).take(2) {
        if let Some(place) = place
            .as_ref()
            .filter(|_| files::allows(2 * IDLE as u64 + 200))
        {
            *value = Some(idle(bench, place).await?);
        }
    }
    lines.push(Line::new(
        "one of 5,000 idle websocket clients",
        "kB",
        values,
    ));
    Ok(lines)
}

/// A server that others can reach.
struct Node {
    process: ServerProcess,
    url: String,
    _home: Home,
}

impl Node {
    async fn start(bench: &Bench<'_>, place: &Place, lease: u64) -> Result<Node> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let url = format!("ws://127.0.0.1:{port}");
        let more = format!("lease_seconds = {lease}\nnode_address = \"{url}\"\n");
        let home = place.home(bench, &more)?;
        let listen = ["--listen", &url];
        let mut process = home.launch(&bench.subject.program, &listen).start();
        process.url().await;
        Ok(Node {
            process,
            url,
            _home: home,
        })
    }

    /// A client that gets numbers with its events.
    async fn client(&self) -> Result<(Peer, Inbox)> {
        let connection = websocket::connect(&self.url, &[], 64 << 20, PATIENCE).await?;
        let (peer, inbox) = Peer::start(connection, PeerOptions::default());
        let hello = json!({
            "clientInfo": { "name": "bench", "version": "1.0" },
            "capabilities": { "experimentalApi": true, "quipu": { "events": true } },
        });
        peer.call("initialize", &hello).within(PATIENCE).await?;
        peer.notify("initialized", &json!({}))?;
        Ok((peer, inbox))
    }
}

async fn call(peer: &Peer, method: &str, params: &Value) -> Result<Value> {
    let answer = peer.call(method, params).within(PATIENCE).await;
    let answer = answer.map_err(|error| format!("{method}: {error}"))?;
    Ok(serde_json::from_slice(answer.as_bytes())?)
}

async fn thread(peer: &Peer) -> Result<(String, Value)> {
    let started = call(peer, "thread/start", &json!({})).await?;
    let thread = started["thread"]["id"].as_str().unwrap_or_default();
    Ok((thread.to_owned(), started["quipu"]["seq"].clone()))
}

/// Waits for a notification; how many came.
async fn until(inbox: &mut Inbox, method: &str) -> Result<usize> {
    let mut count = 0;
    loop {
        match timeout(PATIENCE, inbox.next()).await? {
            Some(Event::Notification(it)) => {
                count += 1;
                if it.method == method {
                    return Ok(count);
                }
            }
            Some(_) => {}
            None => return Err(format!("closed before {method}").into()),
        }
    }
}

/// Milliseconds from the death of the node that runs a turn to the next event of the thread at a client that connects to
/// another one.
async fn takeover(bench: &Bench<'_>, place: &Place, lease: u64) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..bench.count(TAKEOVERS * 10).div_ceil(10) {
        let first = Node::start(bench, place, lease).await?;
        let second = Node::start(bench, place, lease).await?;
        let (peer, mut inbox) = first.client().await?;
        let (thread, seq) = thread(&peer).await?;
        let hangs = json!({ "mock": [{ "hang": 600_000, "deltas": ["late"] }] }).to_string();
        call(&peer, "turn/start", &turn_params(&thread, &hangs)).await?;
        until(&mut inbox, "item/completed").await?;
        first.process.signal(Signal::KILL);
        let start = Instant::now();
        let (peer, mut inbox) = second.client().await?;
        let resume = json!({ "threadId": thread, "quipu": { "after": seq } });
        let resumed = peer.call("thread/resume", &resume);
        until(&mut inbox, "turn/started").await?;
        times.push(ms(start.elapsed()));
        resumed.within(PATIENCE).await?;
    }
    Ok(median(times))
}

/// Events of one thread per second, at a client of the node that runs it or of another one.
async fn events(bench: &Bench<'_>, place: &Place, is_forwarded: bool) -> Result<f64> {
    let owner = Node::start(bench, place, 10).await?;
    let other = Node::start(bench, place, 10).await?;
    let (peer, mut inbox) = owner.client().await?;
    let (thread, _) = thread(&peer).await?;
    call(&peer, "turn/start", &turn_params(&thread, "hello")).await?;
    until(&mut inbox, "turn/completed").await?;
    let (peer, mut inbox) = match is_forwarded {
        false => (peer, inbox),
        true => {
            // The thread stays loaded while the first client follows it.
            tokio::spawn(async move {
                while inbox.next().await.is_some() {}
                drop(peer);
            });
            let (peer, inbox) = other.client().await?;
            call(&peer, "thread/resume", &json!({ "threadId": thread })).await?;
            (peer, inbox)
        }
    };
    let texts: Vec<_> = (0..bench.count(DELTAS))
        .map(|it| format!("{it} "))
        .collect();
    let prompt = json!({ "mock": [{ "deltas": texts }] }).to_string();
    let start = Instant::now();
    let asked = peer.call("turn/start", &turn_params(&thread, &prompt));
    let count = until(&mut inbox, "turn/completed").await?;
    let rate = count as f64 / start.elapsed().as_secs_f64();
    asked.within(PATIENCE).await?;
    if count < texts.len() {
        return Err(format!("only {count} events came").into());
    }
    Ok(rate)
}

/// kB that an idle client costs.
async fn idle(bench: &Bench<'_>, place: &Place) -> Result<f64> {
    let home = place.home(bench, "")?;
    let mut clients = Clients::start_in(home, bench.subject).await?;
    clients.connect(FIRST).await?;
    let before = clients.memory().await?;
    let all = bench.count(IDLE);
    clients.connect(all).await?;
    Ok((clients.memory().await? - before) * 1000.0 / all as f64)
}
