//! Single cases that once went wrong, or that the random ones reach too rarely to be trusted with.

use quipu_engine::{Effect, Input, ModelEvent, ToolDelta, ToolEvent, Waiting};
use quipu_wire::{GuardianApprovalReviewStatus, ServerNotification, ThreadStatus};

use crate::lines::assert_lines;
use crate::make::{
    answered, ask, call, compact, compacted, completed, context, done, error, failed, finished,
    grace_over, interrupt, item, json, model, output, rendered, review, reviewing, said, shell,
    start, steer, tokens, tool, words,
};
use crate::run::Run;

/// A run that waits for the model's first response.
fn asking() -> Run {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn")]);
    run
}

fn note(text: &str) -> ToolEvent {
    ToolEvent::Note(json(text))
}

#[test]
fn a_review_of_an_action_ends_with_its_turn() {
    let mut run = Run::calling("call");
    run.step(tool("call", reviewing("target")));
    run.step(interrupt(2));
    let messages = run.step(tool("call", finished("aborted")));
    let reviews: Vec<_> = messages
        .iter()
        .filter_map(|effect| match effect {
            Effect::Notify(ServerNotification::ItemAutoApprovalReviewCompleted(it)) => Some(it),
            _ => None,
        })
        .collect();
    assert_eq!(reviews.len(), 1);
    assert_eq!(reviews[0].target_item_id, "target");
    assert_eq!(
        reviews[0].review.status,
        GuardianApprovalReviewStatus::Aborted
    );
    assert_eq!(reviews[0].action, Some(json("action")));
    run.assert_lawful();
}

#[test]
fn input_is_kept_when_a_turn_is_interrupted_before_its_context() {
    let mut run = Run::new();
    run.step(start(1, "turn", "hi"));
    let effects = run.step(interrupt(2));
    assert_lines(
        &effects,
        r#"
        record history "hi"
        record user message item-hi
        item/started userMessage item-hi
        item/completed userMessage item-hi
        record history "interrupted"
        record turn ended Interrupted None
        sync
        answer 2: done
        thread/status/changed Idle
        turn/completed Interrupted
    "#,
    );
    assert_eq!(run.step(context("turn")), []);
    run.assert_lawful();
}

#[test]
fn input_is_kept_when_a_turn_fails_is_replaced_or_faults() {
    let ends = [
        model(1, failed("no")),
        compact("other"),
        Input::Fault {
            error: error("disk"),
        },
        Input::Close,
        interrupt(3),
    ];
    for end in ends {
        let mut run = asking();
        run.steps([steer(2, "turn", "more"), end]);
        assert!(run.thread.own_history().contains(&json("more")));
        run.step(Input::Close);
        run.assert_lawful();
    }
}

#[test]
fn an_interrupted_compaction_changes_nothing() {
    let mut run = asking();
    run.steps([
        model(1, completed()),
        compact("compact"),
        model(2, completed()),
    ]);
    let before = run.thread.history().to_vec();
    run.steps([interrupt(2), compacted("compact")]);
    assert_eq!(
        run.thread.history(),
        [before, vec![json("interrupted")]].concat()
    );
    run.assert_lawful();
}

#[test]
fn a_review_that_is_ready_is_shown_though_interrupted() {
    let mut run = Run::new();
    run.steps([review(1, "turn", "all"), model(1, completed())]);
    assert_eq!(run.step(interrupt(2)), []);
    run.step(rendered("turn"));
    assert!(run.thread.own_history().contains(&json("agent")));
    run.assert_lawful();
}

#[test]
fn only_what_is_waited_for_counts() {
    let mut run = Run::new();
    run.step(start(1, "turn", "hi"));
    assert_eq!(
        run.steps([compacted("turn"), rendered("turn"), context("other")]),
        []
    );
    assert_lines(
        &run.steps([context("turn"), model(1, completed())])[7..],
        TURN_END,
    );
    run.assert_lawful();
}

