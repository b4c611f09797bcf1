//! Prompts over many cases: evaluated at once, scored, and compared.

mod plot;
mod report;
mod score;

use std::fmt;
use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, pending};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use parking_lot::Mutex;

pub use report::{CaseReport, Failure, Report, Summary, VariantReport};
pub use score::Score;

use crate::{Adapter, Budget, Error, Money, Prompt, Response, Session, Usage};

/// One input, with a name for the report.
#[derive(Clone, Debug)]
pub struct Case<I> {
    /// The name.
    pub name: String,
    /// What the prompt is made from.
    pub input: I,
}

impl<I> Case<I> {
    /// A case.
    pub fn new(name: impl Into<String>, input: I) -> Case<I> {
        Case {
            name: name.into(),
            input,
        }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Evaluations that are over.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// Those of them that failed.
    pub failed: usize,
    /// What they used.
    pub usage: Usage,
    /// What they cost, as far as prices are known.
    pub cost: Money,
}

type MakePrompt<'a, I, O> = dyn Fn(&I) -> Result<Prompt<O>, Error> + Send + Sync + 'a;
type ScoreResponse<'a, I, O> = dyn Fn(&I, &Response<O>) -> f64 + Send + Sync + 'a;

/// Evaluations to be awaited: every variant of a prompt for every case. Each has a session of its own.
#[must_use = "nothing is evaluated until this is awaited"]
pub struct EvaluateAll<'a, I, O> {
    adapter: &'a Adapter,
    cases: &'a [Case<I>],
    variants: Vec<(String, Box<MakePrompt<'a, I, O>>)>,
    scores: Vec<(String, Box<ScoreResponse<'a, I, O>>)>,
    concurrency: usize,
    timeout: Option<Duration>,
    budget: Option<Budget>,
    on_progress: Arc<dyn Fn(Progress) + Send + Sync + 'a>,
    stop: Mutex<BoxFuture<'a, ()>>,
}

impl Adapter {
    /// Evaluates prompts for all cases, several at once, and reports how well they did. With a pooled
    /// server they share one process.
    pub fn evaluate_all<'a, I, O>(&'a self, cases: &'a [Case<I>]) -> EvaluateAll<'a, I, O> {
        EvaluateAll {
            adapter: self,
            cases,
            variants: Vec::new(),
            scores: Vec::new(),
            concurrency: 4,
            timeout: None,
            budget: None,
            on_progress: Arc::new(|_| {}),
            stop: Mutex::new(pending().boxed()),
        }
    }
}

impl<'a, I, O> EvaluateAll<'a, I, O> {
    /// Adds a prompt to compare: its name, and how it is made from a case's input.
    pub fn variant(
        mut self,
        name: impl Into<String>,
        prompt: impl Fn(&I) -> Result<Prompt<O>, Error> + Send + Sync + 'a,
    ) -> EvaluateAll<'a, I, O> {
        self.variants.push((name.into(), Box::new(prompt)));
        self
    }

    /// Adds a score: from 0, useless, to 1, perfect. An evaluation that failed has 0, as has one whose score is
    /// not a number.
    pub fn score(
        mut self,
        name: impl Into<String>,
        score: impl Fn(&I, &Response<O>) -> f64 + Send + Sync + 'a,
    ) -> EvaluateAll<'a, I, O> {
        self.scores.push((name.into(), Box::new(score)));
        self
    }

    /// How many run at once: 4 if not given.
    pub fn concurrency(mut self, most: usize) -> EvaluateAll<'a, I, O> {
        self.concurrency = most.max(1);
        self
    }

    /// How long each evaluation may take.
    pub fn timeout(mut self, limit: Duration) -> EvaluateAll<'a, I, O> {
        self.timeout = Some(limit);
        self
    }

    /// What all of them may use together. When it is used up, the remaining ones fail.
    pub fn budget(mut self, budget: &Budget) -> EvaluateAll<'a, I, O> {
        self.budget = Some(budget.clone());
        self
    }

    /// Is called after each evaluation.
    pub fn on_progress(
        mut self,
        notify: impl Fn(Progress) + Send + Sync + 'a,
    ) -> EvaluateAll<'a, I, O> {
        self.on_progress = Arc::new(notify);
        self
    }

    /// Stops the run when this is ready: evaluations that are running are interrupted, and the report has those
    /// that are over.
    pub fn stop_when(
        mut self,
        stop: impl Future<Output = ()> + Send + 'a,
    ) -> EvaluateAll<'a, I, O> {
        self.stop = Mutex::new(stop.boxed());
        self
    }
}

