//! The state machine against random worlds: whatever happens in whatever order, no issue is worked on twice at once,
//! the limits hold, retries back off as they should, and in the end every claim is released.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use quipu_runner::config::Config;
use quipu_runner::orchestrator::{
    AgentEvent, Command, Effect, Failure, Input, Orchestrator, Outcome, Reported,
};
use quipu_runner::record::{Day, Records, Tokens};
use quipu_runner::tracker::{Issue, TrackerError, TrackerErrorKind};

use super::support::config;

const ISSUES: usize = 6;
const STATES: [&str; 4] = ["Todo", "In Progress", "Review", "Done"];
const CAP: i64 = 90_000;

/// One thing that may happen. Numbers choose among what is there.
#[derive(Clone, Debug)]
enum Happens {
    Time(u16),
    Answer {
        which: usize,
        fails: bool,
    },
    Exit {
        which: usize,
        fails: bool,
    },
    Speaks {
        which: usize,
        tokens: u32,
    },
    Cleaned(usize),
    Timer(usize),
    Moves {
        issue: usize,
        state: usize,
        dispatchable: bool,
    },
    Reload {
        limit: usize,
        broken: bool,
    },
    Operator {
        issue: usize,
        cancels: bool,
    },
    Refresh,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        any::<u16>().prop_map(Happens::Time),
        (any::<usize>(), any::<bool>())
            .prop_map(|(which, it)| Happens::Answer { which, fails: it }),
        any::<usize>().prop_map(|which| Happens::Answer {
            which,
            fails: false
        }),
        (any::<usize>(), any::<bool>()).prop_map(|(which, fails)| Happens::Exit { which, fails }),
        (any::<usize>(), 0..5_000u32).prop_map(|(which, tokens)| Happens::Speaks { which, tokens }),
        any::<usize>().prop_map(Happens::Cleaned),
        any::<usize>().prop_map(Happens::Timer),
        (0..ISSUES, 0..STATES.len(), any::<bool>()).prop_map(|(issue, state, it)| Happens::Moves {
            issue,
            state,
            dispatchable: it
        }),
        (1..4usize, any::<bool>()).prop_map(|(limit, broken)| Happens::Reload { limit, broken }),
        (0..ISSUES, any::<bool>())
            .prop_map(|(issue, cancels)| Happens::Operator { issue, cancels }),
        Just(Happens::Refresh),
    ]
}

fn settings(limit: usize) -> Arc<Config> {
    let front = format!(
        "agent: {{ max_concurrent_agents: {limit}, max_retry_backoff_ms: {CAP}, max_concurrent_agents_by_state: {{ todo: 2 }} }}\n\
         codex: {{ stall_timeout_ms: 30000 }}\nbudget: {{ tokens_per_issue: 40000 }}"
    );
    Arc::new(config(&front).unwrap())
}

/// A question that the tracker has not answered yet.
#[derive(Clone, Debug)]
enum Asked {
    Refresh(Vec<String>),
    Poll(Vec<String>),
    Retry(String),
}

struct World {
    machine: Orchestrator,
    now: i64,
    issues: Vec<Issue>,
    limit: usize,
    asked: Vec<Asked>,
    /// Workers by issue, and whether they were asked to end.
    working: BTreeMap<String, (bool, u64)>,
    cleaning: BTreeSet<String>,
    timers: Vec<(String, u64, i64)>,
    tick: Option<i64>,
}

impl World {
    fn new() -> World {
        let names = (0..ISSUES).map(|it| format!("I-{it}"));
        let issues = names
            .map(|it| Issue::new(&it, &it, "title", "Todo"))
            .collect();
        let now = 1_800_000_000_000;
        let mut world = World {
            machine: Orchestrator::new(settings(2), Records::new(), Day::of(now)),
            now,
            issues,
            limit: 2,
            asked: Vec::new(),
            working: BTreeMap::new(),
            cleaning: BTreeSet::new(),
            timers: Vec::new(),
            tick: None,
        };
        world.step(Input::Started);
        world
    }

