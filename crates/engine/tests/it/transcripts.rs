//! The conversations that the reference was seen to have, as tables of effects. What clients see comes in
//! the reference's order, except where it breaks a law; each test says where.

use quipu_engine::{Input, ModelEvent, ToolDelta, ToolEvent, Waiting};
use quipu_wire::{CommandExecutionStatus, ThreadItem};

use crate::lines::assert_lines;
use crate::make::{
    answered, ask, call, compact, compacted, completed, context, done, failed, finished,
    grace_over, interrupt, item, json, model, opened, output, rendered, review, said, shell, start,
    steer, tool, words,
};
use crate::run::Run;

/// The turn's second and last response.
fn last_response(run: &mut Run) -> Vec<quipu_engine::Effect> {
    let mut effects = run.step(model(2, opened()));
    effects.extend(run.steps(said(2, "msg_2", &["Done."])));
    effects.extend(run.step(model(2, completed())));
    effects
}

fn declined(id: &str) -> ThreadItem {
    let mut item = item(id, false);
    if let ThreadItem::CommandExecution { status, .. } = &mut item {
        *status = CommandExecutionStatus::Declined;
    }
    item
}

fn output_delta(text: &str) -> ToolEvent {
    ToolEvent::Delta(ToolDelta::CommandOutput(text.to_owned()))
}

#[test]
fn simple_turn() {
    let mut run = Run::new();
    assert_lines(
        &run.step(start(1, "turn", "hi")),
        r#"
        record turn started Regular
        answer 1: turn turn
        thread/status/changed active []
        turn/started
        build context
    "#,
    );
    assert_lines(
        &run.step(context("turn")),
        r#"
        record history "context"
        record turn context
        record history "hi"
        record user message item-hi
        item/started userMessage item-hi
        item/completed userMessage item-hi
        sample 1: Turn
    "#,
    );
    assert_lines(
        &run.step(model(1, opened())),
        r#"
        account/rateLimits/updated
    "#,
    );
    assert_lines(
        &run.steps(said(1, "msg_1", &["Hello", " there"])),
        r#"
        item/started agentMessage msg_1 ""
        item/agentMessage/delta msg_1 "Hello"
        item/agentMessage/delta msg_1 " there"
        record agent message msg_1 "Hello there"
        item/completed agentMessage msg_1 "Hello there"
        record history {"id":"msg_1"}
    "#,
    );
    assert_lines(
        &run.step(model(1, completed())),
        r#"
        record usage Some(15)
        thread/tokenUsage/updated 15 15
        account/rateLimits/updated
        record turn ended Completed Some("Hello there")
        sync
        thread/status/changed Idle
        turn/completed Completed
        announce
    "#,
    );
    run.assert_lawful();
}

#[test]
fn command_approval_accept() {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn"), model(1, opened())]);
    let called = done(0, call("call_1"));
    assert_lines(
        &run.step(model(1, called)),
        r#"
        record history {"call_id":"call_1","name":"f","type":"function_call"}
        run call_1
    "#,
    );
    assert_lines(
        &run.step(model(1, completed())),
        r#"
        record usage Some(15)
        thread/tokenUsage/updated 15 15
        account/rateLimits/updated
    "#,
    );
    let asking = [
        tool("call_1", ToolEvent::ItemStarted(item("call_1", false))),
        tool("call_1", ask(0, Some(Waiting::Approval))),
    ];
    assert_lines(
        &run.steps(asking),
        r#"
        item/started commandExecution call_1 InProgress
        thread/status/changed active [WaitingOnApproval]
        ask 0: item/fileChange/requestApproval
    "#,
    );
    assert_lines(
        &run.step(answered(0)),
        r#"
        serverRequest/resolved 0
        thread/status/changed active []
        deliver 0 to call_1
    "#,
    );
    let working = [
        tool("call_1", output_delta("hi")),
        tool("call_1", ToolEvent::ItemCompleted(item("call_1", true))),
        tool("call_1", finished("output")),
    ];
    assert_lines(
        &run.steps(working),
        r#"
        item/commandExecution/outputDelta call_1 "hi"
        record item commandExecution call_1 Completed
        item/completed commandExecution call_1 Completed
        record history "output"
        sample 2: Turn
    "#,
    );
    assert_lines(
        &last_response(&mut run),
        r#"
        thread/tokenUsage/updated 15 15
        account/rateLimits/updated
        item/started agentMessage msg_2 ""
        item/agentMessage/delta msg_2 "Done."
        record agent message msg_2 "Done."
        item/completed agentMessage msg_2 "Done."
        record history {"id":"msg_2"}
        record usage Some(30)
        thread/tokenUsage/updated 30 15
        account/rateLimits/updated
        record turn ended Completed Some("Done.")
        sync
        thread/status/changed Idle
        turn/completed Completed
        announce
    "#,
    );
    run.assert_lawful();
}

