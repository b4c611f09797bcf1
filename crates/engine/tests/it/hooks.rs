//! Hooks at the points of a turn, in the order in which the reference was seen to run them.

use quipu_engine::{HookReport, HookVerdict, HooksDone, Input};

use crate::lines::assert_lines;
use crate::make::{
    answered, call, completed, context, done, finished, go_on, hook_run, hooks, hooks_ask,
    hooks_done, interrupt, json, model, rendered, review, said, start, steer, tool,
};
use crate::run::Run;

/// A turn whose input hooks have let pass, and whose model is asked.
fn asking() -> Run {
    let mut run = Run::with_hooks(true);
    run.steps([
        start(1, "turn", "hi"),
        context("turn"),
        hooks_done(1, HookVerdict::Proceed),
        hooks_done(2, HookVerdict::Proceed),
    ]);
    run
}

#[test]
fn a_turn_waits_for_its_hooks() {
    let mut run = Run::with_hooks(true);
    run.step(start(1, "turn", "hi"));
    assert_lines(
        &run.step(context("turn")),
        r#"
        record history "context"
        record turn context
        run hooks 1: session start
    "#,
    );
    assert_lines(
        &run.step(hooks(1, HookReport::Started(vec![hook_run(), hook_run()]))),
        r#"
        hook/started stop:0:/hooks.json
        hook/started stop:0:/hooks.json
    "#,
    );
    assert_lines(
        &run.step(hooks(1, HookReport::Completed(vec![hook_run()]))),
        r#"
        hook/completed stop:0:/hooks.json
    "#,
    );
    let known = HooksDone {
        context: vec![json("session context")],
        verdict: HookVerdict::Proceed,
    };
    assert_lines(
        &run.step(hooks(1, HookReport::Done(known))),
        r#"
        record history "session context"
        run hooks 2: prompt
    "#,
    );
    let known = HooksDone {
        context: vec![json("prompt context")],
        verdict: HookVerdict::Proceed,
    };
    assert_lines(
        &run.step(hooks(2, HookReport::Done(known))),
        r#"
        record history "hi"
        record user message item-hi
        item/started userMessage item-hi
        item/completed userMessage item-hi
        record history "prompt context"
        sample 1: Turn
    "#,
    );
    run.steps(said(1, "msg_1", &["Done."]));
    assert_lines(
        &run.step(model(1, completed())),
        r#"
        record usage Some(15)
        thread/tokenUsage/updated 15 15
        account/rateLimits/updated
        run hooks 3: stop false
    "#,
    );
    assert_lines(
        &run.step(hooks_done(3, HookVerdict::Proceed)),
        r#"
        record turn ended Completed Some("Done.")
        sync
        thread/status/changed Idle
        turn/completed Completed
        announce
    "#,
    );
    // The session has begun.
    run.step(start(2, "turn2", "more"));
    assert_lines(
        &run.step(context("turn2")),
        r#"
        record history "context"
        record turn context
        run hooks 4: prompt
    "#,
    );
    run.steps([
        hooks_done(4, HookVerdict::Proceed),
        model(2, completed()),
        hooks_done(5, HookVerdict::Proceed),
    ]);
    run.assert_lawful();
}

#[test]
fn a_session_that_may_not_begin_takes_no_input() {
    let mut run = Run::with_hooks(true);
    run.steps([start(1, "turn", "hi"), context("turn")]);
    assert_lines(
        &run.step(hooks_done(1, HookVerdict::End)),
        r#"
        record turn ended Completed None
        sync
        thread/status/changed Idle
        turn/completed Completed
    "#,
    );
    run.assert_lawful();
}

#[test]
fn input_that_is_blocked_reaches_nobody() {
    let mut run = Run::with_hooks(true);
    run.steps([
        start(1, "turn", "secret"),
        context("turn"),
        hooks_done(1, HookVerdict::Proceed),
    ]);
    assert_lines(
        &run.step(hooks_done(2, HookVerdict::End)),
        r#"
        record turn ended Completed None
        sync
        thread/status/changed Idle
        turn/completed Completed
    "#,
    );
    run.assert_lawful();
}

#[test]
fn of_several_inputs_those_before_a_blocked_one_are_answered_first() {
    let mut run = asking();
    run.steps([
        steer(2, "turn", "one"),
        steer(3, "turn", "blocked"),
        steer(4, "turn", "two"),
        model(1, completed()),
        hooks_done(3, HookVerdict::Proceed),
    ]);
    assert_lines(
        &run.step(hooks_done(4, HookVerdict::End)),
        r#"
        sample 2: Turn
    "#,
    );
    run.step(model(2, completed()));
    assert_lines(
        &run.step(hooks_done(5, HookVerdict::Proceed)),
        r#"
        record history "two"
        record user message item-two
        item/started userMessage item-two
        item/completed userMessage item-two
        sample 3: Turn
    "#,
    );
    run.steps([model(3, completed()), hooks_done(6, HookVerdict::Proceed)]);
    run.assert_lawful();
}

#[test]
fn what_follows_blocked_input_is_still_taken() {
    let mut run = asking();
    run.steps([
        steer(2, "turn", "blocked"),
        steer(3, "turn", "fine"),
        model(1, completed()),
        hooks_done(3, HookVerdict::End),
        hooks_done(4, HookVerdict::Proceed),
        model(2, completed()),
        hooks_done(5, HookVerdict::Proceed),
    ]);
    run.assert_lawful();
}

