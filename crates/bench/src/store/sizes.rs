//! A database with many threads: the first page of a list, a search, and going on with a thread.
//!
//! The threads are made by statements, after one that a server made. Every thousandth is a whole copy, which can be gone on
//! with; the others have a row in every index, but only a short text in the place of their conversation.

use std::time::Instant;

use serde_json::{Value, json};

use super::place::{Database, Place};
use super::{Bench, Curve, Line};
use crate::Result;
use crate::rows::{median, ms};
use crate::session::Session;

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
const LOOKS: usize = 21;

/// What is asked, and the name of it.
const ASKED: [&str; 4] = [
    "first page",
    "search for words of many threads",
    "search for words of one thread",
    "resume",
];

pub async fn measure(bench: &Bench<'_>, place: &Place) -> Result<(Vec<Line>, Curve)> {
    let database = place.stored().ok_or("no database")?;
    let mut session = place.session(bench).await?;
    let template = session.thread().await?;
    session.turn(&template, "hello").await?;
    session.finish().await?;
    let mut made = 0;
    let mut lines: Vec<Line> = Vec::new();
    let mut series: Vec<(String, Vec<(f64, f64)>)> =
        ASKED.map(|it| (it.to_owned(), Vec::new())).into();
    for size in SIZES.map(|it| bench.count(it)) {
        fill(database, &template, made, size);
        made = size;
        let session = place.session(bench).await?;
        let times = look(database, &session, size).await?;
        for ((name, time), line) in ASKED.iter().zip(times).zip(&mut series) {
            let name = format!("{name}, {size} threads");
            lines.push(Line::new(name, "ms", [None, Some(time), None]));
            line.1.push((size as f64, time));
        }
        session.finish().await?;
    }
    let bytes = "SELECT pg_total_relation_size('quipu.rollouts')";
    let each = database.number(bytes)? / made as f64;
    lines.push(Line::new(
        "row of a thread with its indexes",
        "bytes",
        [None, Some(each), None],
    ));
    lines.sort_by_key(|line| {
        ASKED
            .iter()
            .position(|it| line.name.starts_with(&format!("{it},")))
    });
    let curve = Curve {
        title: "PostgreSQL, ms".to_owned(),
        size_of: "threads".to_owned(),
        series,
    };
    Ok((lines, curve))
}

/// Makes threads with the numbers from `first` to before `end`.
fn fill(database: &Database, template: &str, first: usize, end: usize) {
    let last = end - 1;
    let id = "md5('thread ' || n)::uuid";
    let is_whole = "n % 1000 = 0";
    database.value(&format!(
        "INSERT INTO quipu.rollouts (path, thread, segment, archived, state, length, created_at, updated_at, modified,
             kind, source, provider, cwd, preview, version)
         SELECT replace(path, '{template}', {id}::text), {id}, {id}, false, 1,
             CASE WHEN {is_whole} THEN length ELSE 200 END, created_at - n, updated_at - n, modified, kind, source,
             provider, '/project/' || n % 1000, 'task ' || n || ' is ' || md5(n::text), version
         FROM quipu.rollouts, generate_series({first}, {last}) AS n WHERE thread = '{template}'"
    ));
    database.value(&format!(
        "INSERT INTO quipu.chunks (rollout, at, bytes)
         SELECT made.id, chunk.at, convert_to(replace(convert_from(chunk.bytes, 'UTF8'), '{template}', {id}::text), 'UTF8')
         FROM generate_series({first}, {last}) AS n JOIN quipu.rollouts made ON made.thread = {id},
             quipu.chunks chunk JOIN quipu.rollouts original ON original.id = chunk.rollout
         WHERE {is_whole} AND original.thread = '{template}'"
    ));
    database.value(&format!(
        "INSERT INTO quipu.chunks (rollout, at, bytes)
         SELECT made.id, 0, decode(repeat('20', 200), 'hex')
         FROM generate_series({first}, {last}) AS n JOIN quipu.rollouts made ON made.thread = {id} WHERE NOT {is_whole}"
    ));
    database.value("VACUUM ANALYZE quipu.rollouts");
    database.value("VACUUM ANALYZE quipu.chunks");
}

/// Milliseconds for each of what is asked.
async fn look(database: &Database, session: &Session, size: usize) -> Result<[f64; 4]> {
    let mut times: [Vec<f64>; 4] = Default::default();
    for number in 0..LOOKS {
        let word = database.value(&format!("SELECT md5('{}')", number * 7 % size));
        let whole = number * 1000 % size;
        let thread = database.value(&format!("SELECT md5('thread {whole}')::uuid"));
        let requests: [(&str, Value, Option<usize>); 4] = [
            ("thread/list", json!({}), Some(25)),
            ("thread/list", json!({ "searchTerm": "task" }), Some(25)),
            ("thread/list", json!({ "searchTerm": word }), Some(1)),
            ("thread/resume", json!({ "threadId": thread }), None),
        ];
        for ((method, params, expected), times) in requests.into_iter().zip(&mut times) {
            let start = Instant::now();
            let answer = session.call(method, &params).await?;
            times.push(ms(start.elapsed()));
            let found = answer["data"].as_array().map(Vec::len);
            if expected != found {
                return Err(format!("{method} {params} finds {found:?}").into());
            }
        }
    }
    Ok(times.map(median))
}