/// The reference completes the item twice; ours ends once.
#[test]
fn command_approval_decline() {
    let mut run = Run::calling("call_1");
    let declining = [
        tool("call_1", ToolEvent::ItemStarted(item("call_1", false))),
        tool("call_1", ask(0, Some(Waiting::Approval))),
        answered(0),
        tool("call_1", ToolEvent::ItemCompleted(declined("call_1"))),
        tool("call_1", ToolEvent::ItemCompleted(declined("call_1"))),
        tool("call_1", finished("rejected")),
    ];
    assert_lines(
        &run.steps(declining),
        r#"
        item/started commandExecution call_1 InProgress
        thread/status/changed active [WaitingOnApproval]
        ask 0: item/fileChange/requestApproval
        serverRequest/resolved 0
        thread/status/changed active []
        deliver 0 to call_1
        record item commandExecution call_1 Declined
        item/completed commandExecution call_1 Declined
        record history "rejected"
        sample 2: Turn
    "#,
    );
    last_response(&mut run);
    run.assert_lawful();
}

#[test]
fn command_approval_cancel() {
    let mut run = Run::calling("call_1");
    let cancelling = [
        tool("call_1", ToolEvent::ItemStarted(item("call_1", false))),
        tool("call_1", ask(0, Some(Waiting::Approval))),
        answered(0),
        tool("call_1", ToolEvent::ItemCompleted(declined("call_1"))),
        tool(
            "call_1",
            ToolEvent::Finished {
                output: vec![json("rejected")],
                end_turn: true,
            },
        ),
    ];
    assert_lines(
        &run.steps(cancelling),
        r#"
        item/started commandExecution call_1 InProgress
        thread/status/changed active [WaitingOnApproval]
        ask 0: item/fileChange/requestApproval
        serverRequest/resolved 0
        thread/status/changed active []
        deliver 0 to call_1
        record item commandExecution call_1 Declined
        item/completed commandExecution call_1 Declined
        record history "rejected"
        record history "interrupted"
        record turn ended Interrupted None
        sync
        thread/status/changed Idle
        turn/completed Interrupted
    "#,
    );
    run.assert_lawful();
}

/// The approval of a process is asked for before its item begins. The reference never begins the item of
/// one that is declined; ours begins and ends.
#[test]
fn unified_exec_approval_decline() {
    let mut run = Run::calling("call_1");
    let declining = [
        tool("call_1", ask(0, Some(Waiting::Approval))),
        answered(0),
        tool("call_1", ToolEvent::ItemCompleted(declined("call_1"))),
        tool("call_1", finished("rejected")),
    ];
    assert_lines(
        &run.steps(declining),
        r#"
        thread/status/changed active [WaitingOnApproval]
        ask 0: item/fileChange/requestApproval
        serverRequest/resolved 0
        thread/status/changed active []
        deliver 0 to call_1
        item/started commandExecution call_1 Declined
        record item commandExecution call_1 Declined
        item/completed commandExecution call_1 Declined
        record history "rejected"
        sample 2: Turn
    "#,
    );
    last_response(&mut run);
    run.assert_lawful();
}

