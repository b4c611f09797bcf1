//! The table itself: its size, its order, and that what is published agrees with it.

use std::collections::HashSet;

use quipu_wire::method::{
    CLIENT_REQUESTS, MethodInfo, SERVER_NOTIFICATIONS, SERVER_REQUESTS, Stability,
};
use quipu_wire::schema::{self, Protocol, Surface};
use serde_json::Value;

/// Whether a row is part of the base version.
fn is_base(row: &MethodInfo) -> bool {
    Protocol::V0_118.has(row.era)
}

fn count(stability: Stability) -> usize {
    let rows = CLIENT_REQUESTS.iter().filter(|row| is_base(row));
    rows.filter(|row| row.stability == stability).count()
}

#[test]
fn the_table_has_every_message_of_the_base_version() {
    let base = |rows: &[MethodInfo]| rows.iter().filter(|row| is_base(row)).count();
    assert_eq!(base(CLIENT_REQUESTS), 74);
    assert_eq!(count(Stability::Experimental), 12);
    assert_eq!(count(Stability::Legacy), 3);
    assert_eq!(base(SERVER_REQUESTS), 9);
    assert_eq!(base(SERVER_NOTIFICATIONS), 52);
}

#[test]
fn what_only_quipu_has_is_in_no_official_generation() {
    let has = |protocol| {
        let surface = Surface::whole(protocol);
        let files = [schema::json_schemas(surface), schema::typescript(surface)];
        let ours = ["idempotencyKey", "ThreadEvents", "QuipuResume", "\"quipu\""];
        let found = |text: &String| ours.iter().any(|it| text.contains(it));
        files.iter().flat_map(|it| it.values()).any(found)
    };
    assert!(!has(Protocol::V0_118) && !has(Protocol::V0_166) && has(Protocol::Union));
}

#[test]
fn each_generation_has_its_own_methods() {
    let whole = |protocol| methods(Surface::whole(protocol), "ClientRequest");
    let has = |protocol, method: &str| whole(protocol).iter().any(|it| it == method);
    for (protocol, rollback, revert) in [
        (Protocol::V0_118, true, false),
        (Protocol::V0_166, false, true),
        (Protocol::Union, true, true),
    ] {
        assert_eq!(has(protocol, "thread/rollback"), rollback);
        assert_eq!(has(protocol, "thread/revert"), revert);
    }
    let required = |protocol| {
        let files = schema::json_schemas(Surface::stable(protocol));
        let schema: Value =
            serde_json::from_str(&files["v2/ItemStartedNotification.json"]).unwrap();
        let required = schema["required"].as_array().unwrap().clone();
        required.contains(&"startedAtMs".into())
    };
    assert!(required(Protocol::V0_166) && !required(Protocol::V0_118));
    let reviewer = |protocol| {
        let files = schema::json_schemas(Surface::stable(protocol));
        files["v2/ThreadStartParams.json"].contains("auto_review")
    };
    assert!(reviewer(Protocol::Union) && !reviewer(Protocol::V0_118));
    let cwd = |protocol| {
        let files = schema::typescript(Surface::stable(protocol));
        let text = &files["v2/ThreadListParams.ts"];
        text.contains("cwd?: string | Array<string> | null")
    };
    assert!(cwd(Protocol::V0_166) && !cwd(Protocol::V0_118));
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
    let rows = table.iter().filter(|row| is_base(row) && keep(row));
    rows.map(|row| row.name.to_owned()).collect()
}

#[test]
fn the_published_unions_follow_the_table() {
    let stable = |row: &MethodInfo| row.stability == Stability::Stable;
    let published = |row: &MethodInfo| row.stability != Stability::Legacy;
    assert_eq!(
        methods(Surface::stable(Protocol::V0_118), "ClientRequest"),
        names(CLIENT_REQUESTS, stable)
    );
    let all = methods(Surface::whole(Protocol::V0_118), "ClientRequest");
    assert_eq!(all, names(CLIENT_REQUESTS, published));
    assert_eq!(
        methods(Surface::stable(Protocol::V0_118), "ServerRequest"),
        names(SERVER_REQUESTS, |_| true)
    );
    assert_eq!(
        methods(Surface::stable(Protocol::V0_118), "ClientNotification"),
        ["initialized"]
    );
    // One notification is for one internal user and is not published in this form.
    let internal = |row: &MethodInfo| row.name != "rawResponseItem/completed";
    let notifications = methods(Surface::stable(Protocol::V0_118), "ServerNotification");
    assert_eq!(notifications, names(SERVER_NOTIFICATIONS, internal));
    assert_eq!(notifications.len(), 51);
    let typescript = schema::typescript(Surface::stable(Protocol::V0_118));
    assert!(typescript["ServerNotification.ts"].contains("rawResponseItem/completed"));
}

#[test]
fn stable_typescript_hides_experimental_fields() {
    let start = |surface| schema::typescript(surface)["v2/ThreadStartParams.ts"].clone();
    assert!(start(Surface::whole(Protocol::V0_118)).contains("dynamicTools"));
    assert!(!start(Surface::stable(Protocol::V0_118)).contains("dynamicTools"));
}
