//! What the client library costs: a call and an event, against a server that costs next to nothing,
//! beside the same bytes read and written by hand. Client and server share the process, so the processor
//! time that the client adds is the difference between the two over the same kind of connection.

use std::io;
use std::time::Instant;

use quipu_client::wire::{ThreadCompactStartParams, ThreadLoadedListParams};
use quipu_client::{Client, Options};
use quipu_rpc::{Connection, Incoming, Limits};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::{Figure, Goal, Row, Values};
use crate::Result;
use crate::ground::Ground;
use crate::usage;

const CALLS: usize = 20_000;
const EVENTS: usize = 100_000;
const LINE_LIMIT: usize = 1 << 20;

/// What a connection in memory holds.
const LIMITS: Limits = Limits {
    messages: 1024,
    bytes: 16 << 20,
};

pub struct ClientCost;

const fn figure(name: &'static str) -> Figure {
    Figure {
        name,
        unit: "µs",
        goal: Goal::None,
    }
}

impl Row for ClientCost {
    fn name(&self) -> &'static str {
        "client"
    }

    fn figures(&self) -> &[Figure] {
        const {
            &[
                figure("one call: client, in process"),
                figure("one call: client, unix socket"),
                figure("one call: by hand, unix socket"),
                figure("one call: what the client adds to it, CPU"),
                figure("one event: client, in process"),
                figure("one event: client, unix socket"),
                figure("one event: by hand, unix socket"),
                figure("one event: what the client adds to it, CPU"),
            ]
        }
    }

    /// There is no server to compare: the peer is a few lines of this file.
    fn compares(&self) -> bool {
        false
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let (calls, events) = (ground.count(CALLS), ground.count(EVENTS));
            let (ours, theirs) = Connection::pair(LIMITS);
            let memory = with_client(ours, theirs, calls, events).await?;
            let (ours, theirs) = UnixStream::pair()?;
            let connection = |stream| Connection::unix(stream, LINE_LIMIT);
            let socket = with_client(connection(ours), connection(theirs), calls, events).await?;
            let (ours, theirs) = UnixStream::pair()?;
            let by_hand = by_hand(ours, connection(theirs), calls, events).await?;
            let of = |cost: fn(&Costs) -> Cost| {
                let [memory, socket, by_hand] = [&memory, &socket, &by_hand].map(cost);
                [
                    memory.wall,
                    socket.wall,
                    by_hand.wall,
                    socket.cpu - by_hand.cpu,
                ]
            };
            Ok([of(|it| it.call), of(|it| it.event)].concat())
        })
    }
}

/// What one of each costs.
struct Costs {
    call: Cost,
    event: Cost,
}

/// Microseconds of one.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

/// What it costs from here on.
struct Meter {
    start: Instant,
    cpu: f64,
}

impl Meter {
    fn start() -> Result<Meter> {
        Ok(Meter {
            start: Instant::now(),
            cpu: usage::own()?.as_secs_f64(),
        })
    }

    /// Divided by how many it was.
    fn each(self, count: usize) -> Result<Cost> {
        let cpu = usage::own()?.as_secs_f64() - self.cpu;
        let micros = |seconds: f64| seconds * 1e6 / count as f64;
        Ok(Cost {
            wall: micros(self.start.elapsed().as_secs_f64()),
            cpu: micros(cpu),
        })
    }
}

async fn with_client(
    ours: Connection,
    theirs: Connection,
    calls: usize,
    events: usize,
) -> Result<Costs> {
    tokio::spawn(answer(theirs, events));
    let options = Options::connection(ours).event_buffer(events + 1, 1 << 30);
    let client = Client::connect(options).await?;
    let meter = Meter::start()?;
    for _ in 0..calls {
        let params = ThreadLoadedListParams::default();
        client.thread_loaded_list(params).await?;
    }
    let call = meter.each(calls)?;
    let mut stream = client.turn_events("t", "u");
    let meter = Meter::start()?;
    let params = ThreadCompactStartParams {
        thread_id: "t".to_owned(),
    };
    client.thread_compact_start(params).await?;
    let mut heard = 0;
    while stream.next().await.is_some() {
        heard += 1;
    }
    let event = meter.each(events)?;
    client.disconnect().await;
    match heard == events + 1 {
        true => Ok(Costs { call, event }),
        false => Err(format!("{heard} of {events} events came").into()),
    }
}

/// The least that a program can do: lines out, lines in, none of them understood.
async fn by_hand(
    ours: UnixStream,
    theirs: Connection,
    calls: usize,
    events: usize,
) -> Result<Costs> {
    tokio::spawn(answer(theirs, events));
    let (reader, mut writer) = ours.into_split();
    let mut lines = BufReader::with_capacity(64 * 1024, reader).lines();
    let meter = Meter::start()?;
    for id in 0..calls {
        let line = format!("{{\"id\":{id},\"method\":\"thread/loaded/list\",\"params\":{{}}}}\n");
        writer.write_all(line.as_bytes()).await?;
        lines.next_line().await?.ok_or("the peer is gone")?;
    }
    let call = meter.each(calls)?;
    let meter = Meter::start()?;
    let line = "{\"id\":0,\"method\":\"thread/compact/start\",\"params\":{}}\n";
    writer.write_all(line.as_bytes()).await?;
    while let Some(line) = lines.next_line().await? {
        if line.starts_with(r#"{"method":"turn/completed""#) {
            break;
        }
    }
    let event = meter.each(events)?;
    Ok(Costs { call, event })
}

/// A server of three methods; one of them tells a turn of many deltas.
async fn answer(mut connection: Connection, events: usize) -> io::Result<()> {
    while let Ok(Some(Incoming::Message(message))) = connection.reader.next().await {
        let request: Value = serde_json::from_slice(&message)?;
        let result = match request["method"].as_str() {
            Some("initialize") => json!({ "userAgent": "peer/0.118.0 (bench)" }),
            Some("thread/loaded/list") => json!({ "data": [], "nextCursor": null }),
            Some("thread/compact/start") => json!({}),
            _ => continue,
        };
        let answer = json!({ "id": request["id"], "result": result });
        connection.writer.write([answer.to_string().into()]).await?;
        if request["method"] == "thread/compact/start" {
            tell(&mut connection, events).await?;
        }
    }
    Ok(())
}

async fn tell(connection: &mut Connection, events: usize) -> io::Result<()> {
    let ids = r#""threadId":"t","turnId":"u","itemId":"i""#;
    let delta = format!(
        r#"{{"method":"item/agentMessage/delta","params":{{{ids},"delta":"a few words of text"}}}}"#
    );
    let delta = bytes::Bytes::from(delta);
    for sent in (0..events).step_by(64) {
        let batch = std::iter::repeat_n(delta.clone(), 64.min(events - sent));
        connection.writer.write(batch).await?;
    }
    let end = r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","items":[],"status":"completed","error":null}}}"#;
    connection.writer.write([end.into()]).await
}
