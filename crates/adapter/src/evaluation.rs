//! One evaluation, from the prompt to the output.

use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_client::wire::SandboxPolicy;

use crate::events::{Emitter, EventKind, SubscriberError, Subscribers};
use crate::limits::{self, Ended, Limits};
use crate::live::{self, Task};
use crate::prompt::{self, Rendered};
use crate::toolbox::Toolbox;
use crate::{
    Adapter, Budget, Error, Event, Money, Prompt, Recording, Resources, Result, Session, Usage,
};

/// What came of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response<O> {
    /// The model's final message.
    pub text: String,
    /// The same as the prompt's output type.
    pub output: O,
    /// What this evaluation used, over all expansions.
    pub usage: Usage,
    /// What it cost, if the adapter knows the model's price.
    pub cost: Option<Money>,
    /// The model that answered.
    pub model: String,
    /// The thread and the turn; nothing if it was a replay.
    pub place: Option<Place>,
    /// The evaluation as data, for a replay.
    pub recording: Recording,
}

/// Where an evaluation took place.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Place {
    /// The thread's id.
    pub thread_id: String,
    /// The turn's id.
    pub turn_id: String,
    /// The sandbox in force, as the server reported it.
    pub sandbox: SandboxPolicy,
}

/// An evaluation to be awaited. Dropping it, or the future of it, interrupts the turn, undoes a tool call
/// that is running, and ends the server if it is not pooled.
#[must_use = "an evaluation does nothing until it is awaited"]
pub struct Evaluation<'a, O> {
    conduct: Conduct<'a>,
    prompt: &'a Prompt<O>,
    session: &'a Session,
    resources: Resources,
    deadline: Option<Instant>,
    budget: Option<Budget>,
    subscribers: Subscribers,
    expanded: BTreeSet<String>,
    expansions: usize,
}

/// Who answers.
#[derive(Clone, Copy)]
enum Conduct<'a> {
    Live(&'a Adapter),
    Recorded(&'a Recording),
}

/// What a model, or the recording of one, answered.
pub(crate) struct Answered {
    pub text: String,
    pub model: String,
    pub place: Option<Place>,
}

impl Recording {
    /// Evaluates a prompt without a server: the tools are called as they were, and the answer is the one
    /// that was recorded. It fails if the prompt, its tools or what they give is not what it was. Sections that
    /// were expanded then are expanded now.
    pub fn replay<'a, O>(
        &'a self,
        prompt: &'a Prompt<O>,
        session: &'a Session,
    ) -> Evaluation<'a, O> {
        let replay = Evaluation::of(
            Conduct::Recorded(self),
            prompt,
            session,
            Subscribers::default(),
        );
        replay.expand(&self.expanded)
    }
}

