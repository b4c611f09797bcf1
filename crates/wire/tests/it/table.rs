//! The table itself: its size, its order, and that what is published agrees with it.

use std::collections::HashSet;

use quipu_wire::method::{
    CLIENT_REQUESTS, MethodInfo, SERVER_NOTIFICATIONS, SERVER_REQUESTS, Stability,
};
use quipu_wire::schema::{self, Surface};
use serde_json::Value;

fn count(stability: Stability) -> usize {
    let rows = CLIENT_REQUESTS
        .iter()
        .filter(|row| row.stability == stability);
    rows.count()
}

#[test]
fn the_table_has_every_message_of_the_protocol() {
    assert_eq!(CLIENT_REQUESTS.len(), 74);
    assert_eq!(count(Stability::Experimental), 12);
    assert_eq!(count(Stability::Legacy), 3);
    assert_eq!(SERVER_REQUESTS.len(), 9);
    assert_eq!(SERVER_NOTIFICATIONS.len(), 52);
}

#[test]
fn names_are_unique_and_documented() {
    for table in [CLIENT_REQUESTS, SERVER_REQUESTS, SERVER_NOTIFICATIONS] {
        let names: HashSet<_> = table.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), table.len());
        assert!(table.iter().all(|row| row.doc.trim().ends_with('.')));
    }
}

fn methods(surface: Surface, union: &str) -> Vec<String> {
    let files = schema::json_schemas(surface);
    let schema: Value = serde_json::from_str(&files[&format!("{union}.json")]).unwrap();
    let arms = schema["oneOf"].as_array().unwrap().iter();
    let method = |arm: &Value| {
        arm["properties"]["method"]["enum"][0]
            .as_str()
            .unwrap()
            .to_owned()
    };
    arms.map(method).collect()
}

fn names(table: &[MethodInfo], keep: impl Fn(&MethodInfo) -> bool) -> Vec<String> {
    let rows = table.iter().filter(|row| keep(row));
    rows.map(|row| row.name.to_owned()).collect()
}

#[test]
fn the_published_unions_follow_the_table() {
    let stable = |row: &MethodInfo| row.stability == Stability::Stable;
    let published = |row: &MethodInfo| row.stability != Stability::Legacy;
    assert_eq!(
        methods(Surface::Stable, "ClientRequest"),
        names(CLIENT_REQUESTS, stable)
    );
    let all = methods(Surface::Experimental, "ClientRequest");
    assert_eq!(all, names(CLIENT_REQUESTS, published));
    assert_eq!(
        methods(Surface::Stable, "ServerRequest"),
        names(SERVER_REQUESTS, |_| true)
    );
    assert_eq!(
        methods(Surface::Stable, "ClientNotification"),
        ["initialized"]
    );
    // One notification is for one internal user and is not published in this form.
    let internal = |row: &MethodInfo| row.name != "rawResponseItem/completed";
    let notifications = methods(Surface::Stable, "ServerNotification");
    assert_eq!(notifications, names(SERVER_NOTIFICATIONS, internal));
    assert_eq!(notifications.len(), 51);
    let typescript = schema::typescript(Surface::Stable);
    assert!(typescript["ServerNotification.ts"].contains("rawResponseItem/completed"));
}

#[test]
fn stable_typescript_hides_experimental_fields() {
    let start = |surface| schema::typescript(surface)["v2/ThreadStartParams.ts"].clone();
    assert!(start(Surface::Experimental).contains("dynamicTools"));
    assert!(!start(Surface::Stable).contains("dynamicTools"));
}
