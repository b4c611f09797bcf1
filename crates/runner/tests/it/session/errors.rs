//! Requirements 28 to 30: the closed set of errors, retries, and that nothing is left.

use std::time::{Duration, Instant};

use quipu_runner::session::{EventKind, Launch, Limits, SessionError, SessionOptions};
use quipu_testkit::process_table;
use quipu_testkit::wait::until;

use super::support::{Lab, lives, start, within};

fn hasty(lab: &Lab) -> SessionOptions {
    SessionOptions {
        limits: Limits {
            startup: Duration::from_millis(300),
            // A busy machine must be able to answer what is not tested.
            response: Duration::from_secs(3),
            shutdown: Duration::from_millis(200),
            ..Limits::default()
        },
        ..lab.options()
    }
}

#[tokio::test]
async fn r28_response_timeout_names_the_request() {
    for (script, expected) in [
        ("stay", "initialize"),
        ("hello; stay", "thread/start"),
        ("greet; stay", "turn/start"),
    ] {
        let lab = Lab::new(script);
        let options = SessionOptions {
            limits: Limits {
                // Only what is tested may be slow.
                startup: match expected {
                    "initialize" => Duration::from_millis(300),
                    _ => Duration::from_secs(20),
                },
                ..hasty(&lab).limits
            },
            ..lab.options()
        };
        let error = lab.run_with(options).await.unwrap_err();
        let SessionError::ResponseTimeout { method, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(method, expected);
    }
}

#[tokio::test]
async fn r28_response_error_counts_for_the_matching_id_only() {
    let lab = Lab::new(
        r#"
        hello; get; say '{"id":77,"error":{"code":-1,"message":"not yours"}}'
        say '{"id":2,"error":{"code":-32600,"message":"no threads today"}}'; stay
        "#,
    );
    let error = lab.run().await.unwrap_err();
    let SessionError::ResponseError { method, error } = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (*method, error.code, &*error.message),
        ("thread/start", -32600, "no threads today")
    );
}

#[tokio::test]
async fn r28_port_exit_has_the_status_while_waiting_and_while_streaming() {
    for script in [
        "exit 3",
        "hello; echo 'bad luck' >&2; exit 3",
        "greet; get; exit 3",
        "greet; turn 3 t; exit 3",
    ] {
        let lab = Lab::new(script);
        let error = lab.run().await.unwrap_err();
        let SessionError::PortExit { status, reason } = &error else {
            panic!("{script}: {error}");
        };
        assert_eq!(*status, Some(3), "{script}");
        if script.contains("bad luck") {
            assert!(reason.contains("bad luck"), "{reason}");
        }
    }
}

#[tokio::test]
async fn r28_a_server_that_cannot_be_started_is_reported() {
    let lab = Lab::new("");
    for launch in [
        Launch::Program("/no/such/server".into()),
        Launch::Shell("no-such-server app-server".into()),
    ] {
        let error = start(lab.with(launch)).await.err().unwrap();
        assert_eq!(error.code(), "codex_not_found", "{error}");
        assert!(
            error.to_string().contains("no-such-server")
                || error.to_string().contains("/no/such/server")
        );
    }
    assert_eq!(lab.events(EventKind::StartupFailed).len(), 2);
}

#[tokio::test]
async fn r29_an_overloaded_server_is_asked_again() {
    let overloaded =
        r#"say '{"id":ID,"error":{"code":-32001,"message":"Server overloaded; retry later."}}'"#;
    let lab = Lab::new(&format!(
        "hello; get; {}; get; {}; get; say '{}'; turn 5 turn-1; completed turn-1; stay",
        overloaded.replace("ID", "2"),
        overloaded.replace("ID", "3"),
        r#"{"id":4,"result":{"thread":{"id":"thread-1"}}}"#,
    ));
    lab.run().await.unwrap();
    let asked = lab
        .trace()
        .into_iter()
        .filter(|it| it["method"] == "thread/start");
    assert_eq!(asked.count(), 3);
}

/// Starts what a server could leave behind, and ignores what should end it.
const STUBBORN: &str = "trap '' TERM; sleep MARK & setsid sleep MARK & (setsid sleep MARK &) ;";

#[tokio::test]
async fn r30_after_an_error_no_process_is_left_and_a_new_session_is_needed() {
    for script in [
        "greet; get; say '{\"id\":3,\"error\":{\"code\":1,\"message\":\"no\"}}'; sleep MARK",
        "greet; turn 3 turn-1; say '{\"method\":\"turn/failed\"}'; sleep MARK",
        "greet; turn 3 turn-1; exit 1",
    ] {
        let mark = process_table::marker();
        let lab = Lab::new(&format!("{STUBBORN}{script}").replace("MARK", &mark));
        let mut session = start(hasty_but_patient(&lab)).await.unwrap();
        let pid = session.pid().unwrap();
        let error = within("the error", session.run_turn("do it"))
            .await
            .unwrap_err();
        let since = Instant::now();
        assert!(!lives(pid), "{script}");
        process_table::gone(&mark, since).await;
        let again = session.run_turn("again").await.unwrap_err();
        let SessionError::Ended { code } = again else {
            panic!("{again}");
        };
        assert_eq!(code, error.code());
    }
}

fn hasty_but_patient(lab: &Lab) -> SessionOptions {
    SessionOptions {
        limits: Limits {
            shutdown: Duration::from_millis(200),
            ..lab.options().limits
        },
        ..lab.options()
    }
}

#[tokio::test]
async fn r30_a_start_that_fails_leaves_nothing_either() {
    let mark = process_table::marker();
    let script = format!("{STUBBORN} hello; get; say '{{\"id\":2,\"result\":{{}}}}'; sleep MARK");
    let lab = Lab::new(&script.replace("MARK", &mark));
    let error = start(hasty_but_patient(&lab)).await.err().unwrap();
    assert_eq!(error.code(), "invalid_thread_payload");
    process_table::gone(&mark, Instant::now()).await;
}

#[tokio::test]
async fn r30_a_turn_that_was_left_in_the_middle_cannot_be_followed_by_another() {
    let lab = Lab::new("greet; turn 3 turn-1; stay");
    let mut session = lab.session().await;
    let began = until("the session", || {
        !lab.events(EventKind::SessionStarted).is_empty()
    });
    tokio::select! {
        done = session.run_turn("do it") => panic!("{done:?}"),
        () = within("the start of the turn", began) => {}
    }
    let error = session.run_turn("again").await.unwrap_err();
    assert_eq!(error.code(), "session_ended", "{error}");
    session.stop().await;
}
