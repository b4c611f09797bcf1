//! Calls that fail in every way, in any order and at once, leave nothing behind.

use std::future::ready;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::yield_now;

use super::*;
use crate::events::Subscribers;
use crate::{Resource, ResourceError, Shared, Slice, ToolError};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Fate {
    Succeed,
    Fail,
    Panic,
    Hang,
    Expand,
}

#[derive(Deserialize, JsonSchema)]
struct Params {
    id: u32,
    fate: Fate,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Done(Vec<u32>);

impl Slice for Done {
    const NAME: &'static str = "done";
    type Event = u32;

    fn apply(&mut self, id: u32) {
        self.0.push(id);
    }
}

type Seen = Shared<Vec<u32>>;

/// Changes both session and resource, in the middle of other things, before its fate comes.
fn tool() -> Tool {
    Tool::new(
        "act",
        "Acts.",
        async |params: Params, context: ToolContext| {
            let Params { id, fate } = params;
            yield_now().await;
            context.session().dispatch::<Done>(id);
            yield_now().await;
            context.resource::<Seen>()?.with(|seen| seen.push(id));
            yield_now().await;
            match fate {
                Fate::Succeed => Ok(id.to_string()),
                Fate::Fail => Err(ToolError::new("no luck")),
                Fate::Panic => panic!("out of luck"),
                Fate::Hang => std::future::pending().await,
                Fate::Expand => Err(ToolError::expand(["details"], "needed")),
            }
        },
    )
}

struct Lab {
    toolbox: Toolbox,
    session: Session,
    resources: Resources,
    events: Arc<Mutex<Vec<ToolInvoked>>>,
}

fn lab(tools: &[Tool], resources: Resources) -> Lab {
    let session = Session::new();
    let events = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&events);
    let mut subscribers = Subscribers::default();
    subscribers.add(move |event| {
        if let EventKind::ToolInvoked(invoked) = &event.kind {
            kept.lock().push(invoked.clone());
        }
        Err("subscribers may fail".into())
    });
    let limits = Arc::new(Limits::new(None, None));
    let emitter = Emitter::new("test", "test", subscribers);
    let toolbox = Toolbox::new(tools, &session, &resources, &limits, &emitter).unwrap();
    Lab {
        toolbox,
        session,
        resources,
        events,
    }
}

/// A call: its fate, whether its arguments can be read, and after how many steps it is given up.
fn calls() -> impl Strategy<Value = Vec<(Fate, bool, Option<usize>)>> {
    let fate = prop_oneof![
        4 => Just(Fate::Succeed),
        2 => Just(Fate::Fail),
        1 => Just(Fate::Panic),
        1 => Just(Fate::Hang),
        1 => Just(Fate::Expand),
    ];
    let given_up = prop_oneof![3 => Just(None), 1 => (0..8usize).prop_map(Some)];
    prop::collection::vec((fate, prop::bool::weighted(0.9), given_up), 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn calls_that_do_not_succeed_have_not_been(calls in calls(), at_once in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let lab = lab(&[tool()], Resources::new().with(Seen::default()));
            let run = async |id: usize, (fate, readable, given_up): (Fate, bool, Option<usize>)| {
                let id_text = id.to_string();
                let arguments = match readable {
                    true => json!({ "id": id, "fate": fate }),
                    false => json!({ "id": "one", "fate": fate }),
                };
                let call = lab.toolbox.call("act", &id_text, &arguments);
                let mut call = Box::pin(call);
                // A call that hangs is given up at last.
                let most = given_up.unwrap_or(if fate == Fate::Hang && readable { 200 } else { usize::MAX });
                let mut polls = 0;
                loop {
                    if polls >= most || (&mut call).now_or_never().is_some() {
                        break;
                    }
                    polls += 1;
                    yield_now().await;
                }
            };
            let count = calls.len();
            if at_once {
                join_all(calls.into_iter().enumerate().map(|(id, call)| run(id, call))).await;
            } else {
                for (id, call) in calls.into_iter().enumerate() {
                    run(id, call).await;
                }
            }
            let events = lab.events.lock().clone();
            // An expansion is a success to the model, but nothing that was done before it stays.
            let ok = |it: &&ToolInvoked| it.success && !it.result.contains("shown in full");
            let succeeded: Vec<u32> = events.iter().filter(ok).map(|it| it.call_id.parse().unwrap()).collect();
            assert_eq!(lab.session.get::<Done>().0, succeeded);
            assert_eq!(lab.session.events::<Done>(), succeeded);
            assert_eq!(lab.resources.get::<Seen>().unwrap().get(), succeeded);
            // Every call that began is reported once.
            let mut ids: Vec<_> = events.iter().map(|it| it.call_id.clone()).collect();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), events.len());
            assert!(events.len() <= count);
            // The next call is not held up.
            let arguments = json!({ "id": 99, "fate": "Succeed" });
            assert!(lab.toolbox.call("act", "99", &arguments).await.success);
        });
    }
}