/// The reference leaves the message open; ours completes with what was said.
#[test]
fn interrupt_streaming() {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn"), model(1, opened())]);
    run.steps(said(1, "msg_1", &["partial "]).into_iter().take(2));
    assert_lines(
        &run.step(interrupt(2)),
        r#"
        cancel sample 1
        record agent message msg_1 "partial "
        item/completed agentMessage msg_1 "partial "
        record history "interrupted"
        record turn ended Interrupted None
        sync
        answer 2: done
        thread/status/changed Idle
        turn/completed Interrupted
    "#,
    );
    run.assert_lawful();
}

/// The reference leaves the command open; ours completes, by the tool's word or without it.
#[test]
fn interrupt_command() {
    let mut run = Run::calling("call_1");
    run.steps([
        tool("call_1", ToolEvent::ItemStarted(item("call_1", false))),
        tool("call_1", output_delta("start")),
    ]);
    assert_lines(
        &run.step(interrupt(2)),
        r#"
        cancel tools
        start grace
    "#,
    );
    let mut without_word = run.thread.clone();
    let over = without_word.step(grace_over("turn"));
    assert_lines(
        &over,
        r#"
        record item commandExecution call_1 Failed
        item/completed commandExecution call_1 Failed
        record history "interrupted"
        record turn ended Interrupted None
        sync
        answer 2: done
        thread/status/changed Idle
        turn/completed Interrupted
    "#,
    );
    assert_lines(
        &run.step(tool("call_1", finished("aborted"))),
        r#"
        record item commandExecution call_1 Failed
        item/completed commandExecution call_1 Failed
        record history "aborted"
        record history "interrupted"
        record turn ended Interrupted None
        sync
        answer 2: done
        thread/status/changed Idle
        turn/completed Interrupted
    "#,
    );
    run.assert_lawful();
}

#[test]
fn interrupt_during_approval() {
    let mut run = Run::calling("call_1");
    run.steps([
        tool("call_1", ToolEvent::ItemStarted(item("call_1", false))),
        tool("call_1", ask(0, Some(Waiting::Approval))),
    ]);
    assert_lines(
        &run.step(interrupt(2)),
        r#"
        cancel tools
        start grace
    "#,
    );
    assert_lines(
        &run.step(grace_over("turn")),
        r#"
        record item commandExecution call_1 Failed
        item/completed commandExecution call_1 Failed
        record history "interrupted"
        record turn ended Interrupted None
        sync
        answer 2: done
        thread/status/changed Idle
        turn/completed Interrupted
        withdraw 0
        serverRequest/resolved 0
        deliver 0 to call_1
    "#,
    );
    assert_lines(&run.step(answered(0)), "");
    run.assert_lawful();
}

#[test]
fn steered() {
    let mut run = Run::new();
    run.steps([
        start(1, "turn", "count"),
        context("turn"),
        model(1, opened()),
    ]);
    let message = said(1, "msg_1", &["one ", "two"]);
    run.steps(message[..2].iter().cloned());
    assert_lines(
        &run.step(steer(2, "wrong", "no")),
        r#"
        answer 2: WrongTurn { expected: "wrong", actual: "turn" }
    "#,
    );
    assert_lines(
        &run.step(steer(3, "turn", "backwards")),
        r#"
        answer 3: steered turn
    "#,
    );
    run.steps(message[2..].iter().cloned());
    assert_lines(
        &run.step(model(1, completed())),
        r#"
        record usage Some(15)
        thread/tokenUsage/updated 15 15
        account/rateLimits/updated
        record history "backwards"
        record user message item-backwards
        item/started userMessage item-backwards
        item/completed userMessage item-backwards
        sample 2: Turn
    "#,
    );
    last_response(&mut run);
    run.assert_lawful();
}

