//! Two prompts compared over a dataset, several cases at once on one server.

use std::io::Write as _;

use quipu_adapter::{Adapter, Case, Prompt, Score};
use serde_json::json;

mod support;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let adapter = Adapter::new(place.server()?.pooled()).ephemeral();
    let cases = [
        Case::new("Peru", ("Peru", "Lima")),
        Case::new("Ecuador", ("Ecuador", "Quito")),
    ];
    // A real model would be asked in words; the offline one is told what to answer.
    let saying = |text: String| {
        Ok(Prompt::text("capital").section(support::script(&json!([{ "text": text }]))))
    };
    let report = adapter
        .evaluate_all(&cases)
        .variant("short", |(_, capital): &(&str, &str)| {
            saying((*capital).to_owned())
        })
        .variant("wordy", |(country, capital): &(&str, &str)| {
            saying(format!("The capital of {country} is {capital}."))
        })
        .score("exact", |(_, capital), response| {
            Score::Exact.of(&response.text, &json!(capital))
        })
        .score("contains", |(_, capital), response| {
            Score::Contains.of(&response.text, &json!(capital))
        })
        .concurrency(2)
        .await;
    write!(std::io::stdout(), "{}", report.to_markdown())?;
    adapter.close().await;
    place.leave().await;
    Ok(())
}
