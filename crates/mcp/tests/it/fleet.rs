//! Several servers side by side.

use std::collections::BTreeMap;

use quipu_mcp::{Fleet, FleetEvent, NoClient, Program, StartError, Startup, Transport};
use tokio::sync::mpsc;

use crate::lab::{fleet, info, program};

#[tokio::test(flavor = "multi_thread")]
async fn every_server_is_said_to_start_before_any_is_ready() {
    let mut missing = program("");
    missing.transport = Transport::Unusable(StartError::Token {
        variable: "TOKEN".to_owned(),
        server: "broken".to_owned(),
        problem: "not set",
    });
    missing.required = true;
    let specs = BTreeMap::from([
        ("broken".to_owned(), missing),
        ("one".to_owned(), program("")),
        ("two words".to_owned(), program("")),
    ]);
    let (events, mut messages) = mpsc::channel(64);
    let fleet = Fleet::start(specs, &info(), &events);
    fleet.settled().await;
    let (mut starting, mut ends) = (0, BTreeMap::new());
    while ends.len() < 3 {
        let Some(FleetEvent::Startup { server, state }) = messages.recv().await else {
            panic!("no news");
        };
        match state {
            Startup::Starting => starting += 1,
            end => {
                assert_eq!(starting, 3);
                ends.insert(server, end);
            }
        }
    }
    assert_eq!(ends["one"], Startup::Ready);
    assert_eq!(
        ends["broken"],
        Startup::Failed(
            "MCP client for `broken` failed to start: MCP startup failed: Environment variable TOKEN \
             for MCP server 'broken' is not set"
                .to_owned()
        )
    );
    assert!(
        matches!(&ends["two words"], Startup::Failed(why) if why.contains("Invalid MCP server name"))
    );
    assert_eq!(
        fleet.required().await.unwrap_err(),
        "broken: Environment variable TOKEN for MCP server 'broken' is not set"
    );
    assert!(matches!(
        fleet.client("nobody").await,
        Err(NoClient::Unknown(_))
    ));
    assert!(matches!(
        fleet.client("broken").await,
        Err(NoClient::Failed(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_does_not_start_is_named() {
    let with = |change: fn(&mut Program)| {
        let mut spec = program("");
        if let Transport::Stdio(program) = &mut spec.transport {
            change(program);
        }
        spec
    };
    let specs = BTreeMap::from([
        (
            "command".to_owned(),
            with(|it| it.argv = vec!["/nowhere/server".into()]),
        ),
        (
            "directory".to_owned(),
            with(|it| it.cwd = "/nowhere/at/all".into()),
        ),
    ]);
    let (events, _messages) = mpsc::channel(64);
    let fleet = Fleet::start(specs, &info(), &events);
    fleet.settled().await;
    for (server, why) in [
        (
            "command",
            "cannot start `/nowhere/server`: No such file or directory",
        ),
        ("directory", "the directory /nowhere/at/all does not exist"),
    ] {
        let Err(NoClient::Failed(error)) = fleet.client(server).await else {
            panic!("{server} started");
        };
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_offered_by_safe_names_and_only_those_wanted() {
    let mut spec = program("");
    spec.enabled_tools = Some(vec![
        "dotted.name".to_owned(),
        "echo".to_owned(),
        "x".repeat(70),
    ]);
    spec.disabled_tools = vec!["echo".to_owned()];
    let (fleet, _told) = fleet(spec);
    fleet.settled().await;
    let names: Vec<String> = fleet.tools().into_iter().map(|it| it.qualified).collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names[0], "mcp__scripted__dotted_name");
    assert!(names[1].starts_with("mcp__scripted__xxx") && names[1].len() == 64);
    let short = fleet.tools_of("scripted");
    assert_eq!(short[0].0, "dotted_name");
    let found = fleet.tool("mcp__scripted__dotted_name").unwrap();
    assert_eq!(found.tool.name, "dotted.name");
    assert!(fleet.tool("mcp__scripted__echo").is_none());
}