/// A resource that cannot be brought back.
struct Broken;

impl Resource for Broken {
    type Snapshot = ();

    fn snapshot(&self) -> Result<(), ResourceError> {
        Ok(())
    }

    fn restore(&self, (): ()) -> Result<(), ResourceError> {
        Err("the disk is gone".into())
    }
}

#[tokio::test]
async fn a_rollback_that_fails_ends_the_evaluation() {
    let fails = Tool::new("act", "Fails.", async |(), _: ToolContext| {
        Err::<(), _>(ToolError::new("no"))
    });
    let lab = lab(&[fails], Resources::new().with(Broken));
    lab.toolbox.call("act", "1", &json!({})).await;
    let ended = lab.toolbox.limits.ending().now_or_never().unwrap();
    let error = Error::from(ended);
    assert_eq!(error.phase(), crate::Phase::Tool);
    assert!(error.message().contains("the disk is gone"), "{error}");
}

#[tokio::test]
async fn a_hung_tool_ends_with_the_deadline() {
    let hangs = Tool::new("act", "Hangs.", async |(), context: ToolContext| {
        context.session().dispatch::<Done>(1);
        std::future::pending::<Result<(), ToolError>>().await
    });
    let session = Session::new();
    let deadline = Instant::now() + Duration::from_millis(20);
    let limits = Arc::new(Limits::new(Some(deadline), None));
    let emitter = Emitter::new("test", "test", Subscribers::default());
    let toolbox = Toolbox::new(&[hangs], &session, &Resources::new(), &limits, &emitter).unwrap();
    let answer = toolbox.call("act", "1", &json!({})).await;
    assert_eq!(answer, Answer::failure("The time for this task is over."));
    assert_eq!(session.get::<Done>().0, [0u32; 0]);
    // Nothing runs after the deadline.
    assert!(!toolbox.call("act", "2", &json!({})).await.success);
}

#[test]
fn names_that_cannot_be_reported_apart_are_refused() {
    let named = |name: &str| {
        Tool::new(name, "Acts.", |(), _: ToolContext| {
            ready(Ok::<_, ToolError>("ok"))
        })
    };
    let limits = Arc::new(Limits::new(None, None));
    let emitter = Emitter::new("test", "test", Subscribers::default());
    for names in [&["a", "a"][..], &["mcp"], &["mcp__files__read"], &[""]] {
        let tools: Vec<_> = names.iter().map(|name| named(name)).collect();
        let toolbox = Toolbox::new(
            &tools,
            &Session::new(),
            &Resources::new(),
            &limits,
            &emitter,
        );
        assert_eq!(
            toolbox.err().unwrap().phase(),
            crate::Phase::Request,
            "{names:?}"
        );
    }
}

#[tokio::test]
async fn a_call_without_a_tool_is_reported_so() {
    let lab = lab(&[], Resources::new());
    let answer = lab.toolbox.call("none", "1", &json!({})).await;
    assert_eq!(answer, Answer::failure("There is no tool named `none`."));
    assert_eq!(lab.events.lock().len(), 1);
}