#[test]
fn compact_by_hand() {
    let mut run = Run::new();
    run.steps([
        start(1, "turn1", "hi"),
        context("turn1"),
        model(1, completed()),
    ]);
    assert_lines(
        &run.step(compact("turn2")),
        r#"
        record turn started Compact
        thread/status/changed active []
        turn/started
        item/started contextCompaction
        sample 2: Compaction
    "#,
    );
    assert_lines(
        &run.step(model(2, opened())),
        r#"
        thread/tokenUsage/updated 15 15
        account/rateLimits/updated
    "#,
    );
    let summary = done(0, output("msg_2", words("summary")));
    assert_lines(
        &run.steps([model(2, summary), model(2, completed())]),
        r#"
        record usage Some(30)
        thread/tokenUsage/updated 30 15
        account/rateLimits/updated
        summarise "summary" false
    "#,
    );
    assert_lines(
        &run.step(compacted("turn2")),
        r#"
        record compacted "summary"
        record usage Some(30)
        thread/tokenUsage/updated 30 7
        account/rateLimits/updated
        record item contextCompaction
        item/completed contextCompaction
        thread/compacted
        record turn ended Completed None
        sync
        thread/status/changed Idle
        turn/completed Completed
    "#,
    );
    assert_eq!(run.thread.history(), [json("summary")]);
    run.assert_lawful();
}

/// The reference enters the review before its turn begins, under another id than that of the turn, and
/// shows the reviewer's raw words as a message that never ends. All events of our turn carry its id, and
/// come after its start.
#[test]
fn review_inline() {
    let mut run = Run::new();
    assert_lines(
        &run.step(review(1, "turn", "commit 1234567")),
        r#"
        record turn started Review
        answer 1: turn turn
        thread/status/changed active []
        turn/started
        record entered review "commit 1234567"
        item/started enteredReviewMode turn "commit 1234567"
        item/completed enteredReviewMode turn "commit 1234567"
        record user message item-review turn
        item/started userMessage item-review turn
        item/completed userMessage item-review turn
        sample 1: Review
    "#,
    );
    assert_lines(&run.step(model(1, opened())), "");
    assert_lines(&run.steps(said(1, "msg_r", &["{}"])), "");
    assert_lines(
        &run.step(model(1, completed())),
        r#"
        render review Some("{}") false
    "#,
    );
    assert_lines(
        &run.step(rendered("turn")),
        r#"
        record history "user action"
        record exited review Some("{}") "shown"
        item/started exitedReviewMode turn "shown"
        item/completed exitedReviewMode turn "shown"
        record history "agent"
        item/started agentMessage review_rollout_assistant "said"
        record agent message review_rollout_assistant "said"
        item/completed agentMessage review_rollout_assistant "said"
        record turn ended Completed None
        sync
        thread/status/changed Idle
        turn/completed Completed
        announce
    "#,
    );
    assert_eq!(run.thread.history(), [json("user action"), json("agent")]);
    run.assert_lawful();
}

#[test]
fn failed_turn() {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn")]);
    assert_lines(
        &run.step(model(1, failed("high demand"))),
        r#"
        record error "high demand"
        thread/status/changed SystemError
        error "high demand" will retry: false
        record turn ended Failed "high demand" None
        sync
        turn/completed failed "high demand"
    "#,
    );
    assert_lines(
        &run.step(start(2, "turn2", "again")),
        r#"
        record turn started Regular
        answer 2: turn turn2
        thread/status/changed active []
        turn/started
        build context
    "#,
    );
    run.step(Input::Close);
    run.assert_lawful();
}

/// A provider that refuses because nothing is left says so in the limits first.
#[test]
fn used_up() {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn")]);
    assert_lines(
        &run.steps([model(1, opened()), model(1, failed("usage limit"))]),
        r#"
        account/rateLimits/updated
        record error "usage limit"
        thread/status/changed SystemError
        error "usage limit" will retry: false
        record turn ended Failed "usage limit" None
        sync
        turn/completed failed "usage limit"
    "#,
    );
    run.assert_lawful();
}

/// An idle thread has nothing to store when it is unloaded; a log that does not exist yet stays so.
#[test]
fn unused() {
    let mut run = Run::new();
    assert_lines(
        &run.step(Input::Close),
        r#"
        thread/status/changed NotLoaded
    "#,
    );
    run.assert_lawful();
}

