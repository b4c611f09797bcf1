//! Threads in PostgreSQL, from the command line to the database and back into files.

use quipu_testkit::cluster::Cluster;

use crate::exec::Place;

#[tokio::test]
async fn a_conversation_is_kept_in_the_database_and_moves_out() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.address(&cluster.database());
    let place = Place::new();
    let home = place.directory.path().join(".quipu");
    let early = place.fails(&["exec", "hello", "--store", &url]).await;
    assert!(early.contains("run `quipu store migrate`"), "{early}");
    let none = place.fails(&["store", "check"]).await;
    assert!(none.contains("threads are files in the home"), "{none}");
    let invalid = "mysql://user:hidden-4711@db/t";
    let invalid = place.fails(&["store", "check", "--store", invalid]).await;
    assert!(invalid.contains("must begin with postgres://"), "{invalid}");
    assert!(!invalid.contains("hidden-4711"), "{invalid}");

    let made = place.ok(&["store", "migrate", "--store", &url]).await;
    assert!(made.contains("version 2 now"), "{made}");
    let mut settings = std::fs::read_to_string(home.join("config.toml")).unwrap();
    settings += &format!("[store]\nurl = \"{url}\"\n");
    std::fs::write(home.join("config.toml"), settings).unwrap();
    place.ok(&["exec", "hello database"]).await;
    place.ok(&["exec", "resume", "--last", "and again"]).await;
    assert!(!home.join("sessions").exists(), "a thread is in the home");
    let listed = place.ok(&["threads", "list"]).await;
    assert!(listed.contains("hello database"), "{listed}");
    let checked = place.ok(&["store", "check"]).await;
    assert!(checked.contains("threads: 1 and 0 archived"), "{checked}");

    let out = place.directory.path().join("out");
    let exported = place.ok(&["store", "export", out.to_str().unwrap()]).await;
    assert!(exported.contains(": 1 rollouts"), "{exported}");
    let again = place.ok(&["store", "import", out.to_str().unwrap()]).await;
    assert!(
        again.contains("0 rollouts (0 bytes), 1 that were there already"),
        "{again}"
    );
}
