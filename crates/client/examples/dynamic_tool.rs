//! A function of this program as a tool of the agent.

use std::io::Write as _;

use quipu_client::wire::{
    DynamicToolCallOutputContentItem, DynamicToolCallParams, DynamicToolCallResponse,
    DynamicToolSpec, ThreadStartParams,
};
use quipu_client::{Client, Handler, prompt};
use serde::Deserialize;
use serde_json::json;

mod support;

struct Tools;

#[derive(Deserialize)]
struct Weather {
    city: String,
}

impl Handler for Tools {
    async fn call_tool(&self, request: DynamicToolCallParams) -> DynamicToolCallResponse {
        let (text, success) = match request.arguments.parse::<Weather>() {
            Ok(Weather { city }) => {
                writeln!(
                    std::io::stdout(),
                    "the model asked for the weather in {city}"
                )
                .ok();
                (format!("It is sunny in {city}."), true)
            }
            // The model reads this and can try again.
            Err(error) => (format!("bad arguments: {error}"), false),
        };
        DynamicToolCallResponse {
            content_items: vec![DynamicToolCallOutputContentItem::InputText { text }],
            success,
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let client = Client::connect(place.options()?.handler(Tools)).await?;
    let weather = DynamicToolSpec {
        name: "weather".to_owned(),
        description: "Tells the weather of a city.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": { "city": { "type": "string" } },
            "required": ["city"],
        })
        .into(),
        defer_loading: false,
        namespace: None,
    };
    let params = ThreadStartParams {
        dynamic_tools: Some(vec![weather.into()]),
        ..ThreadStartParams::default()
    };
    let thread = client.start_thread(params).await?;
    let words = support::script(json!([
        { "calls": [{ "name": "weather", "arguments": { "city": "Cusco" } }] },
        { "text": "Take a hat." },
    ]));
    let done = client.run_turn(prompt(&thread.id, words)).await?;
    writeln!(std::io::stdout(), "{}", done.agent_message)?;
    client.disconnect().await;
    place.leave().await;
    Ok(())
}
