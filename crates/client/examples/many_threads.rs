//! Ten threads at once over one connection.

use std::io::Write as _;

use quipu_client::wire::ThreadStartParams;
use quipu_client::{Client, prompt};
use serde_json::json;
use tokio::task::JoinSet;

mod support;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let client = Client::connect(place.options()?).await?;
    let mut running = JoinSet::new();
    for number in 0..10 {
        let client = client.clone();
        running.spawn(async move {
            let thread = client.start_thread(ThreadStartParams::default()).await?;
            let words = support::script(json!([{ "text": format!("number {number}") }]));
            let done = client.run_turn(prompt(&thread.id, words)).await?;
            Ok::<_, quipu_client::Error>((thread.id, done.agent_message))
        });
    }
    while let Some(done) = running.join_next().await {
        let (thread, message) = done??;
        writeln!(std::io::stdout(), "{thread} says {message}")?;
    }
    client.disconnect().await;
    place.leave().await;
    Ok(())
}