    fn step(&mut self, input: Input) {
        let effects = self.machine.step(self.now, input);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Refresh { ids } => self.asked.push(Asked::Refresh(ids)),
                Effect::Poll { states } => self.asked.push(Asked::Poll(states)),
                Effect::AskForRetry { issue_id } => self.asked.push(Asked::Retry(issue_id)),
                Effect::Tick { after_ms } => self.tick = Some(self.now + after_ms),
                Effect::RetryTimer {
                    issue_id,
                    generation,
                    after_ms,
                } => {
                    assert!((0..=CAP).contains(&after_ms), "a pause of {after_ms}");
                    self.timers
                        .push((issue_id, generation, self.now + after_ms));
                }
                Effect::Dispatch(job) => {
                    let id = job.issue.id.clone();
                    assert!(!self.cleaning.contains(&id), "{id} has no workspace now");
                    let before = self.working.insert(id.clone(), (false, 0));
                    assert!(before.is_none(), "{id} is worked on twice");
                    assert!(
                        self.working.len() <= self.limit,
                        "more than {} at once",
                        self.limit
                    );
                    assert!(["Todo", "In Progress"].contains(&job.issue.state.as_str()));
                    assert!(job.issue.dispatchable);
                }
                Effect::Stop { issue_id } => {
                    let worker = self
                        .working
                        .get_mut(&issue_id)
                        .expect("only workers are ended");
                    assert!(!worker.0, "{issue_id} is ended twice");
                    worker.0 = true;
                }
                Effect::Clean { issue_id, .. } => {
                    assert!(
                        !self.working.contains_key(&issue_id),
                        "{issue_id} is at work"
                    );
                    assert!(self.cleaning.insert(issue_id));
                }
                Effect::Save(_) | Effect::SaveDay(_) | Effect::Log(_) | Effect::Finished => {}
            }
        }
        assert_eq!(self.machine.running(), self.working.len());
    }

    fn happens(&mut self, what: Happens) {
        match what {
            Happens::Time(passed) => {
                self.now += i64::from(passed);
                if self.tick.is_some_and(|it| it <= self.now) {
                    self.tick = None;
                    self.step(Input::Tick);
                }
            }
            Happens::Answer { which, fails } => self.answer(which, fails),
            Happens::Exit { which, fails } => {
                if let Some(issue_id) = nth(self.working.keys(), which) {
                    self.working.remove(&issue_id);
                    let failure = fails.then(|| Failure::new("turn_failed", "no"));
                    let outcome = Outcome {
                        failure,
                        ..Outcome::default()
                    };
                    self.step(Input::Exited { issue_id, outcome });
                }
            }
            Happens::Speaks { which, tokens } => self.speaks(which, tokens),
            Happens::Cleaned(which) => {
                if let Some(issue_id) = nth(self.cleaning.iter(), which) {
                    self.cleaning.remove(&issue_id);
                    let removed = true;
                    self.step(Input::Cleaned { issue_id, removed });
                }
            }
            Happens::Timer(which) => {
                if !self.timers.is_empty() {
                    let (issue_id, generation, due) = self.timers.remove(which % self.timers.len());
                    self.now = self.now.max(due);
                    self.step(Input::RetryDue {
                        issue_id,
                        generation,
                    });
                }
            }
            Happens::Moves {
                issue,
                state,
                dispatchable,
            } => {
                self.issues[issue].state = STATES[state].to_owned();
                self.issues[issue].dispatchable = dispatchable;
            }
            Happens::Reload { limit, broken } => {
                let loaded = match broken {
                    true => Err("broken".to_owned()),
                    false => {
                        self.limit = limit;
                        Ok(settings(limit))
                    }
                };
                // A lower limit ends nobody; it counts from the next dispatch on.
                self.step(Input::Reloaded(loaded));
            }
            Happens::Operator { issue, cancels } => {
                let identifier = self.issues[issue].identifier.clone();
                let command = match cancels {
                    true => Command::Cancel { identifier },
                    false => Command::Retry { identifier },
                };
                let (_, effects) = self.machine.command(self.now, &command);
                self.perform(effects);
            }
            Happens::Refresh => {
                let (_, effects) = self.machine.command(self.now, &Command::Refresh);
                self.perform(effects);
            }
        }
    }

    fn answer(&mut self, which: usize, fails: bool) {
        if self.asked.is_empty() {
            return;
        }
        let asked = self.asked.remove(which % self.asked.len());
        let find = |wanted: &dyn Fn(&Issue) -> bool| match fails {
            true => Err(TrackerError::new(TrackerErrorKind::Status, "500")),
            false => Ok(self
                .issues
                .iter()
                .filter(|it| wanted(it))
                .cloned()
                .collect()),
        };
        let input = match asked {
            Asked::Refresh(ids) => {
                let result = find(&|it| ids.contains(&it.id));
                Input::Refreshed { ids, result }
            }
            Asked::Poll(states) => Input::Polled(find(&|it| states.contains(&it.state))),
            Asked::Retry(issue_id) => {
                let result = find(&|it| it.id == issue_id);
                Input::RetryAsked { issue_id, result }
            }
        };
        self.step(input);
    }

    fn speaks(&mut self, which: usize, tokens: u32) {
        let Some(issue_id) = nth(self.working.keys(), which) else {
            return;
        };
        let total = {
            let worker = self.working.get_mut(&issue_id).unwrap();
            worker.1 += u64::from(tokens);
            worker.1
        };
        let event = Box::new(AgentEvent {
            name: "notification",
            tokens: Some(Reported {
                thread_id: "thread".to_owned(),
                total: Tokens {
                    input: total,
                    total,
                    ..Tokens::default()
                },
            }),
            ..AgentEvent::default()
        });
        self.step(Input::Agent { issue_id, event });
    }

    /// Everything is done and answered from now on; nothing may stay claimed.
    fn come_to_rest(&mut self) {
        for issue in 0..ISSUES {
            self.happens(Happens::Moves {
                issue,
                state: 3,
                dispatchable: true,
            });
        }
        self.happens(Happens::Reload {
            limit: 4,
            broken: false,
        });
        for _ in 0..200 {
            self.happens(Happens::Answer {
                which: 0,
                fails: false,
            });
            self.happens(Happens::Exit {
                which: 0,
                fails: false,
            });
            self.happens(Happens::Cleaned(0));
            self.happens(Happens::Timer(0));
            self.happens(Happens::Time(60_000));
        }
        for issue in &self.issues {
            assert!(
                !self.machine.is_claimed(&issue.id),
                "{} stays claimed",
                issue.id
            );
        }
        assert_eq!(self.machine.running(), 0);
    }
}

fn nth<'a>(mut all: impl ExactSizeIterator<Item = &'a String>, which: usize) -> Option<String> {
    match all.len() {
        0 => None,
        count => all.nth(which % count).cloned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_happens_claims_are_single_limited_and_released(
        events in proptest::collection::vec(happens(), 1..120)
    ) {
        let mut world = World::new();
        for event in events {
            world.happens(event);
        }
        world.come_to_rest();
    }
}
