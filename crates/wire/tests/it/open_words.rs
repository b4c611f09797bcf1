//! Types that name words in the base version and take any text later, as each version publishes them.

use quipu_wire::schema::{self, Protocol, Surface};
use serde_json::{Value, json};

fn definitions(protocol: Protocol) -> Value {
    let files = schema::json_schemas(Surface::stable(protocol));
    let bundle = &files["codex_app_server_protocol.v2.schemas.json"];
    let bundle: Value = serde_json::from_str(bundle).unwrap();
    bundle["definitions"].clone()
}

#[test]
fn efforts_and_tiers_are_lists_in_the_base_version_and_text_later() {
    let base = definitions(Protocol::V0_118);
    let efforts = ["none", "minimal", "low", "medium", "high", "xhigh"];
    assert_eq!(base["ReasoningEffort"]["enum"], json!(efforts));
    assert_eq!(base["ServiceTier"]["enum"], json!(["fast", "flex"]));
    for protocol in [Protocol::V0_166, Protocol::Union] {
        let later = definitions(protocol);
        let effort = &later["ReasoningEffort"];
        assert_eq!(effort["type"], "string");
        assert_eq!(effort["minLength"], 1);
        assert_eq!(effort["enum"], Value::Null);
        assert_eq!(later["ServiceTier"], Value::Null);
        let tier = &later["ThreadStartResponse"]["properties"]["serviceTier"];
        assert_eq!(tier["type"], json!(["string", "null"]));
    }
}

#[test]
fn typescript_has_text_and_the_client_also_the_words() {
    let base = schema::typescript(Surface::stable(Protocol::V0_118));
    assert!(base["ReasoningEffort.ts"].ends_with(
        r#""high" | "xhigh";
"#
    ));
    assert!(base.contains_key("ServiceTier.ts"));
    let later = schema::typescript(Surface::stable(Protocol::V0_166));
    assert!(later["ReasoningEffort.ts"].ends_with("ReasoningEffort = string;\n"));
    assert!(!later.contains_key("ServiceTier.ts"));
    let client = schema::typescript_client();
    let words =
        r#"export type ServiceTier = "fast" | "priority" | "flex" | "default" | (string & {});"#;
    assert!(client.values().any(|file| file.contains(words)));
}
