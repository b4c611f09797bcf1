//! The first evaluation: a typed prompt on the offline model, which needs nothing and plays scripts.

use std::io::Write as _;

use quipu_adapter::{Adapter, Prompt, Section, Session};
use schemars::JsonSchema;
use serde::Deserialize;

mod support;

#[derive(Deserialize, JsonSchema)]
struct Summary {
    title: String,
    files: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let adapter = Adapter::new(place.server()?);
    let answer = r#"{"title": "a demo", "files": ["hello.rs"]}"#;
    let prompt = Prompt::<Summary>::new("demo/summary")
        .section(Section::new(
            "Task",
            "Summarise the structure of this repository.",
        ))
        .section(support::script(&serde_json::json!([{ "text": answer }])));
    let Summary { title, files } = adapter.evaluate(&prompt, &Session::new()).await?.output;
    writeln!(std::io::stdout(), "{title}: {}", files.join(", "))?;
    place.leave().await;
    Ok(())
}
