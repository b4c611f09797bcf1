//! Budgets of tokens and money.

use quipu_adapter::{Budget, Phase, Price, Prices, Session, Tool, ToolContext, ToolError};
use serde_json::json;

use crate::support::{Events, Lab, scripted, soon};

fn prices() -> Prices {
    let amount = |text: &str| text.parse().unwrap();
    let price = Price {
        input: amount("1.00"),
        cached_input: Some(amount("0.10")),
        output: amount("10.00"),
    };
    Prices::new().with("offline", price)
}

fn noop() -> Tool {
    Tool::new("act", "Acts.", async |(), _: ToolContext| {
        Ok::<_, ToolError>("ok")
    })
}

/// A script of two requests of 100 tokens each.
fn two_requests() -> serde_json::Value {
    let usage = json!({ "input": 80, "cached": 0, "output": 20, "reasoning": 0 });
    json!([
        { "calls": [{ "name": "act", "arguments": {} }], "usage": usage },
        { "text": "done", "usage": usage },
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn costs_are_counted_in_all_clones_of_a_budget() {
    let lab = Lab::new();
    let adapter = lab.adapter().prices(prices());
    let budget = Budget::new().tokens(1000).money("1.00".parse().unwrap());
    let prompt = scripted(two_requests()).tool(noop());
    for round in 1..=2u64 {
        let response = soon(adapter.evaluate(&prompt, &Session::new()).budget(&budget))
            .await
            .unwrap();
        assert_eq!(response.usage.total, 200);
        // 160 × 1 + 40 × 10, in millionths.
        assert_eq!(response.cost.unwrap().millionths(), 560);
        assert_eq!(budget.spent().usage.total, 200 * round);
        assert_eq!(budget.spent().money.millionths(), 560 * round);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_of_tokens_interrupts_the_turn() {
    let lab = Lab::new();
    let (adapter, events) = Events::of(lab.adapter());
    let prompt = scripted(two_requests()).tool(noop());
    let budget = Budget::new().tokens(150);
    let error = soon(adapter.evaluate(&prompt, &Session::new()).budget(&budget))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Budget, "{error}");
    assert!(error.usage().total > 150, "{error:?}");
    assert!(!events.summary().contains(&"executed".to_owned()));
    let error = soon(adapter.evaluate(&prompt, &Session::new()).budget(&budget))
        .await
        .unwrap_err();
    assert!(error.message().contains("nothing was started"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_of_money_needs_a_price_and_holds() {
    let lab = Lab::new();
    let prompt = scripted(two_requests()).tool(noop());
    let budget = Budget::new().money("0.0003".parse().unwrap());
    let error = soon(
        lab.adapter()
            .evaluate(&prompt, &Session::new())
            .budget(&budget),
    )
    .await
    .unwrap_err();
    assert_eq!(error.phase(), Phase::Request);
    assert!(
        error.message().contains("price of the model `offline`"),
        "{error}"
    );
    let adapter = lab.adapter().prices(prices());
    let error = soon(adapter.evaluate(&prompt, &Session::new()).budget(&budget))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Budget, "{error}");
    assert_eq!(error.message(), "0.00056 was spent of 0.0003");
    assert_eq!(error.cost().unwrap().millionths(), 560);
    assert_eq!(budget.spent().money.millionths(), 560);
}
