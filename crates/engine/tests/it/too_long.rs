//! What no record of the log could hold: items complete all the same, with what fits.

use quipu_engine::{Effect, MAX_RECORDED, ModelEvent, ModelItem, ToolEvent};
use quipu_wire::{
    Json, McpToolCallResult, McpToolCallStatus, ServerNotification, ThreadItem, TurnStatus,
};

use crate::make::{completed, context, done, finished, item, model, output, start, tool, words};
use crate::run::Run;

const MIB: usize = 1 << 20;
/// What a text that was cut ends with.
const CUT: &str = "\n\n[The rest is too long to be stored.]";
/// How many bytes of which each takes six fit into an item.
const WRITTEN: usize = (MAX_RECORDED - (64 << 10)) / 6;

fn told(effects: &[Effect]) -> impl Iterator<Item = &ServerNotification> {
    effects.iter().filter_map(|effect| match effect {
        Effect::Notify(notification) => Some(notification),
        _ => None,
    })
}

fn ended(effects: &[Effect]) -> Vec<&ThreadItem> {
    let items = told(effects).filter_map(|it| match it {
        ServerNotification::ItemCompleted(params) => Some(&params.item),
        _ => None,
    });
    items.collect()
}

/// How the turn ended, and why.
fn end(effects: &[Effect]) -> (TurnStatus, String) {
    let mut ends = told(effects).filter_map(|it| match it {
        ServerNotification::TurnCompleted(params) => Some(&params.turn),
        _ => None,
    });
    let turn = ends.next().expect("the turn has ended");
    let error = turn.error.as_ref().map(|error| error.message.clone());
    (turn.status, error.unwrap_or_default())
}

/// Plays a model that starts an item and adds to it without end.
fn overflow(begin: Option<ModelItem>, more: impl Fn(String) -> ModelEvent) -> ThreadItem {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn")]);
    let begin = begin.map(|item| ModelEvent::ItemStarted {
        slot: 0,
        item: output("m", item),
    });
    // As JSON, this text is six times as long.
    let deltas = (0..40).map(|_| more("\u{1}".repeat(3 * MIB / 2)));
    let effects = run.steps(begin.into_iter().chain(deltas).map(|it| model(1, it)));
    run.assert_lawful();
    let (status, error) = end(&effects);
    assert_eq!(status, TurnStatus::Failed);
    assert!(error.contains("too long to be stored"), "{error}");
    let items = ended(&effects);
    let [item] = items.as_slice() else {
        panic!("{} items ended", items.len());
    };
    assert!(Json::new(item).unwrap().get().len() <= MAX_RECORDED);
    (*item).clone()
}

/// Whether a text is all that fits, and says that there was more.
fn is_cut(text: &str) -> bool {
    text.strip_suffix(CUT)
        .is_some_and(|text| text.len() == WRITTEN)
}

#[test]
fn an_item_that_grows_without_end_completes_with_what_fits() {
    let item = overflow(Some(words("")), |delta| ModelEvent::TextDelta {
        slot: 0,
        delta,
    });
    let ThreadItem::AgentMessage { text, .. } = item else {
        panic!("not a message");
    };
    assert!(is_cut(&text));
    let item = overflow(None, |delta| ModelEvent::PlanDelta { delta });
    assert!(matches!(item, ThreadItem::Plan { text, .. } if is_cut(&text)));
    let thoughts = || {
        Some(ModelItem::Reasoning {
            summary: Vec::new(),
            content: Vec::new(),
        })
    };
    let item = overflow(thoughts(), |delta| ModelEvent::ReasoningSummaryDelta {
        slot: 0,
        index: 0,
        delta,
    });
    assert!(matches!(item, ThreadItem::Reasoning { summary, .. } if is_cut(&summary[0])));
    let item = overflow(thoughts(), |delta| ModelEvent::ReasoningTextDelta {
        slot: 0,
        index: 1,
        delta,
    });
    assert!(matches!(item, ThreadItem::Reasoning { content, .. } if is_cut(&content[1])));
}

