//! A thread with the trace of everything that went in and came out.

use quipu_engine::{Effect, Input, Thread, ThreadSetup};

use crate::checker;
use crate::make::{call, completed, context, done, json, model, start};

pub struct Run {
    pub thread: Thread,
    pub trace: Vec<(Input, Vec<Effect>)>,
    hooks: bool,
}

impl Run {
    pub fn new() -> Run {
        Run::with_hooks(false)
    }

    pub fn with_hooks(hooks: bool) -> Run {
        let setup = ThreadSetup {
            id: "thread".into(),
            hooks,
            ..ThreadSetup::default()
        };
        let mut thread = Thread::new(setup);
        thread.set_interrupt_note(json("interrupted"));
        Run {
            thread,
            trace: Vec::new(),
            hooks,
        }
    }

    /// A run with a turn whose first response, which is complete, calls a tool.
    pub fn calling(call_id: &str) -> Run {
        let mut run = Run::new();
        run.steps([
            start(1, "turn", "hi"),
            context("turn"),
            model(1, done(0, call(call_id))),
            model(1, completed()),
        ]);
        run
    }

    /// Gives the thread an input, keeps what came of it and gives it back.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        let effects = self.thread.step(input.clone());
        self.trace.push((input, effects.clone()));
        effects
    }

    pub fn steps(&mut self, inputs: impl IntoIterator<Item = Input>) -> Vec<Effect> {
        inputs
            .into_iter()
            .flat_map(|input| self.step(input))
            .collect()
    }

    /// The number of the last request to the model.
    pub fn last_sample(&self) -> u64 {
        let effects = self.trace.iter().flat_map(|(_, effects)| effects);
        let samples = effects.filter(|effect| matches!(effect, Effect::Sample { .. }));
        samples.count() as u64
    }

    /// Checks the laws on the trace, and that the thread has come to rest.
    pub fn check(&self) -> Result<(), String> {
        let result = match self.thread.active_turn() {
            Some(turn) => Err(format!("turn {turn} has not ended")),
            None => checker::check(&self.trace, self.hooks),
        };
        result.map_err(|error| format!("{error}\n{}", self.story()))
    }

    /// Checks the laws, for a test that is not a property.
    #[track_caller]
    pub fn assert_lawful(&self) {
        if let Err(error) = self.check() {
            panic!("{error}");
        }
    }

    fn story(&self) -> String {
        let mut story = String::new();
        for (input, effects) in &self.trace {
            story.push_str(&format!("> {input:?}\n"));
            for effect in effects {
                story.push_str(&format!("    {effect:?}\n"));
            }
        }
        story
    }
}
