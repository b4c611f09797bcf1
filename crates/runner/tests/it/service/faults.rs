//! What goes wrong around the service: trackers, servers, disks, files, and a great many issues at once.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_runner::tracker::{self, Issue, Tracker, TrackerError, TrackerErrorKind};
use quipu_testkit::small_disk::SmallDisk;

use super::support::{DONE, ENDLESS, Lab, ended_well, failed_with};

/// How a tracker misbehaves.
const GOOD: u8 = 0;
const DOWN: u8 = 1;
const SLOW: u8 = 2;
const LIES: u8 = 3;
const PANICS: u8 = 4;

/// The directory of a lab, in the hands of a bad network.
struct Unreliable {
    inner: Arc<dyn Tracker>,
    mood: Arc<AtomicU8>,
}

impl Unreliable {
    async fn spoil(
        &self,
        issues: Result<Vec<Issue>, TrackerError>,
    ) -> Result<Vec<Issue>, TrackerError> {
        match self.mood.load(Ordering::Relaxed) {
            DOWN => Err(TrackerError::new(TrackerErrorKind::Status, "503")),
            SLOW => std::future::pending().await,
            LIES => {
                // Everything twice, nameless issues, others' ids, states that nobody asked for.
                let mut issues = issues?;
                issues.extend(issues.clone());
                issues.push(Issue::new("", "nobody", "t", "Todo"));
                issues.push(Issue::new("x", "", "t", "Todo"));
                issues.push(Issue::new("y", "other", "t", "Done"));
                Ok(issues)
            }
            PANICS => panic!("a defect of a tracker"),
            _ => issues,
        }
    }
}

impl Tracker for Unreliable {
    fn issues_in_states<'a>(
        &'a self,
        states: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>> {
        async { self.spoil(self.inner.issues_in_states(states).await).await }.boxed()
    }

    fn issues_by_id<'a>(
        &'a self,
        ids: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>> {
        async { self.spoil(self.inner.issues_by_id(ids).await).await }.boxed()
    }
}

fn unreliable(work: &str, front: &str, mood: u8) -> (Lab, Arc<AtomicU8>) {
    let moods = Arc::new(AtomicU8::new(mood));
    let mood = Arc::clone(&moods);
    let mut lab = Lab::new(work, front).with_tracker(Arc::new(move |config, env| {
        let inner = tracker::open(config, env)?;
        let mood = Arc::clone(&mood);
        Ok(Arc::new(Unreliable { inner, mood }) as Arc<dyn Tracker>)
    }));
    lab.options.tracker_patience = Duration::from_millis(300);
    (lab, moods)
}

#[tokio::test]
async fn a_tracker_that_is_down_slow_or_panics_costs_polls_and_nothing_else() {
    for mood in [DOWN, SLOW, PANICS] {
        let (lab, moods) = unreliable(
            "[ -e ../../go ] && { state Done; finish completed; }; :",
            "",
            GOOD,
        );
        lab.issue("A");
        let running = lab.start().await;
        running
            .until("it runs", |it| it["running"][0]["turn_count"] == 1)
            .await;
        moods.store(mood, Ordering::Relaxed);
        let state = running
            .until("the error is shown", |it| !it["last_error"].is_null())
            .await;
        assert_eq!(
            state["counts"]["running"], 1,
            "workers go on, whatever the tracker does"
        );
        moods.store(GOOD, Ordering::Relaxed);
        lab.issue("B");
        fs::write(lab.path().join("go"), "").unwrap();
        running
            .until("it is well again", |it| it["counts"]["completed"] == 1)
            .await;
        lab.set_state("A", "Done");
        running
            .until("nothing is left", |it| {
                it["counts"]["running"] == 0 && it["counts"]["retrying"] == 0
            })
            .await;
        running.stop().await;
    }
}

#[tokio::test]
async fn a_tracker_that_lies_causes_no_double_work() {
    let (lab, _) = unreliable(DONE, "", LIES);
    lab.issue("A").issue("B");
    let running = lab.start().await;
    running.until_completed(2).await;
    running.stop().await;
    for name in ["A", "B"] {
        assert_eq!(lab.record(name)["attempts"].as_array().unwrap().len(), 1);
    }
    let records = fs::read_dir(lab.options.places.root.join("issues")).unwrap();
    let mut names: Vec<_> = records.map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["A.json", "B.json"]);
}

