//! Experimental parts are found when they are in use, and only then.

use quipu_wire::describe::{Field, Shape, Ty};
use quipu_wire::gate::Gated;
use quipu_wire::method::{CLIENT_REQUESTS, Method, NoParams, Stability, request};
use quipu_wire::*;
use serde_json::{Value, json};

use crate::examples::examples;

/// Checks each experimental field of some params: the fullest example names one, and no example
/// without experimental fields does.
fn check<T: Gated + serde::de::DeserializeOwned>(name: &str, ty: Ty) -> usize {
    let Ty::Named(def) = ty else { return 0 };
    let Shape::Struct(fields, _) = &def().shape else {
        return 0;
    };
    let gated: Vec<&Field> = fields.iter().filter(|field| field.experimental).collect();
    let small = examples(ty).swap_remove(0);
    let used = |value: Value| {
        serde_json::from_value::<T>(value)
            .unwrap()
            .experimental_use()
    };
    assert_eq!(used(small.clone()), None, "{name}");
    for field in &gated {
        let mut object = small.clone();
        object[field.name] = examples(field.ty).swap_remove(0);
        let said = used(object).unwrap_or_else(|| panic!("{name}.{} passes", field.name));
        assert!(said.starts_with(name), "{said}");
    }
    gated.len()
}

macro_rules! all {
    ($($(#[doc = $doc:literal])+ $stability:ident $name:ident = $wire:literal ($params:ty) -> $result:ty, $lane:ident $(($key:ident))? $(, $bound:ident $version:literal)?;)*) => {
        #[test]
        fn every_experimental_field_of_a_stable_method_is_gated() {
            let mut found = 0;
            $(
                let row = CLIENT_REQUESTS.iter().find(|row| row.name == $wire).unwrap();
                if row.stability != Stability::Experimental {
                    found += check::<<request::$name as Method>::Params>($wire, row.params);
                }
            )*
            assert_eq!(found, 21);
            assert_eq!(NoParams.experimental_use(), None);
        }
    };
}

quipu_wire::client_requests!(all);

#[test]
fn values_are_gated_too() {
    let granular = json!({ "granular": {
        "sandbox_approval": true, "rules": true, "mcp_elicitations": true } });
    let start = |policy: &Value| -> ThreadStartParams {
        serde_json::from_value(json!({ "approvalPolicy": policy })).unwrap()
    };
    assert_eq!(
        start(&granular).experimental_use(),
        Some("askForApproval.granular")
    );
    assert_eq!(start(&json!("never")).experimental_use(), None);
    let tokens =
        json!({ "type": "chatgptAuthTokens", "accessToken": "a", "chatgptAccountId": "b" });
    let login: LoginAccountParams = serde_json::from_value(tokens).unwrap();
    assert_eq!(
        login.experimental_use(),
        Some("account/login/start.chatgptAuthTokens")
    );
}

#[test]
fn what_is_empty_or_false_is_not_in_use() {
    let params = json!({ "dynamicTools": [], "experimentalRawEvents": false,
        "persistExtendedHistory": false, "mockExperimentalField": null });
    let params: ThreadStartParams = serde_json::from_value(params).unwrap();
    assert_eq!(params.experimental_use(), None);
}

#[test]
fn questions_lose_what_their_reader_must_not_see() {
    let params = json!({
        "threadId": "t", "turnId": "u", "itemId": "i", "command": "ls",
        "additionalPermissions": { "network": null, "fileSystem": null },
        "availableDecisions": ["accept"],
    });
    let method = "item/commandExecution/requestApproval";
    let mut question = ServerRequest::decode(method, &params.to_string()).unwrap();
    question.strip_experimental();
    let stripped = question.params().unwrap().to_value();
    assert!(
        stripped.get("additionalPermissions").is_none(),
        "{stripped}"
    );
    // The official server sends this one to everybody.
    assert_eq!(stripped["availableDecisions"], json!(["accept"]));
}
