//! A review by the agent, in the thread that it is about.

use std::io::Write as _;

use quipu_client::Client;
use quipu_client::wire::{ReviewStartParams, ReviewTarget, ThreadStartParams};
use serde_json::json;

mod support;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let client = Client::connect(place.options()?).await?;
    let thread = client.start_thread(ThreadStartParams::default()).await?;

    // `ReviewTarget::UncommittedChanges` is the everyday target.
    let instructions = support::script(json!([{ "text": "The change looks good." }]));
    let params = ReviewStartParams {
        thread_id: thread.id,
        target: ReviewTarget::Custom { instructions },
        delivery: None,
    };
    let done = client.run_review(params).await?;
    writeln!(std::io::stdout(), "{}", done.review_text)?;
    client.disconnect().await;
    place.leave().await;
    Ok(())
}