const TURN_END: &str = r#"
    record usage Some(15)
    thread/tokenUsage/updated 15 15
    account/rateLimits/updated
    record turn ended Completed None
    sync
    thread/status/changed Idle
    turn/completed Completed
    announce
"#;

/// The request is answered before the turn that makes room for it has ended.
#[test]
fn a_review_takes_the_place_of_a_turn() {
    let mut run = asking();
    assert_lines(
        &run.step(review(2, "review", "all"))[..8],
        r#"
        answer 2: turn review
        cancel sample 1
        record turn ended Replaced None
        sync
        thread/status/changed Idle
        turn/completed Interrupted
        record turn started Review
        thread/status/changed active []
    "#,
    );
    run.step(Input::Close);
    run.assert_lawful();
}

#[test]
fn the_diff_of_a_turn_is_repeated_when_a_response_and_its_calls_are_done() {
    let mut run = Run::calling("pat");
    run.step(tool("pat", ToolEvent::DiffUpdated("diff".to_owned())));
    assert_lines(
        &run.step(tool("pat", finished("output")))[..1],
        "turn/diff/updated diff",
    );
    assert_lines(
        &run.step(model(2, completed()))[3..4],
        "turn/diff/updated diff",
    );
    run.assert_lawful();
}

/// Whatever clients ask for while a turn ends is done after it, in the order they asked.
#[test]
fn requests_wait_in_order_for_a_turn_that_ends() {
    let mut run = Run::calling("cmd");
    run.steps([interrupt(2), interrupt(3)]);
    let waiting = [
        start(4, "second", "two"),
        start(5, "never", "three"),
        review(6, "review", "all"),
        interrupt(7),
        start(8, "last", "four"),
    ];
    assert_lines(&run.steps(waiting), "answer 6: turn review");
    assert_lines(
        &run.step(steer(9, "turn", "late")),
        "answer 9: NoActiveTurn",
    );
    let effects = run.step(tool("cmd", finished("stopped")));
    let messages: Vec<&Effect> = effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Answer { .. } | Effect::RenderReview { .. }))
        .collect();
    let messages: Vec<Effect> = messages.into_iter().cloned().collect();
    assert_lines(
        &messages,
        "
        answer 2: done
        answer 3: done
        answer 4: turn second
        answer 5: turn second
        render review None true
    ",
    );
    let effects = run.step(rendered("review"));
    assert!(effects.contains(&Effect::BuildContext {
        turn_id: "last".into()
    }));
    run.step(interrupt(10));
    run.assert_lawful();
}

#[test]
fn requests_that_wait_are_bounded() {
    let mut run = Run::calling("cmd");
    run.step(interrupt(2));
    for reply in 3..200 {
        run.step(start(
            reply,
            &format!("turn{reply}"),
            &format!("text {reply}"),
        ));
    }
    assert_lines(&run.step(interrupt(200)), "answer 200: done");
    run.steps([grace_over("turn"), Input::Close]);
    run.assert_lawful();
}

#[test]
fn an_accepted_review_ends_though_the_thread_is_closed_first() {
    let mut run = Run::calling("cmd");
    run.steps([
        compact("never"),
        review(2, "review", "all"),
        start(3, "turn3", "three"),
    ]);
    run.steps([
        Input::Close,
        Input::Close,
        start(4, "turn4", "four"),
        interrupt(5),
    ]);
    assert_eq!(run.thread.status(), &ThreadStatus::NotLoaded);
    run.assert_lawful();
}

