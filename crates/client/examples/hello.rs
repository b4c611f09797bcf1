//! A thread, a turn, and the agent's answer as it comes.

use std::io::Write as _;

use quipu_client::wire::{ServerNotification, ThreadStartParams};
use quipu_client::{Client, Event, prompt};
use serde_json::json;

mod support;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let client = Client::connect(place.options()?.client("hello", "1.0")).await?;
    let thread = client.start_thread(ThreadStartParams::default()).await?;

    let words = support::script(json!([{ "deltas": ["Hello ", "from ", "a thread."] }]));
    let mut turn = client.stream_turn(prompt(&thread.id, words)).await?;
    let mut stdout = std::io::stdout();
    while let Some(event) = turn.next().await {
        if let Event::Notification(ServerNotification::ItemAgentMessageDelta(more)) = event {
            write!(stdout, "{}", more.delta)?;
        }
    }
    let done = turn.finish().await?;
    writeln!(
        stdout,
        "\n({:?}, {} items)",
        done.turn.status,
        done.items.len()
    )?;

    client.disconnect().await;
    place.leave().await;
    Ok(())
}
