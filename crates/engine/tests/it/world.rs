//! A world around a thread that does what effects ask for, in any order, while clients do what they
//! like. Whatever happens, the laws hold and every turn ends.

use proptest::prelude::*;
use quipu_engine::{
    CallId, Effect, HookReport, HookRunId, HookVerdict, HooksDone, Input, ModelEvent, ModelItem,
    QuestionId, SampleId, ToolDelta, ToolEvent, TurnId, Waiting,
};
use quipu_wire::{RateLimitSnapshot, WebSearchAction};

use crate::make::{
    self, ask, call, error, interrupt, item, json, model, opened, output, review, shell, start,
    steer, tokens, tool, words,
};
use crate::run::Run;

/// What may happen next.
#[derive(Debug, Clone)]
pub enum Action {
    Start,
    Steer {
        is_wrong: bool,
    },
    Interrupt,
    Compact,
    Review,
    Shell,
    Fault,
    Close,
    /// One of the things that are under way goes on, in one of its ways.
    Go {
        who: usize,
        what: u8,
        which: u8,
    },
}

pub fn action() -> impl Strategy<Value = Action> {
    let go = (0..8usize, any::<u8>(), 0..4u8);
    prop_oneof![
        6 => Just(Action::Start),
        3 => any::<bool>().prop_map(|is_wrong| Action::Steer { is_wrong }),
        3 => Just(Action::Interrupt),
        1 => Just(Action::Compact),
        2 => Just(Action::Review),
        2 => Just(Action::Shell),
        1 => Just(Action::Fault),
        1 => Just(Action::Close),
        60 => go.prop_map(|(who, what, which)| Action::Go { who, what, which }),
    ]
}

/// Something the thread asked for that has not come to its end.
#[derive(Debug, Clone)]
enum Job {
    Context(TurnId),
    NewHistory(TurnId),
    Rendering(TurnId),
    Model(SampleId),
    Hooks(HookRunId),
    Tool(Tool),
    Question(QuestionId),
    Grace(TurnId),
}

#[derive(Debug, Clone, PartialEq)]
struct Tool {
    id: CallId,
    turn_id: TurnId,
    is_shell: bool,
    has_item: bool,
    /// Waits for an answer.
    is_asking: bool,
    is_cancelled: bool,
    /// Its call is over; its process is not.
    is_process: bool,
}

pub struct World {
    pub run: Run,
    jobs: Vec<Job>,
    pub count: u64,
}

impl World {
    pub fn new(compact_at: Option<i64>, hooks: bool) -> World {
        let mut run = Run::with_hooks(hooks);
        run.thread.set_limits(Some(1000), compact_at);
        World {
            run,
            jobs: Vec::new(),
            count: 0,
        }
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    pub fn act(&mut self, action: Action) {
        let n = self.next();
        let running = self.run.thread.active_turn().cloned();
        let running = running.unwrap_or_else(|| "none".into());
        let turn_id = format!("turn{n}");
        let input = match action {
            Action::Start => start(n, &turn_id, &format!("text {n}")),
            Action::Steer { is_wrong } => steer(
                n,
                if is_wrong { "wrong" } else { &running },
                &format!("text {n}"),
            ),
            Action::Interrupt => interrupt(n),
            Action::Compact => Input::Compact {
                turn_id: turn_id.into(),
            },
            Action::Review => review(n, &turn_id, "all"),
            Action::Shell => shell(&turn_id, &format!("sh{n}")),
            Action::Fault => Input::Fault {
                error: error("disk full"),
            },
            Action::Close => Input::Close,
            Action::Go { who, what, which } => {
                if let Some(who) = who.checked_rem(self.jobs.len()) {
                    self.go(who, what, which);
                }
                return;
            }
        };
        self.step(input);
    }

    pub fn step(&mut self, input: Input) {
        for effect in self.run.step(input) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::BuildContext { turn_id } => self.jobs.push(Job::Context(turn_id)),
            Effect::Summarise { turn_id, .. } => self.jobs.push(Job::NewHistory(turn_id)),
            Effect::RenderReview { turn_id, .. } => self.jobs.push(Job::Rendering(turn_id)),
            Effect::StartGrace { turn_id } => self.jobs.push(Job::Grace(turn_id)),
            Effect::Sample { sample, .. } => self.jobs.push(Job::Model(sample)),
            // Hooks that were cancelled report all the same now and then.
            Effect::RunHooks { run, .. } => self.jobs.push(Job::Hooks(run)),
            // Some of a cancelled request is on its way all the same.
            Effect::CancelSample { sample } if sample.get() % 2 == 0 => {
                self.jobs
                    .retain(|job| !matches!(job, Job::Model(it) if *it == sample));
            }
            Effect::RunTool { turn_id, call } => self.run_tool(call.call_id, turn_id, false),
            Effect::RunShell {
                turn_id, item_id, ..
            } => self.run_tool(item_id.into(), turn_id, true),
            Effect::CancelTools { turn_id } => {
                for tool in self.tools().filter(|tool| tool.turn_id == turn_id) {
                    tool.is_cancelled = true;
                }
            }
            Effect::Ask { question, .. } => self.jobs.push(Job::Question(question)),
            Effect::Deliver { question, call_id } => {
                self.jobs
                    .retain(|job| !matches!(job, Job::Question(it) if *it == question));
                for tool in self.tools().filter(|tool| tool.id == call_id) {
                    tool.is_asking = false;
                }
            }
            _ => {}
        }
    }

