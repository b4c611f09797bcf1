//! The first program of `docs/adapter.md`, as it is there.
#![allow(clippy::print_stdout, reason = "the program prints its result")]

use quipu_adapter::{Adapter, Prompt, Section, Server, Session};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Summary {
    title: String,
    files: Vec<String>,
}

#[tokio::main]
async fn main() -> quipu_adapter::Result<()> {
    let adapter = Adapter::new(Server::spawn("quipu"));
    let script = r#"{"script": [{"text": "{\"title\": \"a demo\", \"files\": [\"main.rs\"]}"}]}"#;
    let prompt = Prompt::<Summary>::new("demo/summary")
        .section(Section::new("Task", "Summarise this repository."))
        .section(Section::new("Script", script));
    let response = adapter.evaluate(&prompt, &Session::new()).await?;
    let Summary { title, files } = response.output;
    println!("{title}: {}", files.join(", "));
    Ok(())
}