/// Plain text takes one byte for one.
#[test]
fn an_answer_of_plain_text_may_be_as_long_as_a_record() {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn")]);
    let words = words(&"x".repeat(30 * MIB));
    let effects = run.steps([model(1, done(0, output("m", words))), model(1, completed())]);
    run.assert_lawful();
    assert_eq!(end(&effects).0, TurnStatus::Completed);
}

/// A message that arrives whole and does not fit completes with what does, and says that it was cut.
#[test]
fn a_message_that_is_too_long_when_done_is_cut() {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn")]);
    let effects = run.step(model(
        1,
        done(0, output("m", words(&"é\"".repeat(12 * MIB)))),
    ));
    run.assert_lawful();
    assert_eq!(end(&effects).0, TurnStatus::Failed);
    let items = ended(&effects);
    let [ThreadItem::AgentMessage { text, .. }] = items.as_slice() else {
        panic!("{} items ended", items.len());
    };
    assert!(text.ends_with(CUT));
    let size = Json::new(items[0]).unwrap().get().len();
    assert!(size <= MAX_RECORDED && size > 30 * MIB, "{size}");
}

/// Nothing of it is left in the history either: the next request would fail on it.
#[test]
fn an_item_that_is_too_long_when_done_fails_the_turn() {
    let mut huge = output("m", words("short"));
    huge.raw = Json::new(&"x".repeat(MAX_RECORDED)).unwrap();
    let mut call = crate::make::call("cmd");
    call.raw = Json::new(&"x".repeat(MAX_RECORDED / 2)).unwrap();
    let control = "\u{1}".repeat(6 * MIB);
    for item in [output("m", words(&control)), huge, call] {
        let mut run = Run::new();
        run.steps([start(1, "turn", "hi"), context("turn")]);
        let history = run.thread.history().len();
        let effects = run.step(model(1, done(0, item)));
        run.assert_lawful();
        assert_eq!(end(&effects).0, TurnStatus::Failed);
        assert_eq!(run.thread.history().len(), history);
    }
}

#[test]
fn a_result_that_is_too_long_fails_its_call_and_not_the_turn() {
    let mut run = Run::calling("mcp");
    let mut answered = item("mcp", true);
    if let ThreadItem::McpToolCall { result, .. } = &mut answered {
        *result = Some(McpToolCallResult {
            content: vec![Json::new(&"x".repeat(MAX_RECORDED)).unwrap()],
            structured_content: None,
        });
    }
    let events = [
        ToolEvent::ItemStarted(item("mcp", false)),
        ToolEvent::ItemCompleted(answered),
        finished("short"),
    ];
    let mut effects = run.steps(events.map(|event| tool("mcp", event)));
    effects.extend(run.step(model(run.last_sample(), completed())));
    run.assert_lawful();
    assert_eq!(end(&effects).0, TurnStatus::Completed);
    let items = ended(&effects);
    let [ThreadItem::McpToolCall { status, error, .. }] = items.as_slice() else {
        panic!("{} items ended", items.len());
    };
    assert_eq!(*status, McpToolCallStatus::Failed);
    let error = error.as_ref().map(|it| it.message.as_str());
    assert!(error.unwrap().contains("can be stored"), "{error:?}");
}

#[test]
fn an_output_that_is_too_long_is_replaced_in_the_history() {
    let mut run = Run::calling("mcp");
    let said = serde_json::json!({ "call_id": "mcp", "output": "x".repeat(MAX_RECORDED) });
    let finished = ToolEvent::Finished {
        output: vec![said.into()],
        end_turn: false,
    };
    run.step(tool("mcp", finished));
    let kept = run.thread.history().last().unwrap().to_value();
    assert_eq!(kept["call_id"], "mcp");
    let kept = kept["output"].as_str().unwrap();
    assert!(kept.contains("can be stored"), "{kept}");
}