/// Ids are the model's choice, but what clients see has ids of its own where the model repeats itself.
#[test]
fn repeated_item_ids_are_distinguished() {
    let mut run = asking();
    let twice = [said(1, "msg", &["one"]), said(1, "msg", &["two"])].concat();
    run.steps(twice);
    let again = ModelEvent::ItemStarted {
        slot: 0,
        item: output("msg", words("")),
    };
    run.steps([
        model(1, again),
        model(
            1,
            ModelEvent::Retrying {
                error: Some(error("cut")),
            },
        ),
    ]);
    let effects = run.steps(said(1, "msg", &["four"]));
    assert_lines(
        &effects,
        r#"
        item/started agentMessage msg-4 ""
        item/agentMessage/delta msg-4 "four"
        record agent message msg-4 "four"
        item/completed agentMessage msg-4 "four"
        record history {"id":"msg"}
    "#,
    );
    run.step(model(1, completed()));
    run.assert_lawful();
}

/// The call, its output and its item must name each other, so the history gets the new id too.
#[test]
fn repeated_call_ids_are_distinguished() {
    let mut run = asking();
    let calls = [
        model(1, done(0, call("cmd"))),
        model(1, done(1, call("cmd"))),
    ];
    let effects = run.steps(calls);
    assert_lines(
        &effects,
        r#"
        record history {"call_id":"cmd","name":"f","type":"function_call"}
        run cmd
        record history {"call_id":"cmd-2","name":"f","type":"function_call"}
        run cmd-2
    "#,
    );
    run.steps([
        model(1, completed()),
        tool("cmd-2", finished("b")),
        tool("cmd", finished("a")),
    ]);
    let history = run.thread.history();
    assert_eq!(history[history.len() - 2..], [json("a"), json("b")]);
    run.step(model(2, completed()));
    run.assert_lawful();
}

#[test]
fn what_an_earlier_turn_left_behind_keeps_its_id() {
    let mut run = Run::calling("cmd");
    run.steps([
        interrupt(2),
        grace_over("turn"),
        start(3, "turn2", "again"),
        context("turn2"),
    ]);
    let effects = run.step(model(2, done(0, call("cmd"))));
    assert_lines(&effects[1..], "run cmd-2");
    assert_eq!(run.step(tool("cmd", finished("much too late"))), []);
    run.steps([
        tool("cmd-2", finished("in time")),
        model(2, completed()),
        model(3, completed()),
    ]);
    run.assert_lawful();
}

#[test]
fn a_process_reports_after_its_turn() {
    let mut run = Run::calling("bg-1");
    run.steps([
        tool("bg-1", ToolEvent::ItemStarted(item("bg-1", false))),
        tool("bg-1", finished("running")),
        model(2, completed()),
    ]);
    let late = [
        tool(
            "bg-1",
            ToolEvent::Delta(ToolDelta::CommandOutput("out".to_owned())),
        ),
        tool("bg-1", note("noted")),
        tool("bg-1", ask(0, Some(Waiting::Approval))),
        tool("bg-1", ToolEvent::ItemCompleted(item("bg-1", true))),
        tool("bg-1", ToolEvent::ItemCompleted(item("bg-1", true))),
    ];
    assert_lines(
        &run.steps(late),
        r#"
        item/commandExecution/outputDelta bg-1 "out"
        record history "noted"
        deliver 0 to bg-1
        record item commandExecution bg-1 Completed
        item/completed commandExecution bg-1 Completed
    "#,
    );
    run.assert_lawful();
}

#[test]
fn a_process_ends_once_whichever_call_reports_of_it() {
    let mut run = Run::calling("bg-1");
    run.steps([
        tool("bg-1", ToolEvent::ItemStarted(item("bg-1", false))),
        tool("bg-1", finished("running")),
        model(2, completed()),
        start(2, "turn2", "next"),
        context("turn2"),
        model(3, done(0, call("cmd"))),
    ]);
    let doubled = tool("cmd", ToolEvent::ItemStarted(item("bg-1", false)));
    assert_eq!(run.step(doubled), []);
    run.steps([
        tool("cmd", ToolEvent::ItemCompleted(item("bg-1", true))),
        tool("cmd", finished("output")),
        model(3, completed()),
        model(4, completed()),
        Input::Close,
    ]);
    run.assert_lawful();
}