/// The reference does not tell that the call of a client's tool is settled; ours says so of every request.
#[test]
fn dynamic_tool() {
    let mut run = Run::calling("dyn_1");
    let calling = [
        tool("dyn_1", ToolEvent::ItemStarted(item("dyn_1", false))),
        tool("dyn_1", ask(0, None)),
    ];
    assert_lines(
        &run.steps(calling),
        r#"
        record dynamic call dyn_1
        item/started dynamicToolCall dyn_1 InProgress
        ask 0: item/fileChange/requestApproval
    "#,
    );
    let answered = [
        answered(0),
        tool("dyn_1", ToolEvent::ItemCompleted(item("dyn_1", true))),
        tool("dyn_1", finished("open")),
    ];
    assert_lines(
        &run.steps(answered),
        r#"
        serverRequest/resolved 0
        deliver 0 to dyn_1
        record item dynamicToolCall dyn_1 Completed
        item/completed dynamicToolCall dyn_1 Completed
        record history "open"
        sample 2: Turn
    "#,
    );
    last_response(&mut run);
    run.assert_lawful();
}

#[test]
fn shell_command() {
    let mut run = Run::new();
    assert_lines(
        &run.step(shell("turn", "sh")),
        r#"
        record turn started Shell
        thread/status/changed active []
        turn/started
        run shell sh
    "#,
    );
    let working = [
        tool("sh", ToolEvent::ItemStarted(item("sh", false))),
        tool("sh", output_delta("out")),
        tool("sh", ToolEvent::ItemCompleted(item("sh", true))),
        tool("sh", finished("record")),
    ];
    assert_lines(
        &run.steps(working),
        r#"
        item/started commandExecution sh InProgress
        item/commandExecution/outputDelta sh "out"
        record item commandExecution sh Completed
        item/completed commandExecution sh Completed
        record history "record"
        record turn ended Completed None
        sync
        thread/status/changed Idle
        turn/completed Completed
    "#,
    );
    run.assert_lawful();
}

#[test]
fn plan_mode_with_a_question() {
    let mut run = Run::calling("call_ui");
    let asking = [
        tool("call_ui", ask(0, Some(Waiting::UserInput))),
        answered(0),
        tool("call_ui", finished("answers")),
    ];
    assert_lines(
        &run.steps(asking),
        r#"
        thread/status/changed active [WaitingOnUserInput]
        ask 0: item/fileChange/requestApproval
        serverRequest/resolved 0
        thread/status/changed active []
        deliver 0 to call_ui
        record history "answers"
        sample 2: Turn
    "#,
    );
    let delta = |text: &str| ModelEvent::TextDelta {
        slot: 0,
        delta: text.to_owned(),
    };
    let planning = [
        opened(),
        ModelEvent::ItemStarted {
            slot: 0,
            item: output("msg_1", words("")),
        },
        delta("Intro"),
        ModelEvent::PlanDelta {
            delta: String::new(),
        },
        ModelEvent::PlanDelta {
            delta: "the plan".to_owned(),
        },
        delta("Outro"),
        ModelEvent::PlanDone {
            text: "the plan".to_owned(),
        },
        done(0, output("msg_1", words("IntroOutro"))),
        completed(),
    ];
    assert_lines(
        &run.steps(planning.map(|event| model(2, event))),
        r#"
        thread/tokenUsage/updated 15 15
        account/rateLimits/updated
        item/started agentMessage msg_1 ""
        item/agentMessage/delta msg_1 "Intro"
        item/started plan turn-plan ""
        item/plan/delta turn-plan "the plan"
        item/agentMessage/delta msg_1 "Outro"
        record item plan turn-plan "the plan"
        item/completed plan turn-plan "the plan"
        record agent message msg_1 "IntroOutro"
        item/completed agentMessage msg_1 "IntroOutro"
        record history {"id":"msg_1"}
        record usage Some(30)
        thread/tokenUsage/updated 30 15
        account/rateLimits/updated
        record turn ended Completed Some("IntroOutro")
        sync
        thread/status/changed Idle
        turn/completed Completed
        announce
    "#,
    );
    run.assert_lawful();
}