#[test]
fn a_model_that_is_done_can_be_made_to_go_on() {
    let mut run = asking();
    run.steps(said(1, "msg_1", &["Done."]));
    run.step(model(1, completed()));
    assert_lines(
        &run.step(hooks_done(3, go_on("go on")))[..1],
        r#"
        record history "go on"
    "#,
    );
    assert_lines(
        &run.step(model(2, completed())),
        r#"
        record usage Some(30)
        thread/tokenUsage/updated 30 15
        account/rateLimits/updated
        run hooks 4: stop true
    "#,
    );
    // Ended by a hook, it is not announced.
    assert_lines(
        &run.step(hooks_done(4, HookVerdict::End)),
        r#"
        record turn ended Completed Some("Done.")
        sync
        thread/status/changed Idle
        turn/completed Completed
    "#,
    );
    run.assert_lawful();
}

#[test]
fn input_that_comes_while_the_last_hooks_run_is_answered() {
    for verdict in [HookVerdict::Proceed, HookVerdict::End] {
        let mut run = asking();
        run.steps([
            model(1, completed()),
            steer(2, "turn", "wait"),
            hooks_done(3, verdict),
            hooks_done(4, HookVerdict::Proceed),
            model(2, completed()),
            hooks_done(5, HookVerdict::Proceed),
        ]);
        run.assert_lawful();
    }
}

#[test]
fn an_interrupt_ends_hooks_and_what_they_report_later_does_not_count() {
    let mut run = Run::with_hooks(true);
    run.steps([
        start(1, "turn", "hi"),
        context("turn"),
        hooks_done(1, HookVerdict::Proceed),
    ]);
    assert_lines(
        &run.step(interrupt(2)),
        r#"
        cancel tools
        record history "interrupted"
        record turn ended Interrupted None
        sync
        answer 2: done
        thread/status/changed Idle
        turn/completed Interrupted
    "#,
    );
    assert_lines(&run.step(hooks_done(2, HookVerdict::Proceed)), "");
    run.step(Input::Close);
    run.assert_lawful();
}

#[test]
fn hooks_of_a_call_are_reported_while_it_runs() {
    let mut run = asking();
    run.steps([model(1, done(0, call("c1"))), model(1, completed())]);
    let began = HookReport::Started(vec![hook_run()]);
    let event = quipu_engine::ToolEvent::Hooks(began);
    assert_lines(
        &run.step(tool("c1", event.clone())),
        r#"
        hook/started stop:0:/hooks.json
    "#,
    );
    run.steps([
        tool("c1", finished("output")),
        model(2, completed()),
        hooks_done(3, HookVerdict::Proceed),
    ]);
    assert_lines(&run.step(tool("c1", event)), "");
    run.assert_lawful();
}

#[test]
fn a_review_is_a_session_of_its_own() {
    let mut run = Run::with_hooks(true);
    run.step(review(1, "turn", "all"));
    assert_lines(
        &run.step(hooks_done(1, HookVerdict::Proceed)),
        r#"
        run hooks 2: prompt
    "#,
    );
    run.steps([
        hooks_done(2, HookVerdict::Proceed),
        model(1, completed()),
        hooks_done(3, go_on("look again")),
        model(2, completed()),
        hooks_done(4, HookVerdict::Proceed),
    ]);
    assert_lines(
        &run.step(rendered("turn"))[8..],
        r#"
        record turn ended Completed None
        sync
        thread/status/changed Idle
        turn/completed Completed
        announce
    "#,
    );
    // The thread's own session begins with its own first turn.
    run.step(start(2, "turn2", "hi"));
    assert_lines(
        &run.step(context("turn2"))[2..],
        r#"
        run hooks 5: session start
    "#,
    );
    run.step(hooks_done(5, HookVerdict::End));
    run.assert_lawful();
}

/// The user can be asked something before hooks run, and sees that the turn waits for them.
#[test]
fn a_question_before_hooks_is_asked_and_resolved_once() {
    let asked = || {
        let mut run = Run::with_hooks(true);
        run.steps([start(1, "turn", "hi"), context("turn")]);
        let effects = run.step(hooks(1, hooks_ask(7)));
        assert_lines(
            &effects,
            r#"
            thread/status/changed active [WaitingOnUserInput]
            ask 7: item/fileChange/requestApproval
        "#,
        );
        run
    };
    let mut run = asked();
    assert_lines(
        &run.step(answered(7)),
        r#"
        serverRequest/resolved 7
        thread/status/changed active []
        deliver 7 to hooks-1
    "#,
    );
    run.step(hooks_done(1, HookVerdict::Proceed));
    // A question that comes late, or is withdrawn by an interrupt, gets no answer and leaves nothing open.
    assert_lines(&run.step(hooks(1, hooks_ask(8))), "deliver 8 to hooks-1");
    run.step(interrupt(2));
    run.assert_lawful();
    let mut run = asked();
    run.step(interrupt(2));
    assert_lines(&run.step(hooks(1, hooks_ask(9))), "deliver 9 to hooks-1");
    run.assert_lawful();
}
