//! Every method of the table answers.

use quipu_wire::method::CLIENT_REQUESTS;
use serde_json::json;

use crate::lab::Lab;

/// Params of a wrong kind reach every row of the table and change nothing.
#[tokio::test]
async fn every_row_is_routed() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    // A logout takes no params, so it takes any.
    client.ignore(&["account/updated"]);
    for row in CLIENT_REQUESTS {
        let answer = client.call_raw(row.name, &json!("wrong")).await;
        if let Err(error) = answer {
            assert!(
                !error.message.contains("unknown variant"),
                "{}: {error}",
                row.name
            );
        }
    }
    client.finish().await;
}

/// Clients poll these lists and take an error for a broken server.
#[tokio::test]
async fn polled_lists_answer_with_a_page() {
    let lab = Lab::new();
    let client = lab.client().await;
    for method in [
        "thread/list",
        "thread/loaded/list",
        "model/list",
        "skills/list",
        "app/list",
        "mcpServerStatus/list",
        "experimentalFeature/list",
        "collaborationMode/list",
    ] {
        let page = client.call_raw(method, &json!({})).await;
        let page = page.unwrap_or_else(|error| panic!("{method}: {error}"));
        assert!(page["data"].is_array(), "{method}: {page}");
    }
    let plugins = client.call_raw("plugin/list", &json!({})).await.unwrap();
    assert!(plugins["marketplaces"].is_array(), "{plugins}");
    client.finish().await;
}