impl<'a, I: Sync, O: Send + 'a> EvaluateAll<'a, I, O> {
    async fn run(mut self) -> Report {
        let mut stop = std::mem::replace(self.stop.get_mut(), pending().boxed());
        let total = self.variants.len() * self.cases.len();
        let jobs = (0..self.variants.len())
            .flat_map(|variant| (0..self.cases.len()).map(move |case| (variant, case)));
        // Boxed here, so that the stream's own type does not depend on how long a job borrows.
        let jobs: Vec<_> = jobs
            .map(|(variant, case)| self.job(variant, case))
            .collect();
        let mut running = stream::iter(jobs).buffer_unordered(self.concurrency);
        let mut progress = Progress {
            total,
            ..Progress::default()
        };
        let mut results: Vec<Vec<Option<CaseReport>>> =
            vec![vec![None; self.cases.len()]; self.variants.len()];
        loop {
            let next = tokio::select! {
                next = running.next() => next,
                () = &mut stop => None,
            };
            let Some((variant, case, done)) = next else {
                break;
            };
            progress.done += 1;
            progress.failed += usize::from(done.failure.is_some());
            progress.usage += done.usage;
            progress.cost = progress.cost + done.cost.unwrap_or_default();
            (self.on_progress)(progress);
            results[variant][case] = Some(done);
        }
        drop(running);
        let variants = self.variants.into_iter().zip(results);
        Report {
            scores: self.scores.into_iter().map(|(name, _)| name).collect(),
            missing: total - progress.done,
            variants: variants
                .map(|((name, _), cases)| VariantReport {
                    name,
                    cases: cases.into_iter().flatten().collect(),
                })
                .collect(),
        }
    }

    fn job(&self, variant: usize, case: usize) -> BoxFuture<'_, (usize, usize, CaseReport)> {
        async move { (variant, case, self.evaluate(variant, case).await) }.boxed()
    }

    async fn evaluate(&self, variant: usize, case: usize) -> CaseReport {
        let Case { name, input } = &self.cases[case];
        let since = Instant::now();
        let done = match (self.variants[variant].1)(input) {
            Ok(prompt) => {
                let session = Session::new();
                let mut evaluation = self.adapter.evaluate(&prompt, &session);
                if let Some(limit) = self.timeout {
                    evaluation = evaluation.timeout(limit);
                }
                if let Some(budget) = &self.budget {
                    evaluation = evaluation.budget(budget);
                }
                evaluation.await
            }
            Err(error) => Err(error),
        };
        let seconds = since.elapsed().as_secs_f64();
        match done {
            Ok(response) => CaseReport {
                case: name.clone(),
                scores: self
                    .scores
                    .iter()
                    .map(|(_, score)| within_bounds(score(input, &response)))
                    .collect(),
                text: response.text,
                failure: None,
                usage: response.usage,
                cost: response.cost,
                seconds,
            },
            Err(error) => CaseReport {
                case: name.clone(),
                scores: vec![0.0; self.scores.len()],
                text: String::new(),
                usage: error.usage(),
                failure: Some(Failure {
                    phase: error.phase().name().to_owned(),
                    message: error.message().to_owned(),
                }),
                cost: error.cost(),
                seconds,
            },
        }
    }
}

fn within_bounds(score: f64) -> f64 {
    match score.is_nan() {
        true => 0.0,
        false => score.clamp(0.0, 1.0),
    }
}

impl<'a, I: Sync, O: Send + 'a> IntoFuture for EvaluateAll<'a, I, O> {
    type Output = Report;
    type IntoFuture = BoxFuture<'a, Report>;

    fn into_future(self) -> Self::IntoFuture {
        self.run().boxed()
    }
}

impl<I, O> fmt::Debug for EvaluateAll<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvaluateAll")
            .field("cases", &self.cases.len())
            .field("variants", &self.variants.len())
            .finish_non_exhaustive()
    }
}