    fn tools(&mut self) -> impl Iterator<Item = &mut Tool> {
        self.jobs.iter_mut().filter_map(|job| match job {
            Job::Tool(tool) => Some(tool),
            _ => None,
        })
    }

    fn run_tool(&mut self, id: CallId, turn_id: TurnId, is_shell: bool) {
        self.jobs.push(Job::Tool(Tool {
            id,
            turn_id,
            is_shell,
            has_item: false,
            is_asking: false,
            is_cancelled: false,
            is_process: false,
        }));
    }

    /// Lets a job go on; one that ends is removed first.
    fn go(&mut self, who: usize, what: u8, which: u8) {
        let input = match self.jobs[who].clone() {
            Job::Context(turn_id) => make::context(&turn_id),
            Job::NewHistory(turn_id) => make::compacted(&turn_id),
            Job::Rendering(turn_id) => make::rendered(&turn_id),
            Job::Grace(turn_id) => Input::GraceOver { turn_id },
            Job::Question(question) => Input::Answered { question },
            Job::Hooks(run) => return self.hooks(who, run, what, which),
            Job::Model(sample) => return self.model(who, sample, what, which),
            Job::Tool(tool) => return self.tool(who, tool, what),
        };
        self.jobs.remove(who);
        self.step(input);
    }

    fn hooks(&mut self, who: usize, run: HookRunId, what: u8, which: u8) {
        let n = self.next();
        let report = match what % 4 {
            1 => HookReport::Started(vec![make::hook_run()]),
            2 => HookReport::Completed(vec![make::hook_run()]),
            _ => {
                self.jobs.remove(who);
                let verdict = match which {
                    1 => HookVerdict::End,
                    2 => make::go_on(&format!("go on {n}")),
                    _ => HookVerdict::Proceed,
                };
                let context = (what % 4 == 3).then(|| json(&format!("context {n}")));
                let context = context.into_iter().collect();
                HookReport::Done(HooksDone { context, verdict })
            }
        };
        self.step(make::hooks(run.get(), report));
    }

    fn model(&mut self, who: usize, sample: SampleId, what: u8, which: u8) {
        let n = self.next();
        let slot = u32::from(which);
        let id = &format!("msg{which}");
        let delta = "word".to_owned();
        let index = [0, 1, 2, u32::MAX][usize::from(which)];
        let event = match what % 24 {
            0 => opened(),
            1 => ModelEvent::RateLimits(Box::new(RateLimitSnapshot {
                limit_id: None,
                limit_name: None,
                primary: None,
                secondary: None,
                credits: None,
                plan_type: None,
            })),
            2 => ModelEvent::Rerouted {
                from: "a".to_owned(),
                to: "b".to_owned(),
            },
            3 | 4 => ModelEvent::ItemStarted {
                slot,
                item: output(id, words("")),
            },
            5 | 6 => ModelEvent::TextDelta { slot, delta },
            7 | 8 => ModelEvent::ItemDone {
                slot,
                item: output(id, words(&format!("said {n}"))),
            },
            9 => {
                let hidden = ModelItem::Message {
                    text: None,
                    phase: None,
                };
                ModelEvent::ItemDone {
                    slot,
                    item: output(id, hidden),
                }
            }
            10 => ModelEvent::PlanDelta { delta },
            11 => ModelEvent::PlanDone {
                text: format!("plan {n}"),
            },
            12 => ModelEvent::ItemStarted {
                slot,
                item: output(id, thought()),
            },
            13 => ModelEvent::ReasoningPartAdded { slot, index },
            14 => ModelEvent::ReasoningSummaryDelta { slot, index, delta },
            15 => ModelEvent::ReasoningTextDelta { slot, index, delta },
            16 => ModelEvent::ItemDone {
                slot,
                item: output(id, thought()),
            },
            17 | 18 => {
                let call_id = ["cmd1", "bg-1", "mcp1", "dyn1"][usize::from(which)];
                ModelEvent::ItemDone {
                    slot,
                    item: call(call_id),
                }
            }
            19 => {
                let action = Some(WebSearchAction::Other);
                let search = ModelItem::WebSearch {
                    query: delta,
                    action,
                };
                ModelEvent::ItemDone {
                    slot,
                    item: output(id, search),
                }
            }
            20 => ModelEvent::ItemDone {
                slot,
                item: output(id, ModelItem::Other),
            },
            21 => ModelEvent::Retrying {
                error: Some(error("again")),
            },
            22 => {
                self.jobs.remove(who);
                ModelEvent::Failed {
                    error: error("failed"),
                    window_exceeded: which == 0,
                }
            }
            _ => {
                self.jobs.remove(who);
                ModelEvent::Completed {
                    usage: Some(tokens(i64::from(which))),
                    mismatch: (what == 23).then(make::mismatch),
                }
            }
        };
        self.step(model(sample.get(), event));
    }