#[test]
fn a_process_that_runs_at_the_end_of_the_thread_is_recorded_as_failed() {
    let mut run = Run::calling("bg-1");
    run.step(tool("bg-1", ToolEvent::ItemStarted(item("bg-1", false))));
    run.steps([interrupt(2), grace_over("turn")]);
    assert_lines(
        &run.step(Input::Close),
        r#"
        record item commandExecution bg-1 Failed
        item/completed commandExecution bg-1 Failed
        sync
        thread/status/changed NotLoaded
    "#,
    );
    run.assert_lawful();
}

#[test]
fn a_command_of_the_user_does_not_hold_the_turn() {
    let mut run = Run::calling("cmd");
    run.step(shell("never", "sh"));
    run.steps([tool("cmd", finished("output")), model(2, completed())]);
    assert_eq!(run.thread.active_turn(), None);
    run.steps([start(2, "turn2", "next"), context("turn2")]);
    let working = [
        tool("sh", ToolEvent::ItemStarted(item("sh", false))),
        tool("sh", ToolEvent::ItemCompleted(item("sh", true))),
        tool("sh", finished("shell output")),
    ];
    assert_lines(
        &run.steps(working),
        r#"
        item/started commandExecution sh InProgress
        record item commandExecution sh Completed
        item/completed commandExecution sh Completed
    "#,
    );
    // The running turn takes the output like any other input.
    assert_lines(
        &run.step(model(3, completed()))[3..],
        "record history \"shell output\"\nsample 4: Turn",
    );
    run.step(model(4, completed()));
    run.assert_lawful();
}

#[test]
fn a_failure_of_the_model_does_not_stop_the_users_command_but_an_interrupt_does() {
    let mut run = asking();
    run.step(shell("never", "sh"));
    let mut failing = run.thread.clone();
    let effects = failing.step(model(1, failed("no")));
    assert!(!effects.contains(&Effect::CancelTools {
        turn_id: "turn".into()
    }));
    assert_eq!(failing.active_turn(), None);
    assert_lines(
        &run.step(interrupt(2)),
        "cancel sample 1\ncancel tools\nstart grace",
    );
    run.step(tool("sh", finished("aborted")));
    run.assert_lawful();
}

/// The reference loses such a turn.
#[test]
fn input_for_the_users_command_makes_it_an_ordinary_turn() {
    let mut run = Run::new();
    run.steps([
        shell("turn", "sh"),
        steer(1, "turn", "why?"),
        start(2, "never", "well?"),
    ]);
    assert_lines(&run.step(tool("sh", finished("output"))), "build context");
    run.steps([context("turn"), model(1, completed())]);
    let history = ["context", "why?", "well?", "output"].map(json);
    assert_eq!(run.thread.history(), history);
    run.assert_lawful();
}

#[test]
fn a_model_that_fails_takes_its_tools_with_it() {
    let mut run = asking();
    run.step(model(1, done(0, call("cmd"))));
    run.step(tool("cmd", ask(0, Some(Waiting::Approval))));
    assert_lines(
        &run.step(model(1, failed("cut"))),
        r#"
        record error "cut"
        withdraw 0
        serverRequest/resolved 0
        deliver 0 to cmd
        thread/status/changed SystemError
        error "cut" will retry: false
        cancel tools
        start grace
    "#,
    );
    run.steps([interrupt(2), start(3, "turn2", "again")]);
    let effects = run.step(tool("cmd", finished("stopped")));
    assert_lines(
        &effects[..7],
        r#"
        record history "stopped"
        record turn ended Failed "cut" None
        sync
        answer 2: done
        turn/completed failed "cut"
        record turn started Regular
        answer 3: turn turn2
    "#,
    );
    run.step(Input::Close);
    run.assert_lawful();
}