/// A resource that cannot be saved: by an error, or by a panic.
struct Unsaved(bool);

impl Resource for Unsaved {
    type Snapshot = ();

    fn snapshot(&self) -> Result<(), ResourceError> {
        match self.0 {
            true => panic!("the disk is full"),
            false => Err("the disk is full".into()),
        }
    }

    fn restore(&self, (): ()) -> Result<(), ResourceError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_tool_does_not_run_if_its_resources_cannot_be_saved() {
    for panics in [false, true] {
        let lab = lab(&[tool()], Resources::new().with(Unsaved(panics)));
        let arguments = json!({ "id": 1, "fate": "Succeed" });
        let answer = lab.toolbox.call("act", "1", &arguments).await;
        assert!(!answer.success, "{answer:?}");
        assert!(lab.session.events::<Done>().is_empty());
        let error = Error::from(lab.toolbox.limits.ending().now_or_never().unwrap());
        assert_eq!(error.phase(), crate::Phase::Tool);
        assert!(error.message().contains("could not be saved"), "{error}");
    }
}

/// The budget may be used up by another evaluation while a tool runs.
#[tokio::test]
async fn a_running_tool_ends_with_the_budget() {
    let budget = crate::Budget::new().tokens(10);
    let spent = budget.clone();
    let hangs = Tool::new("act", "Hangs.", move |(), context: ToolContext| {
        context.session().dispatch::<Done>(1);
        let total = 11;
        let usage = crate::Usage {
            total,
            ..crate::Usage::default()
        };
        spent.spend(usage, crate::Money::default());
        std::future::pending::<Result<(), ToolError>>()
    });
    let (session, resources) = (Session::new(), Resources::new());
    let limits = Arc::new(Limits::new(None, Some(budget)));
    let emitter = Emitter::new("test", "test", Subscribers::default());
    let toolbox = Toolbox::new(&[hangs], &session, &resources, &limits, &emitter).unwrap();
    let answer = toolbox.call("act", "1", &json!({})).await;
    let text = "The budget for this task is used up.";
    assert_eq!(answer, Answer::failure(text));
    assert!(session.events::<Done>().is_empty());
    assert!(!toolbox.call("act", "2", &json!({})).await.success);
}

/// Counts down, and panics below zero.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Left(u32);

impl Slice for Left {
    const NAME: &'static str = "left";
    type Event = i64;

    fn apply(&mut self, change: i64) {
        let left = i64::from(self.0) + change;
        self.0 = u32::try_from(left).expect("nothing is left");
    }
}

/// A tool takes two of what was there when it began; meanwhile somebody else has taken one.
#[tokio::test]
async fn a_commit_that_panics_is_a_failure_without_traces() {
    let session = Session::new();
    session.dispatch::<Left>(2);
    let shared = session.clone();
    let takes = Tool::new("act", "Takes two.", move |(), context: ToolContext| {
        let shared = shared.clone();
        async move {
            context.session().dispatch::<Done>(7);
            context.session().dispatch::<Left>(-2);
            context.resource::<Seen>()?.with(|seen| seen.push(7));
            shared.dispatch::<Left>(-1);
            Ok::<_, ToolError>("taken")
        }
    });
    let resources = Resources::new().with(Seen::default());
    let limits = Arc::new(Limits::new(None, None));
    let emitter = Emitter::new("test", "test", Subscribers::default());
    let toolbox = Toolbox::new(&[takes], &session, &resources, &limits, &emitter).unwrap();
    let answer = toolbox.call("act", "1", &json!({})).await;
    assert!(!answer.success, "{answer:?}");
    assert_eq!(session.get::<Left>().0, 1);
    assert!(session.events::<Done>().is_empty());
    assert!(resources.get::<Seen>().unwrap().get().is_empty());
}
