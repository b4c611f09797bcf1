//! A thread holds no more after many turns than after one.

use quipu_engine::{Input, ToolEvent, Waiting};

use crate::make::{
    ask, call, compact, compacted, completed, context, done, failed, finished, grace_over,
    interrupt, item, model, rendered, review, shell, start, tool,
};
use crate::run::Run;

/// One of everything, with ids that are as long in every round.
fn round(run: &mut Run, n: u64) {
    let turn = |name: &str| format!("{name}{n:04}");
    let first = 10 * n;
    let question = i64::try_from(n).unwrap();
    let (a, b, c, d) = (turn("a"), turn("b"), turn("c"), turn("d"));
    run.steps([start(first, &a, &turn("text")), context(&a)]);
    run.steps([
        model(run.last_sample(), done(0, call("cmd"))),
        tool("cmd", ToolEvent::ItemStarted(item("cmd", false))),
        tool("cmd", ask(question, Some(Waiting::Approval))),
        shell("never", &turn("sh")),
        interrupt(first + 1),
        start(first + 2, &b, &turn("more")),
        grace_over(&a),
        tool("cmd", finished("late")),
        tool(&turn("sh"), finished("late")),
        context(&b),
    ]);
    run.step(model(run.last_sample(), failed("no")));
    run.steps([
        review(first + 3, &c, "all"),
        interrupt(first + 4),
        rendered(&c),
    ]);
    run.step(compact(&d));
    run.steps([model(run.last_sample(), completed()), compacted(&d)]);
    run.step(Input::Fault {
        error: crate::make::error("nothing runs"),
    });
}

#[test]
fn a_thread_does_not_grow_by_its_turns() {
    let mut run = Run::new();
    let mut sizes = Vec::new();
    for n in 1..=30 {
        round(&mut run, n);
        sizes.push(format!("{:?}", run.thread).len());
    }
    run.assert_lawful();
    // The first round sets what is unknown before; after that only numbers get longer.
    let growth = sizes[29] - sizes[1];
    assert!(growth < 40, "sizes: {sizes:?}");
}