#[test]
fn a_question_is_withdrawn_when_its_tool_ends() {
    let mut run = Run::calling("cmd");
    run.step(tool("cmd", ask(0, Some(Waiting::UserInput))));
    assert_lines(
        &run.step(tool("cmd", finished("timed out"))),
        r#"
        withdraw 0
        serverRequest/resolved 0
        deliver 0 to cmd
        thread/status/changed active []
        record history "timed out"
        sample 2: Turn
    "#,
    );
    assert_eq!(run.step(answered(0)), []);
    run.step(model(2, completed()));
    run.assert_lawful();
}

#[test]
fn a_failed_review_is_left() {
    let mut run = Run::new();
    run.steps([review(1, "turn", "all"), model(1, done(0, call("cmd")))]);
    run.step(tool("cmd", finished("for the reviewer")));
    let effects = run.step(model(1, failed("no")));
    assert_lines(
        &effects,
        r#"
        record error "no"
        thread/status/changed SystemError
        error "no" will retry: false
        render review None true
    "#,
    );
    run.step(rendered("turn"));
    assert_eq!(
        run.thread.own_history(),
        [json("user action"), json("agent")]
    );
    run.assert_lawful();
}

#[test]
fn a_compaction_takes_the_place_of_a_review() {
    let mut run = Run::new();
    run.steps([review(1, "review", "all"), compact("compact")]);
    let effects = run.step(rendered("review"));
    assert_lines(&effects[effects.len() - 1..], "sample 2: Compaction");
    run.steps([model(2, completed()), compacted("compact")]);
    assert_eq!(run.thread.history(), [json("summary")]);
    run.assert_lawful();
}

#[test]
fn a_note_waits_for_the_end_of_a_review() {
    let mut run = Run::new();
    run.steps([
        review(1, "turn", "all"),
        shell("never", "sh"),
        tool("sh", finished("output")),
    ]);
    run.steps([model(1, completed()), rendered("turn")]);
    assert_eq!(
        run.thread.own_history(),
        ["user action", "agent", "output"].map(json)
    );
    run.assert_lawful();
}

#[test]
fn a_full_window_makes_the_next_turn_compact_first() {
    let mut run = asking();
    run.thread.set_limits(Some(1000), Some(900));
    run.step(model(
        1,
        ModelEvent::Failed {
            error: error("full"),
            window_exceeded: true,
        },
    ));
    assert_eq!(run.thread.usage().unwrap().last.total_tokens, 1000);
    let effects = run.step(start(2, "turn2", "again"));
    assert_lines(&effects[effects.len() - 1..], "sample 2: Compaction");
    let effects = run.steps([model(2, completed()), compacted("turn2")]);
    assert_lines(&effects[effects.len() - 1..], "build context");
    run.steps([context("turn2"), model(3, completed())]);
    assert_eq!(
        run.thread.history(),
        ["summary", "context", "again"].map(json)
    );
    run.assert_lawful();
}

#[test]
fn a_reviewers_full_window_is_not_the_threads() {
    let mut run = Run::new();
    run.thread.set_limits(Some(1000), Some(900));
    run.step(review(1, "turn", "all"));
    run.step(model(
        1,
        ModelEvent::Failed {
            error: error("full"),
            window_exceeded: true,
        },
    ));
    run.step(rendered("turn"));
    assert_eq!(run.thread.usage(), None);
    run.assert_lawful();
}

#[test]
fn input_waits_for_a_compaction_in_the_middle_of_a_turn() {
    let mut run = asking();
    run.thread.set_limits(Some(1000), Some(10));
    run.steps([
        model(1, done(0, call("cmd"))),
        tool("cmd", finished("output")),
    ]);
    run.step(steer(2, "turn", "more"));
    run.step(model(1, completed()));
    run.step(model(2, completed()));
    let effects = run.step(compacted("turn"));
    assert_lines(&effects[effects.len() - 1..], "sample 3: Turn");
    assert_eq!(run.thread.history(), [json("summary"), json("more")]);
    run.step(model(3, completed()));
    run.assert_lawful();
}

