//! What is read is written again without loss, for every type of the protocol.

use std::fmt::Debug;

use quipu_wire::describe::Ty;
use quipu_wire::method::{CLIENT_REQUESTS, MethodInfo, SERVER_NOTIFICATIONS, SERVER_REQUESTS};
use quipu_wire::method::{Method, NoParams, Notification, event, question, request};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::examples::examples;

/// Reads and writes an example twice. The first writing may add members that were absent; after that
/// nothing changes.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, example: &Value) {
    let read: T = serde_json::from_value(example.clone())
        .unwrap_or_else(|error| panic!("{name}: {error} in {example}"));
    let written = serde_json::to_value(&read).unwrap();
    assert_contains(name, &written, example);
    let text = serde_json::to_string(&read).unwrap();
    let again: T = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{name}: {error} in what we wrote: {text}"));
    assert_eq!(serde_json::to_value(&again).unwrap(), written, "{name}");
    assert_eq!(
        serde_json::from_value::<T>(written).unwrap(),
        again,
        "{name}"
    );
}

/// Every member of the example is written; nothing, `false` and defaults may be left out.
fn assert_contains(name: &str, written: &Value, example: &Value) {
    match (written, example) {
        (Value::Object(written), Value::Object(example)) => {
            for (key, value) in example {
                match written.get(key) {
                    Some(written) => assert_contains(&format!("{name}.{key}"), written, value),
                    None => assert_eq!(*value, Value::Bool(false), "{name}.{key} got lost"),
                }
            }
        }
        (Value::Array(written), Value::Array(example)) => {
            assert_eq!(written.len(), example.len(), "{name}");
            for (written, example) in written.iter().zip(example) {
                assert_contains(name, written, example);
            }
        }
        _ => assert_eq!(written, example, "{name}"),
    }
}

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, ty: Ty) -> usize {
    if std::any::type_name::<T>() == std::any::type_name::<NoParams>() {
        return 0;
    }
    let examples = examples(ty);
    assert!(!examples.is_empty(), "{name} has no examples");
    for example in &examples {
        round_trip::<T>(name, example);
    }
    examples.len()
}

fn row(table: &'static [MethodInfo], name: &str) -> &'static MethodInfo {
    table.iter().find(|row| row.name == name).unwrap()
}

macro_rules! all_client_requests {
    ($($(#[doc = $doc:literal])+ $stability:ident $name:ident = $wire:literal ($params:ty) -> $result:ty, $lane:ident $(($key:ident))? $(, $bound:ident $version:literal)?;)*) => {
        #[test]
        fn client_requests_keep_what_they_carry() {
            let mut count = 0;
            $({
                let row = row(CLIENT_REQUESTS, $wire);
                count += check::<<request::$name as Method>::Params>($wire, row.params);
                count += check::<<request::$name as Method>::Result>($wire, row.result.unwrap());
            })*
            assert!(count > 1000, "only {count} examples");
        }
    };
}

macro_rules! all_server_requests {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal ($params:ty) -> $result:ty $(, $bound:ident $version:literal)?;)*) => {
        #[test]
        fn server_requests_keep_what_they_carry() {
            $({
                let row = row(SERVER_REQUESTS, $wire);
                check::<<question::$name as Method>::Params>($wire, row.params);
                check::<<question::$name as Method>::Result>($wire, row.result.unwrap());
            })*
        }
    };
}

macro_rules! all_notifications {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal ($params:ty) $(, $bound:ident $version:literal)?;)*) => {
        #[test]
        fn notifications_keep_what_they_carry() {
            $(check::<<event::$name as Notification>::Params>($wire, row(SERVER_NOTIFICATIONS, $wire).params);)*
        }
    };
}

quipu_wire::client_requests!(all_client_requests);
quipu_wire::server_requests!(all_server_requests);
quipu_wire::server_notifications!(all_notifications);

#[test]
fn params_of_methods_without_any_are_null() {
    assert_eq!(serde_json::to_string(&NoParams).unwrap(), "null");
    for text in ["null", "{}", r#"{"x":1}"#] {
        assert_eq!(serde_json::from_str::<NoParams>(text).unwrap(), NoParams);
    }
}