#[tokio::test]
async fn a_server_that_is_killed_in_the_middle_of_a_turn_is_tried_again() {
    let work = "if [ ! -e ../../killed ]; then touch ../../killed; kill -9 $$; fi; state Done; finish completed";
    let lab = Lab::new(work, "agent: { max_retry_backoff_ms: 50 }");
    lab.issue("A");
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    let record = lab.record("A");
    assert!(
        record["attempts"][0]["error"]
            .as_str()
            .unwrap()
            .contains("port_exit"),
        "{record:#}"
    );
    assert!(ended_well(&record["attempts"][1]), "{record:#}");
    assert_eq!(record["attempts"][1]["attempt"], 1);
}

#[tokio::test]
async fn a_stalled_agent_is_ended_and_tried_again() {
    let work = "if [ ! -e ../../stalled ]; then touch ../../stalled; else state Done; finish completed; fi";
    let front = "agent: { max_retry_backoff_ms: 50 }\n";
    let lab = Lab::new(work, front);
    let text = fs::read_to_string(lab.path().join("WORKFLOW.md")).unwrap();
    let text = text.replace(
        "read_timeout_ms:",
        "stall_timeout_ms: 400, read_timeout_ms:",
    );
    fs::write(lab.path().join("WORKFLOW.md"), text).unwrap();
    lab.issue("A");
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    assert_eq!(lab.record("A")["attempts"][0]["status"], "stalled");
}

#[tokio::test]
async fn a_prompt_that_cannot_be_rendered_fails_the_attempt_only() {
    let lab = Lab::new(DONE, "");
    lab.write_workflow(
        "agent: { max_retry_backoff_ms: 50 }",
        "{{ issue.nonsense }}",
    );
    lab.issue("A");
    let running = lab.start().await;
    running
        .until("the error is shown", |it| {
            failed_with(it, "template_render_error")
        })
        .await;
    lab.write_workflow("agent: { max_retry_backoff_ms: 50 }", "{{ issue.title }}");
    running.until_completed(1).await;
    running.stop().await;
}

#[tokio::test]
async fn a_full_disk_stops_attempts_and_not_the_service() {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(why) => return eprintln!("skipped, since this user may not mount: {why}"),
    };
    let mut lab = Lab::new(DONE, "agent: { max_retry_backoff_ms: 50 }");
    lab.options.places.root = disk.path().join("state");
    let running = lab.start().await;
    let ballast = disk.fill();
    lab.issue("A");
    running
        .until("the error is shown", |it| {
            failed_with(it, "state_not_stored")
        })
        .await;
    assert!(
        lab.trace("A").is_empty(),
        "no agent works that would be forgotten"
    );
    fs::remove_file(ballast).unwrap();
    running.until_completed(1).await;
    running.stop().await;
    let record = lab.record("A");
    assert!(
        ended_well(record["attempts"].as_array().unwrap().last().unwrap()),
        "{record:#}"
    );
}

#[tokio::test]
async fn records_that_cannot_be_read_are_put_aside() {
    let lab = Lab::new(DONE, "");
    lab.issue("A");
    let path = lab.options.places.issue("A");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{ not json").unwrap();
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    assert!(path.with_extension("unreadable").exists());
}

#[tokio::test]
async fn five_hundred_issues_at_once_are_dispatched_within_the_limit() {
    let lab = Lab::new(ENDLESS, "agent: { max_concurrent_agents: 3 }");
    for number in 0..500 {
        lab.issue(&format!("I-{number:03}"));
    }
    let running = lab.start().await;
    let state = running
        .until("three run", |it| it["running"][2]["turn_count"] == 1)
        .await;
    assert_eq!(
        (&state["counts"]["running"], &state["counts"]["waiting"]),
        (&3.into(), &497.into())
    );
    assert_eq!(state["running"][0]["issue_identifier"], "I-000");
    lab.set_state("I-000", "Done");
    running
        .until("the next one has its place", |it| {
            it["running"]
                .as_array()
                .unwrap()
                .iter()
                .any(|it| it["issue_identifier"] == "I-003")
        })
        .await;
    running.stop().await;
}

#[tokio::test]
async fn a_second_service_for_the_same_workflow_is_refused() {
    let lab = Lab::new(ENDLESS, "");
    let running = lab.start().await;
    let error = lab
        .try_start()
        .await
        .err()
        .expect("it is refused")
        .to_string();
    assert!(
        error.contains("another program has kept it locked"),
        "{error}"
    );
    running.stop().await;
}

#[tokio::test]
async fn startup_validation_fails_cleanly() {
    let lab = Lab::new(DONE, "");
    lab.write_workflow("tracker: { kind: carrier-pigeon }", "x");
    let error = lab
        .try_start()
        .await
        .err()
        .expect("it is refused")
        .to_string();
    assert!(
        error.contains("tracker.kind") && error.contains("directory"),
        "{error}"
    );
}
