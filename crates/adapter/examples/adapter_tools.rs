//! A tool that changes a session, and is undone when it fails.

use std::io::Write as _;
use std::time::Duration;

use quipu_adapter::{
    Adapter, Budget, EventKind, Prompt, Session, Slice, Tool, ToolContext, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

mod support;

/// What was ordered, and for how much.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Orders {
    items: Vec<String>,
    sum: u32,
}

impl Slice for Orders {
    const NAME: &'static str = "orders";
    type Event = Order;

    fn apply(&mut self, order: Order) {
        self.items.push(order.item);
        self.sum += order.price;
    }
}

/// An order of the model.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Order {
    /// What to order.
    item: String,
    /// What it costs.
    price: u32,
}

fn order() -> Tool {
    Tool::new(
        "order",
        "Orders an item.",
        async |order: Order, context: ToolContext| {
            context.session().dispatch::<Orders>(order);
            match context.session().get::<Orders>().sum {
                ..=100 => Ok("ordered"),
                sum => Err(ToolError::new(format!("{sum} is more than we have"))),
            }
        },
    )
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let adapter = Adapter::new(place.server()?).on_event(|event| {
        if let EventKind::ToolInvoked(used) = &event.kind {
            writeln!(std::io::stdout(), "{}: {}", used.tool, used.result)?;
        }
        Ok(())
    });
    let call = |item: &str, price: u32| json!({ "calls": [{ "name": "order", "arguments": { "item": item, "price": price } }] });
    let steps =
        json!([call("bread", 5), call("caviar", 500), call("wine", 20), { "text": "done" }]);
    let prompt = Prompt::text("shopping")
        .section(support::script(&steps))
        .tool(order());
    let session = Session::new();
    let budget = Budget::new().tokens(100_000);
    let evaluation = adapter
        .evaluate(&prompt, &session)
        .budget(&budget)
        .timeout(Duration::from_secs(60));
    evaluation.await?;
    let Orders { items, sum } = session.get();
    writeln!(std::io::stdout(), "{} for {sum}", items.join(" and "))?;
    place.leave().await;
    Ok(())
}
