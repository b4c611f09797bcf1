//! One server, several clients.

use quipu_embed::Embedded;
use quipu_embed::client::prompt;
use quipu_embed::client::wire::ThreadResumeParams;
use quipu_embed::config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_testkit::client::within;

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_one_server_share_its_threads_and_end_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().join("home"));
    home.ensure().unwrap();
    std::fs::write(home.config_file(), "model_provider = \"offline\"\n").unwrap();
    let path = std::env::var("PATH").unwrap();
    let env = Env::new([("PATH", path.as_str())], directory.path());
    let system = SystemPaths::in_directory(&directory.path().join("etc"));
    let config = Loader::with_system_paths(env, home, Overrides::default(), system);
    let server = Embedded::start(config);
    let first = within("a client", server.connect()).await.unwrap();
    let thread = within("a thread", first.start_thread(Default::default()));
    let thread = thread.await.unwrap().id;
    let turn = within("a turn", first.run_turn(prompt(&thread, "hello")));
    let said = turn.await.unwrap().agent_message;
    assert!(!said.is_empty());
    let second = within("a client", server.connect()).await.unwrap();
    let joined = second.resume_thread(&thread, ThreadResumeParams::default());
    assert_eq!(within("the thread", joined).await.unwrap().turns.len(), 1);
    within("the end", server.stop()).await;
    within("the end of the connection", second.closed()).await;
}
