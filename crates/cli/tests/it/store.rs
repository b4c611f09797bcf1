//! Threads in PostgreSQL, from the command line to the database and back into files.

use std::process::{Output, Stdio};

use quipu_testkit::client::within;

use crate::cluster::Cluster;
use crate::exec::{Place, text};

async fn run(place: &Place, args: &[&str]) -> Output {
    let output = place.quipu(args).stdin(Stdio::null()).output();
    within("the end of a command", output).await.unwrap()
}

async fn ok(place: &Place, args: &[&str]) -> String {
    let output = run(place, args).await;
    assert!(output.status.success(), "{args:?}: {output:?}");
    text(&output.stdout).to_owned()
}

async fn fails(place: &Place, args: &[&str]) -> String {
    let output = run(place, args).await;
    assert!(!output.status.success(), "{args:?}: {output:?}");
    text(&output.stderr).to_owned()
}

#[tokio::test]
async fn a_conversation_is_kept_in_the_database_and_moves_out() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.address(&cluster.database());
    let place = Place::new();
    let home = place.directory.path().join(".quipu");
    let early = fails(&place, &["exec", "hello", "--store", &url]).await;
    assert!(early.contains("run `quipu store migrate`"), "{early}");
    let none = fails(&place, &["store", "check"]).await;
    assert!(none.contains("threads are files in the home"), "{none}");
    let invalid = "mysql://user:hidden-4711@db/t";
    let invalid = fails(&place, &["store", "check", "--store", invalid]).await;
    assert!(invalid.contains("must begin with postgres://"), "{invalid}");
    assert!(!invalid.contains("hidden-4711"), "{invalid}");

    let made = ok(&place, &["store", "migrate", "--store", &url]).await;
    assert!(made.contains("version 1 now"), "{made}");
    let mut settings = std::fs::read_to_string(home.join("config.toml")).unwrap();
    settings += &format!("[store]\nurl = \"{url}\"\n");
    std::fs::write(home.join("config.toml"), settings).unwrap();
    ok(&place, &["exec", "hello database"]).await;
    ok(&place, &["exec", "resume", "--last", "and again"]).await;
    assert!(!home.join("sessions").exists(), "a thread is in the home");
    let listed = ok(&place, &["threads", "list"]).await;
    assert!(listed.contains("hello database"), "{listed}");
    let checked = ok(&place, &["store", "check"]).await;
    assert!(checked.contains("threads: 1 and 0 archived"), "{checked}");

    let out = place.directory.path().join("out");
    let exported = ok(&place, &["store", "export", out.to_str().unwrap()]).await;
    assert!(exported.contains(": 1 rollouts"), "{exported}");
    let again = ok(&place, &["store", "import", out.to_str().unwrap()]).await;
    assert!(
        again.contains("0 rollouts (0 bytes), 1 that were there already"),
        "{again}"
    );
}