impl<'a, O> Evaluation<'a, O> {
    pub(crate) fn new(
        adapter: &'a Adapter,
        prompt: &'a Prompt<O>,
        session: &'a Session,
    ) -> Evaluation<'a, O> {
        Evaluation::of(
            Conduct::Live(adapter),
            prompt,
            session,
            adapter.settings.subscribers.clone(),
        )
    }

    fn of(
        conduct: Conduct<'a>,
        prompt: &'a Prompt<O>,
        session: &'a Session,
        subscribers: Subscribers,
    ) -> Evaluation<'a, O> {
        Evaluation {
            conduct,
            prompt,
            session,
            resources: Resources::new(),
            deadline: None,
            budget: None,
            subscribers,
            expanded: BTreeSet::new(),
            expansions: 0,
        }
    }

    /// What the tools work with.
    pub fn resources(mut self, resources: &Resources) -> Evaluation<'a, O> {
        self.resources = resources.clone();
        self
    }

    /// Has to be over at this time, in place of the budget's deadline. The turn is interrupted then.
    pub fn deadline(mut self, deadline: Instant) -> Evaluation<'a, O> {
        self.deadline = Some(deadline);
        self
    }

    /// Has to be over after this time, counted from now.
    pub fn timeout(self, limit: Duration) -> Evaluation<'a, O> {
        match limits::now().checked_add(limit) {
            Some(deadline) => self.deadline(deadline),
            // So far away that it never comes.
            None => self,
        }
    }

    /// May use this much; what it uses is counted in all clones of the budget.
    pub fn budget(mut self, budget: &Budget) -> Evaluation<'a, O> {
        self.budget = Some(budget.clone());
        self
    }

    /// Shows these sections in full, by their keys.
    pub fn expand<S: Into<String>>(
        mut self,
        sections: impl IntoIterator<Item = S>,
    ) -> Evaluation<'a, O> {
        self.expanded.extend(sections.into_iter().map(Into::into));
        self
    }

    /// Evaluates again, at most so many times, with the sections expanded that the model asks for. Without
    /// this, the request is an error ([`Error::expansion`]).
    pub fn expand_when_asked(mut self, most: usize) -> Evaluation<'a, O> {
        self.expansions = most;
        self
    }

    /// Watches this evaluation.
    pub fn on_event(
        mut self,
        subscriber: impl Fn(&Event) -> std::result::Result<(), SubscriberError> + Send + Sync + 'static,
    ) -> Evaluation<'a, O> {
        self.subscribers.add(subscriber);
        self
    }

    async fn run(mut self) -> Result<Response<O>> {
        let (mut is_first, mut usage, mut cost) = (true, Usage::default(), None);
        loop {
            let error = match self.once(is_first).await {
                Ok(mut response) => {
                    response.usage += usage;
                    response.cost = Money::sum_known(response.cost, cost);
                    return Ok(response);
                }
                Err(error) => error.with_usage(usage, cost),
            };
            match error.expansion() {
                Some(wanted) if self.expansions > 0 => {
                    self.expansions -= 1;
                    self.expanded.extend(wanted.sections.iter().cloned());
                    (is_first, usage, cost) = (false, error.usage(), error.cost());
                }
                _ => return Err(error),
            }
        }
    }

    async fn once(&self, is_first: bool) -> Result<Response<O>> {
        let since = Instant::now();
        let limits = Arc::new(Limits::new(self.deadline, self.budget.clone()));
        limits.check_start(is_first)?;
        let rendered = self.prompt.render(&self.expanded)?;
        let emitter = Emitter::new(
            self.conduct.name(),
            self.prompt.name(),
            self.subscribers.clone(),
        );
        let toolbox = Toolbox::new(
            &rendered.tools,
            self.session,
            &self.resources,
            &limits,
            &emitter,
        )?;
        let toolbox = Arc::new(toolbox);
        let over = Over(&limits);
        emitter.emit(EventKind::PromptRendered {
            text: rendered.text.clone(),
            tools: rendered
                .tools
                .iter()
                .map(|it| it.name().to_owned())
                .collect(),
        });
        let answered = self.answer(&rendered, &toolbox, &limits).await;
        drop(over);
        toolbox.settled().await;
        let (usage, cost) = (limits.usage(), limits.cost());
        let failed = |error: Error| error.with_usage(usage, cost);
        let answered = answered.map_err(failed)?;
        emitter.emit(EventKind::PromptExecuted {
            text: answered.text.clone(),
            usage,
            cost,
            duration: since.elapsed(),
        });
        if let Some(expansion) = toolbox.take_expansion() {
            return Err(failed(Error::expansion_required(expansion)));
        }
        let output = self.prompt.parse(&answered.text).map_err(failed)?;
        let recording = Recording {
            prompt: self.prompt.name().to_owned(),
            tools: prompt::specs(&rendered.tools),
            rendered: rendered.text,
            schema: self.prompt.schema().cloned(),
            expanded: self.expanded.iter().cloned().collect(),
            steps: toolbox.take_steps(),
            answer: answered.text.clone(),
            model: answered.model.clone(),
            usage,
        };
        let Answered { text, model, place } = answered;
        Ok(Response {
            text,
            output,
            usage,
            cost,
            model,
            place,
            recording,
        })
    }

    async fn answer(
        &self,
        rendered: &Rendered,
        toolbox: &Arc<Toolbox>,
        limits: &Arc<Limits>,
    ) -> Result<Answered> {
        match self.conduct {
            Conduct::Live(adapter) => {
                live::run(&Task {
                    adapter,
                    rendered,
                    schema: self.prompt.schema(),
                    workspace: self.prompt.mounted(),
                    session: self.session,
                    toolbox,
                    limits,
                })
                .await
            }
            Conduct::Recorded(recording) => {
                recording.check(
                    &rendered.text,
                    self.prompt.schema(),
                    &prompt::specs(&rendered.tools),
                )?;
                limits.within(recording.play(toolbox)).await??;
                limits.used(recording.usage);
                Ok(Answered {
                    text: recording.answer.clone(),
                    model: recording.model.clone(),
                    place: None,
                })
            }
        }
    }
}

impl Conduct<'_> {
    fn name(&self) -> &str {
        match self {
            Conduct::Live(adapter) => &adapter.settings.name,
            Conduct::Recorded(_) => "replay",
        }
    }
}

impl<'a, O: Send + 'a> IntoFuture for Evaluation<'a, O> {
    type Output = Result<Response<O>>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.run().boxed()
    }
}

/// Stops the tools of an evaluation that is over, however it ended.
struct Over<'a>(&'a Limits);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.end(Ended::Over);
    }
}
