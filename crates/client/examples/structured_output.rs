//! An answer that fits a JSON Schema, read into a type.

use std::io::Write as _;

use quipu_client::wire::{ThreadStartParams, TurnStartParams};
use quipu_client::{Client, prompt};
use serde::Deserialize;
use serde_json::json;

mod support;

#[derive(Deserialize)]
struct Finding {
    title: String,
    severity: u8,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let client = Client::connect(place.options()?).await?;
    let thread = client.start_thread(ThreadStartParams::default()).await?;

    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string" },
            "severity": { "type": "integer", "minimum": 1, "maximum": 5 },
        },
        "required": ["title", "severity"],
        "additionalProperties": false,
    });
    let answer = json!({ "title": "off by one", "severity": 3 }).to_string();
    let words = support::script(json!([{ "text": answer }]));
    let params = TurnStartParams {
        output_schema: Some(schema.into()),
        ..prompt(&thread.id, words)
    };
    let done = client.run_turn(params).await?;
    let finding: Finding = serde_json::from_str(&done.agent_message)?;
    writeln!(
        std::io::stdout(),
        "severity {}: {}",
        finding.severity,
        finding.title
    )?;
    client.disconnect().await;
    place.leave().await;
    Ok(())
}
