//! The least that a turn can take: the same exchanges with model, disk and client, and nothing else. What a server takes
//! beyond that is its own.

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};

use crate::Result;

/// About what a first turn sends to the model, stores, and sends to its client.
const TO_MODEL: usize = 24 << 10;
const STORED: usize = 8 << 10;
const TO_CLIENT: usize = 4 << 10;

/// What ends the model's answer.
const END: &[u8] = b"0\r\n\r\n";

/// The median time of a turn that only exchanges bytes.
pub async fn turn(model: &str, times: usize) -> Result<Duration> {
    let (mut client, server) = UnixStream::pair()?;
    let serving = tokio::spawn(serve(server, model.to_owned()));
    let mut taken = Vec::with_capacity(times);
    let mut events = vec![0; TO_CLIENT];
    for _ in 0..times {
        let start = Instant::now();
        client.write_all(&[b'x'; 256]).await?;
        client.read_exact(&mut events).await?;
        taken.push(start.elapsed());
    }
    drop(client);
    serving.await??;
    taken.sort();
    Ok(taken[taken.len() / 2])
}

/// The part of the server: for each request it asks the model, stores the answer and passes it on.
async fn serve(mut client: UnixStream, model: String) -> Result<()> {
    let (host, path) = address(&model)?;
    let request = request(host, path);
    let mut model = TcpStream::connect(host).await?;
    model.set_nodelay(true)?;
    let directory = tempfile::tempdir()?;
    let mut rollout = File::create(directory.path().join("rollout"))?;
    let mut asked = [0; 256];
    let mut answer = Vec::new();
    while client.read_exact(&mut asked).await.is_ok() {
        model.write_all(&request).await?;
        answer.clear();
        while !answer.ends_with(END) {
            if model.read_buf(&mut answer).await? == 0 {
                return Err("the model closed the connection".into());
            }
        }
        rollout.write_all(&[b'x'; STORED])?;
        tokio::task::block_in_place(|| rollout.sync_data())?;
        client.write_all(&[b'x'; TO_CLIENT]).await?;
    }
    Ok(())
}

/// Host and path of the model's address.
fn address(model: &str) -> Result<(&str, &str)> {
    let rest = model
        .strip_prefix("http://")
        .and_then(|it| it.split_once('/'));
    rest.ok_or_else(|| format!("{model} is no address of a model").into())
}

fn request(host: &str, path: &str) -> Vec<u8> {
    let body = json!({
        "model": "mock-model",
        "instructions": "x".repeat(TO_MODEL),
        "input": [{
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}],
        }],
        "stream": true,
    });
    let body = body.to_string();
    let head = format!(
        "POST /{path}/responses HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn exchanges_the_bytes_of_a_turn() {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .unwrap();
        let model = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(quipu_testkit::model::serve(listener));
        assert!(turn(&model, 3).await.unwrap() > Duration::ZERO);
    }
}