#[test]
fn a_lying_model_does_no_harm() {
    let mut run = asking();
    let part = |index| ModelEvent::ReasoningSummaryDelta {
        slot: 1,
        index,
        delta: "x".to_owned(),
    };
    let thought = || quipu_engine::ModelItem::Reasoning {
        summary: Vec::new(),
        content: Vec::new(),
    };
    let lies = [
        ModelEvent::TextDelta {
            slot: 7,
            delta: "nowhere".to_owned(),
        },
        ModelEvent::ItemStarted {
            slot: 1,
            item: output("rs", thought()),
        },
        ModelEvent::TextDelta {
            slot: 1,
            delta: "not a message".to_owned(),
        },
        part(u32::MAX),
        part(1),
        done(1, output("msg", words("another kind"))),
        ModelEvent::Completed {
            usage: Some(tokens(i64::MAX)),
            mismatch: None,
        },
    ];
    assert_lines(
        &run.steps(lies.map(|event| model(1, event)))[..9],
        r#"
        item/started reasoning rs []
        item/reasoning/summaryTextDelta rs "x"
        item/reasoning/summaryTextDelta rs "x"
        record reasoning rs
        item/completed reasoning rs ["", "x"]
        item/started agentMessage msg "another kind"
        record agent message msg "another kind"
        item/completed agentMessage msg "another kind"
        record history {"id":"msg"}
    "#,
    );
    run.steps([start(2, "turn2", "again"), context("turn2")]);
    run.step(model(
        2,
        ModelEvent::Completed {
            usage: Some(tokens(i64::MAX)),
            mismatch: None,
        },
    ));
    assert_eq!(run.thread.usage().unwrap().total.total_tokens, i64::MAX);
    run.assert_lawful();
}

#[test]
fn raw_items_are_reported_after_they_are_recorded() {
    let mut run = Run::new();
    run.thread.show_raw_items();
    run.step(start(1, "turn", "hi"));
    let mut effects = run.step(context("turn"));
    effects.retain(|effect| !matches!(effect, Effect::Sample { .. }));
    assert_lines(
        &effects,
        r#"
        record history "context"
        rawResponseItem/completed
        record turn context
        record history "hi"
        rawResponseItem/completed
        record user message item-hi
        item/started userMessage item-hi
        item/completed userMessage item-hi
    "#,
    );
    run.step(interrupt(2));
    run.assert_lawful();
}

#[test]
fn a_tool_that_asks_while_its_turn_ends_gets_no_answer() {
    let mut run = Run::calling("cmd");
    run.step(interrupt(2));
    let asked = tool("cmd", ask(0, Some(Waiting::Approval)));
    assert_lines(&run.step(asked), "deliver 0 to cmd");
    run.step(grace_over("turn"));
    run.assert_lawful();
}

/// A slot holds one item; what a response leaves open ends with it.
#[test]
fn items_that_the_model_does_not_end_are_ended() {
    let mut run = asking();
    let begin = |id| ModelEvent::ItemStarted {
        slot: 0,
        item: output(id, words("")),
    };
    let delta = ModelEvent::TextDelta {
        slot: 0,
        delta: "for the second".to_owned(),
    };
    let events = [begin("msg_1"), begin("msg_2"), delta, completed()];
    assert_lines(
        &run.steps(events.map(|event| model(1, event)))[..7],
        r#"
        item/started agentMessage msg_1 ""
        record agent message msg_1 ""
        item/completed agentMessage msg_1 ""
        item/started agentMessage msg_2 ""
        item/agentMessage/delta msg_2 "for the second"
        record agent message msg_2 "for the second"
        item/completed agentMessage msg_2 "for the second"
    "#,
    );
    run.assert_lawful();
}
