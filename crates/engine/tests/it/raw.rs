//! Inputs without sense: stale, doubled, for unknown turns, calls and questions, in any order. A driver
//! keeps its own ids apart, as it must; everything else may happen, and the laws hold.

use proptest::prelude::*;
use quipu_engine::{
    Effect, HookReport, HookVerdict, HooksDone, Input, ModelEvent, ModelItem, ToolDelta, ToolEvent,
    TurnId, Waiting,
};

use crate::make::{
    answered, ask, call, compacted, completed, context, done, error, failed, finished, go_on,
    grace_over, hook_run, hooks, hooks_done, interrupt, item, json, model, opened, output,
    rendered, review, shell, start, steer, tokens, tool, words,
};
use crate::run::Run;

/// An input, but for the ids that the driver must keep apart.
#[derive(Debug, Clone)]
enum Raw {
    Start,
    Steer(usize),
    Interrupt(bool),
    Compact,
    Review,
    Shell,
    Context(usize),
    Compacted(usize),
    Rendered(usize),
    GraceOver(usize),
    Answered(i64),
    Note,
    Fault,
    Close,
    Model(u64, ModelEvent),
    Hooks(u64, HookReport),
    Tool(&'static str, ToolEvent),
}

/// Ids of calls and of their items, with those that the engine makes of them. What the user's commands
/// run under is among them.
const CALLS: [&str; 8] = [
    "cmd1", "bg-1", "pat1", "dyn1", "sh1", "cmd1-2", "bg-1-2", "sh1-2",
];

fn raw() -> impl Strategy<Value = Raw> {
    let turn = 0..4usize;
    let one = prop_oneof![
        4 => Just(Raw::Start),
        2 => turn.clone().prop_map(Raw::Steer),
        2 => any::<bool>().prop_map(Raw::Interrupt),
        1 => Just(Raw::Compact),
        1 => Just(Raw::Review),
        1 => Just(Raw::Shell),
        4 => turn.clone().prop_map(Raw::Context),
        2 => turn.clone().prop_map(Raw::Compacted),
        2 => turn.clone().prop_map(Raw::Rendered),
        2 => turn.prop_map(Raw::GraceOver),
        2 => (0..3i64).prop_map(Raw::Answered),
        1 => Just(Raw::Note),
        1 => prop_oneof![4 => Just(Raw::Fault), 1 => Just(Raw::Close)],
    ];
    let event = (1..6u64, model_event()).prop_map(|(sample, event)| Raw::Model(sample, event));
    let report = (prop::sample::select(&CALLS[..]), tool_event());
    let report = report.prop_map(|(call_id, event)| Raw::Tool(call_id, event));
    let hooks = (1..6u64, hook_report()).prop_map(|(run, report)| Raw::Hooks(run, report));
    prop_oneof![3 => one, 4 => event, 3 => report, 2 => hooks]
}

fn hook_report() -> impl Strategy<Value = HookReport> {
    let verdict = prop_oneof![
        3 => Just(HookVerdict::Proceed),
        1 => Just(HookVerdict::End),
        1 => Just(go_on("go on")),
    ];
    let done = verdict.prop_map(|verdict| {
        let context = vec![json("known")];
        HookReport::Done(HooksDone { context, verdict })
    });
    prop_oneof![
        1 => Just(HookReport::Started(vec![hook_run()])),
        1 => Just(HookReport::Completed(vec![hook_run()])),
        4 => done,
    ]
}

fn model_event() -> impl Strategy<Value = ModelEvent> {
    let slot = 0..3u32;
    let item = || {
        let id = prop::sample::select(vec!["msg1", "msg2", "cmd1", "item-text 1"]);
        let kind = prop_oneof![
            Just(words("words")),
            Just(ModelItem::Message {
                text: None,
                phase: None
            }),
            Just(ModelItem::Reasoning {
                summary: Vec::new(),
                content: vec!["deep".to_owned()]
            }),
            Just(ModelItem::WebSearch {
                query: String::new(),
                action: None
            }),
            Just(ModelItem::Other),
        ];
        (id, kind).prop_map(|(id, kind)| output(id, kind))
    };
    let call = prop::sample::select(&CALLS[..]).prop_map(call);
    let index = prop_oneof![0..3u32, Just(u32::MAX)];
    let delta = || "delta".to_owned();
    prop_oneof![
        1 => Just(opened()),
        3 => (slot.clone(), item()).prop_map(|(slot, item)| ModelEvent::ItemStarted { slot, item }),
        3 => (slot.clone(), item()).prop_map(|(slot, item)| ModelEvent::ItemDone { slot, item }),
        4 => (slot.clone(), call).prop_map(|(slot, item)| ModelEvent::ItemDone { slot, item }),
        2 => slot.clone().prop_map(move |slot| ModelEvent::TextDelta { slot, delta: delta() }),
        1 => Just(ModelEvent::PlanDelta { delta: delta() }),
        1 => Just(ModelEvent::PlanDone { text: delta() }),
        1 => (slot.clone(), index.clone())
            .prop_map(|(slot, index)| ModelEvent::ReasoningPartAdded { slot, index }),
        1 => (slot.clone(), index.clone()).prop_map(move |(slot, index)| {
            ModelEvent::ReasoningSummaryDelta { slot, index, delta: delta() }
        }),
        1 => (slot, index).prop_map(move |(slot, index)| {
            ModelEvent::ReasoningTextDelta { slot, index, delta: delta() }
        }),
        1 => Just(ModelEvent::Retrying { error: Some(error("again")) }),
        2 => (prop::option::of(Just(tokens(i64::MAX))), any::<bool>()).prop_map(|(usage, is_mismatch)| {
            let mismatch = is_mismatch.then(crate::make::mismatch);
            ModelEvent::Completed { usage, mismatch }
        }),
        1 => any::<bool>().prop_map(|window_exceeded| ModelEvent::Failed {
            error: error("failed"),
            window_exceeded,
        }),
    ]
}

fn tool_event() -> impl Strategy<Value = ToolEvent> {
    let id = || prop::sample::select(&CALLS[..]);
    let waiting = prop::option::of(prop_oneof![
        Just(Waiting::Approval),
        Just(Waiting::UserInput)
    ]);
    prop_oneof![
        3 => id().prop_map(|id| ToolEvent::ItemStarted(item(id, false))),
        3 => id().prop_map(|id| ToolEvent::ItemCompleted(item(id, true))),
        1 => Just(ToolEvent::Delta(ToolDelta::PatchOutput("out".to_owned()))),
        2 => (0..3i64, waiting).prop_map(|(question, waiting)| ask(question, waiting)),
        1 => Just(ToolEvent::DiffUpdated("diff".to_owned())),
        1 => Just(ToolEvent::Note(json("note"))),
        3 => any::<bool>().prop_map(|end_turn| ToolEvent::Finished {
            output: vec![json("output")],
            end_turn,
        }),
    ]
}

/// The way to where more than nothing can happen.
fn beginning() -> impl Strategy<Value = Vec<Raw>> {
    let calls = |sample, ids: &[&'static str]| {
        ids.iter()
            .map(move |id| Raw::Model(sample, done(0, call(id))))
            .collect::<Vec<Raw>>()
    };
    let asking = vec![Raw::Start, Raw::Context(0)];
    let calling = [asking.clone(), calls(1, &["cmd1", "bg-1"])].concat();
    let ending = [calling.clone(), vec![Raw::Interrupt(true)]].concat();
    let shelling = [asking.clone(), vec![Raw::Shell, Raw::Shell]].concat();
    let left = [shelling.clone(), vec![Raw::Model(1, completed())]].concat();
    let reviewing = [vec![Raw::Review], calls(1, &["cmd1"])].concat();
    let compacting = vec![Raw::Compact, Raw::Model(1, completed())];
    let all = vec![
        Vec::new(),
        asking,
        calling,
        ending,
        shelling,
        left,
        reviewing,
        compacting,
    ];
    prop::sample::select(all)
}

/// Makes an input whole. Notes and outputs get numbers, so that each can be followed.
fn whole(raw: Raw, n: u64, turns: &[TurnId]) -> Input {
    let turn_id = format!("turn{n}");
    let named = |turn: usize| turns.iter().rev().nth(turn).cloned().unwrap_or_default();
    match raw {
        Raw::Start => start(n, &turn_id, &format!("text {n}")),
        Raw::Steer(turn) => steer(n, &named(turn), &format!("text {n}")),
        Raw::Interrupt(true) => interrupt(n),
        Raw::Interrupt(false) => Input::Interrupt { reply: None },
        Raw::Compact => Input::Compact {
            turn_id: turn_id.into(),
        },
        Raw::Review => review(n, &turn_id, "all"),
        Raw::Shell => shell(&turn_id, "sh1"),
        Raw::Context(turn) => context(&named(turn)),
        Raw::Compacted(turn) => compacted(&named(turn)),
        Raw::Rendered(turn) => rendered(&named(turn)),
        Raw::GraceOver(turn) => Input::GraceOver {
            turn_id: named(turn),
        },
        Raw::Answered(question) => answered(question),
        Raw::Note => Input::Note(json(&format!("note {n}"))),
        Raw::Fault => Input::Fault {
            error: error("fault"),
        },
        Raw::Close => Input::Close,
        Raw::Model(sample, event) => model(sample, event),
        Raw::Hooks(run, report) => hooks(run, report),
        Raw::Tool(call_id, ToolEvent::Note(_)) => {
            tool(call_id, ToolEvent::Note(json(&format!("note {n}"))))
        }
        Raw::Tool(call_id, ToolEvent::Finished { end_turn, .. }) => {
            let output = vec![json(&format!("output {n}"))];
            tool(call_id, ToolEvent::Finished { output, end_turn })
        }
        Raw::Tool(call_id, event) => tool(call_id, event),
    }
}

/// Gives the running turn whatever it can wait for, until none runs.
fn settle(run: &mut Run) {
    for n in 0..100 {
        let Some(turn_id) = run.thread.active_turn().cloned() else {
            return;
        };
        let effects = run.trace.iter().flat_map(|(_, effects)| effects.clone());
        let mut inputs = vec![context(&turn_id), compacted(&turn_id)];
        for effect in effects {
            match effect {
                Effect::Sample { sample, .. } => inputs.push(model(sample.get(), completed())),
                Effect::RunHooks { run, .. } => {
                    inputs.push(hooks_done(run.get(), HookVerdict::Proceed))
                }
                Effect::RunTool { call, .. } => {
                    inputs.push(tool(
                        &call.call_id,
                        finished(&format!("last {n} {}", inputs.len())),
                    ));
                }
                Effect::RunShell { item_id, .. } => {
                    inputs.push(tool(
                        &item_id,
                        finished(&format!("last {n} {}", inputs.len())),
                    ));
                }
                _ => {}
            }
        }
        inputs.push(grace_over(&turn_id));
        inputs.push(rendered(&turn_id));
        run.steps(inputs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(3000),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_laws_hold_for_any_inputs(
        beginning in beginning(),
        inputs in prop::collection::vec(raw(), 0..60),
        compact_at in prop::option::of(0..20i64),
        is_closed in any::<bool>(),
        has_hooks in any::<bool>(),
    ) {
        let mut run = Run::with_hooks(has_hooks);
        run.thread.set_limits(Some(100), compact_at);
        let mut turns = Vec::new();
        for (raw, n) in beginning.into_iter().chain(inputs).zip(1..) {
            let input = whole(raw, n, &turns);
            turns.extend(match &input {
                Input::Start(start) => Some(start.turn_id.clone()),
                Input::Review(review) => Some(review.turn_id.clone()),
                Input::Shell(shell) => Some(shell.turn_id.clone()),
                Input::Compact { turn_id } => Some(turn_id.clone()),
                _ => None,
            });
            run.step(input);
        }
        if is_closed {
            run.step(Input::Close);
        }
        settle(&mut run);
        run.check().map_err(TestCaseError::fail)?;
    }
}

/// The model fails while a request is open; what comes after belongs to nobody.
#[test]
fn events_after_the_end_of_a_response_do_nothing() {
    let mut run = Run::new();
    run.steps([
        start(1, "turn", "hi"),
        context("turn"),
        model(1, failed("no")),
    ]);
    let late = [
        model(1, completed()),
        model(1, failed("again")),
        model(1, done(0, call("cmd1"))),
        context("turn"),
        grace_over("turn"),
    ];
    assert_eq!(run.steps(late), []);
    run.assert_lawful();
}