    fn tool(&mut self, who: usize, mut state: Tool, what: u8) {
        let n = self.next();
        let question = i64::try_from(n).unwrap();
        let id = state.id.clone();
        let event = if state.is_asking && !state.is_cancelled {
            return;
        } else if state.is_process {
            match what % 3 {
                0 => {
                    state.has_item = false;
                    ToolEvent::ItemCompleted(item(&id, true))
                }
                1 => ToolEvent::Note(json(&format!("note {n}"))),
                _ => ToolEvent::Delta(ToolDelta::CommandOutput("out".to_owned())),
            }
        } else if state.has_item {
            match what % 5 {
                0 => ask(question, Some(Waiting::Approval)),
                1 | 2 => ToolEvent::Delta(ToolDelta::CommandOutput("out".to_owned())),
                3 if id.starts_with("bg-") => make::finished(&format!("output {n}")),
                _ => {
                    state.has_item = false;
                    ToolEvent::ItemCompleted(item(&id, true))
                }
            }
        } else {
            match what % 11 {
                0 => ask(question, None),
                1 => ask(question, Some(Waiting::UserInput)),
                2 => ToolEvent::PlanUpdated {
                    explanation: None,
                    plan: Vec::new(),
                },
                3 => ToolEvent::DiffUpdated(format!("diff {n}")),
                4 => ToolEvent::Note(json(&format!("note {n}"))),
                5 if !self.was_shown(&state) => {
                    state.has_item = true;
                    ToolEvent::ItemStarted(item(&id, false))
                }
                6 if !state.is_shell => ToolEvent::Finished {
                    output: vec![json(&format!("output {n}"))],
                    end_turn: true,
                },
                8 => make::reviewing(&format!("{id} {}", what % 2)),
                9 => make::reviewed(&format!("{id} {}", n % 2)),
                10 => ToolEvent::Hooks(HookReport::Started(vec![make::hook_run()])),
                _ => make::finished(&format!("output {n}")),
            }
        };
        state.is_asking = matches!(event, ToolEvent::Ask { .. });
        state.is_process |= matches!(event, ToolEvent::Finished { .. });
        let is_over = state.is_process && !state.has_item;
        self.jobs[who] = Job::Tool(state);
        if is_over {
            self.jobs.remove(who);
        }
        self.step(tool(&id, event));
    }

    /// Whether a tool has had its item; a well-behaved one has only one.
    fn was_shown(&self, tool: &Tool) -> bool {
        self.run.trace.iter().any(|(input, _)| match input {
            Input::Tool {
                call_id,
                event: ToolEvent::ItemStarted(_),
            } => *call_id == tool.id,
            _ => false,
        })
    }

    /// Everything that is under way comes to its end.
    pub fn settle(&mut self) {
        const COMPLETED: u8 = 23;
        for round in 0u8.. {
            if self.jobs.is_empty() {
                break;
            }
            assert!(
                round < 250,
                "the world does not come to rest: {:?}",
                self.jobs
            );
            for who in (0..self.jobs.len()).rev() {
                match self.jobs.get(who) {
                    Some(Job::Model(_)) => self.go(who, COMPLETED, 3),
                    Some(Job::Tool(tool)) if tool.has_item && !tool.is_process => {
                        self.go(who, 4, 0)
                    }
                    Some(Job::Tool(tool)) if tool.is_process => self.go(who, 0, 0),
                    Some(Job::Tool(_)) => self.go(who, 7, 0),
                    Some(_) => self.go(who, 0, 0),
                    None => {}
                }
            }
        }
    }
}

fn thought() -> ModelItem {
    ModelItem::Reasoning {
        summary: vec!["thought".to_owned()],
        content: Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(1500),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_turn_ends_and_every_law_holds(
        compact_at in prop::option::of(0..200i64),
        raw_items in any::<bool>(),
        hooks in any::<bool>(),
        actions in prop::collection::vec(action(), 0..80),
        is_hopeless in any::<bool>(),
    ) {
        let mut world = World::new(compact_at, hooks);
        if raw_items {
            world.run.thread.show_raw_items();
        }
        actions.into_iter().for_each(|action| world.act(action));
        if is_hopeless {
            // Nothing under way ever reports again, but time passes.
            world.act(Action::Interrupt);
            let is_grace = |job: &Job| matches!(job, Job::Grace(_));
            while let Some(who) = world.jobs.iter().position(is_grace) {
                world.go(who, 0, 0);
            }
        }
        world.settle();
        world.run.check().map_err(TestCaseError::fail)?;
    }
}
