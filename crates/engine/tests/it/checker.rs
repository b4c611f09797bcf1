//! The laws, checked on a trace with facts of its own: nothing here looks into the engine.

use std::collections::{BTreeMap, BTreeSet};

use quipu_engine::{
    Answer, Effect, HookPoint, HookReport, HookRunId, HookVerdict, HooksDone, Input, ModelEvent,
    QuestionId, Record, ReplyToken, SampleId, ToolEvent, TurnEnd, TurnKind, Waiting,
};
use quipu_wire::{
    HookCompletedNotification, HookStartedNotification, RequestId, ServerNotification,
    ThreadActiveFlag, ThreadItem, ThreadStatus, TurnError, TurnStatus, UserInput,
};

use crate::facts::{delta, item_key, recorded_item, running_turn};

type Checked = Result<(), String>;

macro_rules! ensure {
    ($holds:expr, $($otherwise:tt)+) => {
        if !$holds {
            return Err(format!($($otherwise)+));
        }
    };
}

/// Checks a whole trace, at whose end nothing may be left open but what lives in the background.
pub fn check(trace: &[(Input, Vec<Effect>)], hooks: bool) -> Checked {
    let mut checker = Checker {
        hooks,
        ..Checker::default()
    };
    for (number, (input, effects)) in trace.iter().enumerate() {
        checker
            .step(input, effects)
            .map_err(|error| format!("step {number}: {error}"))?;
    }
    checker.end()
}

#[derive(Default)]
struct Checker {
    /// Requests, and whether they were answered.
    replies: BTreeMap<ReplyToken, bool>,
    turns: BTreeMap<String, Turn>,
    /// Turns that a client was promised.
    promised: BTreeSet<String>,
    running: Option<String>,
    /// By turn and key; ended items stay, as `None`.
    items: BTreeMap<(String, String), Option<ThreadItem>>,
    /// Items that were recorded and not told yet.
    recorded: Vec<ThreadItem>,
    questions: BTreeMap<QuestionId, Question>,
    /// Calls that a model decides about in the user's place.
    approval_reviews: BTreeSet<String>,
    /// Questions of tools in this step that nothing was said about yet.
    asked: Vec<(QuestionId, String, Option<Waiting>)>,
    received: Option<ThreadStatus>,
    failed: bool,
    closed: bool,
    samples: Option<SampleId>,
    sampling: Option<SampleId>,
    /// The user has hooks.
    hooks: bool,
    /// The hooks under way, and what they are about.
    hooking: Option<(HookRunId, HookPoint)>,
    hook_runs: Option<HookRunId>,
    /// Input that hooks let pass, and input that they did not.
    passed: BTreeSet<String>,
    blocked: BTreeSet<String>,
    /// The log has these items of the history.
    history: BTreeSet<String>,
    /// Calls and commands that have not ended, with their turns.
    tools: BTreeMap<String, String>,
    /// The commands of the user among all that ever ran, by turn.
    shells: BTreeSet<(String, String)>,
    /// Those that were given up and have not ended all the same.
    abandoned: BTreeSet<String>,
    /// Input that a turn has taken and not shown.
    messages: Vec<(String, String)>,
    /// The requests whose input is not taken yet.
    inputs: BTreeMap<ReplyToken, String>,
    /// What must be in the log at the end, once, and what must never be.
    notes: BTreeMap<String, usize>,
    secrets: BTreeSet<String>,
}

struct Turn {
    kind: TurnKind,
    is_started: bool,
    end: Option<TurnEnd>,
    is_synced: bool,
    is_over: bool,
    is_announced: bool,
    /// Its tools were asked to stop.
    is_cancelled: bool,
    error: Option<TurnError>,
}

struct Question {
    call_id: String,
    waiting: Option<Waiting>,
    is_resolved: bool,
}

impl Checker {
    fn step(&mut self, input: &Input, effects: &[Effect]) -> Checked {
        self.input(input);
        for effect in effects {
            self.effect(effect)
                .map_err(|error| format!("{error} at {effect:?}"))?;
        }
        ensure!(
            self.asked.is_empty(),
            "nothing became of the question {:?}",
            self.asked
        );
        ensure!(
            self.recorded.is_empty(),
            "never received: {:?}",
            self.recorded
        );
        ensure!(
            self.questions.values().all(|it| !it.is_resolved),
            "a tool waits for its answer"
        );
        let received = self.received.clone().unwrap_or(ThreadStatus::Idle);
        ensure!(
            received == self.status(),
            "received {received:?}, but it is {:?}",
            self.status()
        );
        Ok(())
    }

    fn end(&self) -> Checked {
        let open = self.replies.iter().find(|(_, is_answered)| !**is_answered);
        ensure!(open.is_none(), "request {open:?} was not answered");
        let promised = self
            .promised
            .iter()
            .find(|id| !self.turns.get(*id).is_some_and(|it| it.is_over));
        ensure!(
            promised.is_none(),
            "turn {promised:?} was promised and never ended"
        );
        let lost = self.notes.iter().find(|(_, count)| **count != 1);
        ensure!(lost.is_none(), "the note {lost:?} is not in the log once");
        if self.closed {
            let open = self.items.iter().find(|(_, item)| item.is_some());
            ensure!(
                open.is_none(),
                "item {open:?} is open though the thread is closed"
            );
        }
        Ok(())
    }

    fn input(&mut self, input: &Input) {
        match input {
            Input::Start(start) => self.request(start.reply, Some(&start.message)),
            Input::Steer { reply, message, .. } => self.request(*reply, Some(message)),
            Input::Review(review) => {
                if let Some(reply) = review.reply {
                    self.request(reply, Some(&review.message));
                }
            }
            Input::Interrupt { reply: Some(reply) } => self.request(*reply, None),
            Input::Model {
                sample,
                event: ModelEvent::Completed { .. } | ModelEvent::Failed { .. },
            } if self.sampling == Some(*sample) => {
                self.sampling = None;
            }
            Input::Hooks {
                run,
                report: HookReport::Done(done),
            } => self.hooks_done(*run, done),
            Input::Hooks {
                run,
                report: HookReport::Ask { question, .. },
            } => {
                let asker = format!("hooks-{run}");
                self.asked
                    .push((*question, asker, Some(Waiting::UserInput)));
            }
            Input::Tool { call_id, event } => self.tool(call_id, event),
            Input::Note(note) if !self.closed => {
                self.notes.insert(note.get().to_owned(), 0);
            }
            Input::GraceOver { turn_id } => {
                let turn = self.turns.get(turn_id.as_str());
                let is_given_up = turn.is_some_and(|turn| turn.is_cancelled && !turn.is_over);
                is_given_up.then(|| self.abandon_tools(turn_id));
            }
            _ => {}
        }
    }

    /// What hooks decide about the input of a turn.
    fn hooks_done(&mut self, run: HookRunId, done: &HooksDone) {
        let Some((_, point)) = self.hooking.take_if(|(current, _)| *current == run) else {
            return;
        };
        let is_end = done.verdict == HookVerdict::End;
        match point {
            HookPoint::UserPromptSubmit(content) => {
                let [UserInput::Text { text, .. }] = content.as_slice() else {
                    return;
                };
                match is_end {
                    true => self.blocked.insert(text.clone()),
                    false => self.passed.insert(text.clone()),
                };
            }
            // A session that may not begin takes no input.
            HookPoint::SessionStart if is_end => {
                let running = self.running.clone().unwrap_or_default();
                self.messages.retain(|(turn_id, _)| *turn_id != running);
            }
            HookPoint::SessionStart | HookPoint::Stop { .. } => {}
        }
    }

    fn request(&mut self, reply: ReplyToken, message: Option<&quipu_engine::UserMessage>) {
        self.replies.insert(reply, false);
        if let Some([UserInput::Text { text, .. }]) = message.map(|it| it.content.as_slice()) {
            self.inputs.insert(reply, text.clone());
        }
    }

    fn tool(&mut self, call_id: &str, event: &ToolEvent) {
        match event {
            ToolEvent::Ask {
                question, waiting, ..
            } => {
                self.asked.push((*question, call_id.to_owned(), *waiting));
            }
            ToolEvent::Note(note) if !self.closed => {
                self.notes.insert(note.get().to_owned(), 0);
            }
            ToolEvent::Finished { output, .. } => {
                self.abandoned.remove(call_id);
                let turn_id = self.tools.remove(call_id).unwrap_or_default();
                let is_shell = self.is_shell(&turn_id, call_id);
                let turn = self.turns.get(&turn_id).filter(|_| !self.closed);
                let kind = turn.map(|turn| turn.kind);
                for note in output {
                    let text = note.get().to_owned();
                    match kind {
                        Some(TurnKind::Review) if !is_shell => {
                            self.secrets.insert(text);
                        }
                        Some(_) => {
                            self.notes.insert(text, 0);
                        }
                        None => {
                            self.secrets.insert(text);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn effect(&mut self, effect: &Effect) -> Checked {
        if self.closed {
            let is_quiet = matches!(effect, Effect::Answer { .. } | Effect::Deliver { .. });
            ensure!(is_quiet, "the thread is closed");
        }
        match effect {
            Effect::Record(record) => self.record(record),
            Effect::Sync => {
                self.turns
                    .values_mut()
                    .filter(|it| it.end.is_some())
                    .for_each(|it| it.is_synced = true);
                Ok(())
            }
            Effect::Notify(notification) => self.notification(notification),
            Effect::Broadcast(ServerNotification::ThreadStatusChanged(params)) => {
                self.status_reported(&params.status)
            }
            Effect::Broadcast(_) => Err("only the status is for everybody".to_owned()),
            Effect::Warn(_) => Ok(()),
            Effect::Answer { reply, answer } => self.answer(*reply, answer),
            Effect::Ask { question, .. } => self.ask(*question),
            Effect::Withdraw { question } => {
                let open = self
                    .questions
                    .get(question)
                    .is_some_and(|it| !it.is_resolved);
                ensure!(open, "the question is not open");
                Ok(())
            }
            Effect::Deliver { question, call_id } => self.deliver(*question, call_id),
            Effect::BuildContext { turn_id }
            | Effect::Summarise { turn_id, .. }
            | Effect::RenderReview { turn_id, .. } => self.is_running(turn_id),
            Effect::StartGrace { turn_id } => self.is_running(turn_id),
            Effect::Sample {
                sample, turn_id, ..
            } => {
                ensure!(self.sampling.is_none(), "two requests at once");
                ensure!(Some(*sample) > self.samples, "a request twice");
                self.samples = Some(*sample);
                self.sampling = Some(*sample);
                self.is_at_work(turn_id)
            }
            Effect::RunHooks {
                run,
                turn_id,
                point,
            } => {
                ensure!(self.sampling.is_none(), "the model is asked meanwhile");
                ensure!(self.hooking.is_none(), "hooks run already");
                ensure!(Some(*run) > self.hook_runs, "a run twice");
                self.hook_runs = Some(*run);
                self.hooking = Some((*run, point.clone()));
                self.is_at_work(turn_id)
            }
            Effect::Announce { turn_id, .. } => {
                let turn = self.turn(turn_id)?;
                let went_well = turn.is_over && turn.end == Some(TurnEnd::Completed);
                ensure!(went_well, "the turn did not go as it should");
                let again = std::mem::replace(&mut turn.is_announced, true);
                ensure!(!again, "it is known already");
                Ok(())
            }
            Effect::CancelSample { sample } => {
                ensure!(self.sampling.take() == Some(*sample), "no such request");
                Ok(())
            }
            Effect::RunTool { turn_id, call } => self.run(turn_id, &call.call_id),
            Effect::RunShell {
                turn_id, item_id, ..
            } => {
                self.shells
                    .insert((turn_id.to_string(), item_id.to_string()));
                self.run(turn_id, item_id)
            }
            Effect::CancelTools { turn_id } => {
                self.is_running(turn_id)?;
                self.hooking = None;
                self.turn(turn_id)?.is_cancelled = true;
                Ok(())
            }
        }
    }

    fn run(&mut self, turn_id: &str, id: &str) -> Checked {
        let known = self.tools.insert(id.to_owned(), turn_id.to_owned());
        let is_new = known.is_none() && !self.abandoned.contains(id);
        ensure!(is_new, "the id is taken by something that runs");
        self.is_at_work(turn_id)
    }

    fn is_shell(&self, turn_id: &str, id: &str) -> bool {
        self.shells.contains(&(turn_id.to_owned(), id.to_owned()))
    }

    fn abandon_tools(&mut self, turn_id: &str) {
        let abandoned = self
            .tools
            .iter()
            .filter(|it| it.1 == turn_id)
            .map(|it| it.0.clone());
        self.abandoned.extend(abandoned);
        self.tools.retain(|_, it| it != turn_id);
    }

    fn turn(&mut self, turn_id: &str) -> Result<&mut Turn, String> {
        self.turns
            .get_mut(turn_id)
            .ok_or_else(|| format!("no turn {turn_id}"))
    }

    fn is_running(&self, turn_id: &str) -> Checked {
        ensure!(
            self.running.as_deref() == Some(turn_id),
            "turn {turn_id} does not run"
        );
        Ok(())
    }

    fn is_at_work(&mut self, turn_id: &str) -> Checked {
        self.is_running(turn_id)?;
        let turn = self.turn(turn_id)?;
        ensure!(
            !turn.is_cancelled && turn.error.is_none(),
            "the turn is being stopped"
        );
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Checked {
        match record {
            Record::TurnStarted { turn_id, kind } => {
                let turn = Turn {
                    kind: *kind,
                    is_started: false,
                    end: None,
                    is_synced: false,
                    is_over: false,
                    is_announced: false,
                    is_cancelled: false,
                    error: None,
                };
                let known = self.turns.insert(turn_id.to_string(), turn);
                ensure!(known.is_none(), "the turn began twice");
            }
            Record::TurnEnded { turn_id, end, .. } => {
                self.is_running(turn_id)?;
                ensure!(
                    self.turn(turn_id)?.end.replace(end.clone()).is_none(),
                    "it ended twice"
                );
            }
            Record::History(item) => {
                ensure!(
                    !self.secrets.contains(item.get()),
                    "this is not for the history"
                );
                self.history.insert(item.get().to_owned());
                if let Some(count) = self.notes.get_mut(item.get()) {
                    *count += 1;
                }
            }
            record => {
                let running = self.running.clone().unwrap_or_default();
                self.recorded.extend(recorded_item(record, &running));
            }
        }
        Ok(())
    }

    fn answer(&mut self, reply: ReplyToken, answer: &Answer) -> Checked {
        let open = self.replies.insert(reply, true);
        ensure!(open == Some(false), "the request is not open: {open:?}");
        let taken_by = match answer {
            Answer::Turn(turn) => {
                self.promised.insert(turn.id.clone());
                turn.id.clone()
            }
            Answer::Steered(turn_id) => {
                self.is_running(turn_id)?;
                turn_id.to_string()
            }
            Answer::Done | Answer::Refused(_) => return Ok(()),
        };
        if let Some(text) = self.inputs.remove(&reply) {
            self.messages.push((taken_by, text));
        }
        Ok(())
    }

    fn notification(&mut self, notification: &ServerNotification) -> Checked {
        if let Some((turn_id, item_id, is_its_kind)) = delta(notification) {
            let key = (turn_id.to_owned(), item_id.to_owned());
            let item = self.items.get(&key).and_then(Option::as_ref);
            ensure!(item.is_some_and(is_its_kind), "no such item is open");
        }
        if let Some(turn_id) = running_turn(notification) {
            self.is_running(turn_id)?;
        }
        match notification {
            ServerNotification::TurnStarted(it) => self.turn_started(&it.turn.id),
            ServerNotification::TurnCompleted(it) => self.turn_completed(&it.turn),
            ServerNotification::ItemStarted(it) => self.item_started(&it.turn_id, &it.item),
            ServerNotification::ItemCompleted(it) => self.item_completed(&it.turn_id, &it.item),
            ServerNotification::Error(it) if !it.will_retry => {
                let error = it.error.clone();
                self.failed = true;
                self.turn(&it.turn_id)?.error = Some(error);
                ensure!(
                    self.received == Some(ThreadStatus::SystemError),
                    "the status comes first"
                );
                Ok(())
            }
            ServerNotification::ServerRequestResolved(it) => self.resolved(&it.request_id),
            ServerNotification::HookStarted(HookStartedNotification { turn_id, .. })
            | ServerNotification::HookCompleted(HookCompletedNotification { turn_id, .. }) => {
                self.is_running(turn_id.as_deref().unwrap_or_default())
            }
            ServerNotification::ItemAutoApprovalReviewStarted(it) => {
                self.is_running(&it.turn_id)?;
                let is_new = self.approval_reviews.insert(it.target_item_id.clone());
                ensure!(is_new, "the review began twice");
                Ok(())
            }
            ServerNotification::ItemAutoApprovalReviewCompleted(it) => {
                self.is_running(&it.turn_id)?;
                let was_open = self.approval_reviews.remove(&it.target_item_id);
                ensure!(was_open, "the review was not open");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn turn_started(&mut self, turn_id: &str) -> Checked {
        ensure!(self.running.is_none(), "a turn runs");
        let turn = self.turn(turn_id)?;
        ensure!(
            !std::mem::replace(&mut turn.is_started, true),
            "the turn began twice"
        );
        self.running = Some(turn_id.to_owned());
        self.failed = false;
        ensure!(
            self.received == Some(self.status()),
            "the status comes first"
        );
        Ok(())
    }

    fn turn_completed(&mut self, received: &quipu_wire::Turn) -> Checked {
        self.is_running(&received.id)?;
        ensure!(self.sampling.is_none(), "the model is still asked");
        ensure!(self.hooking.is_none(), "hooks still run");
        let is_cut_short = self.hooks && received.status != TurnStatus::Completed;
        let shown = self.messages.iter().find(|(turn_id, text)| {
            *turn_id == received.id && !self.blocked.contains(text) && !is_cut_short
        });
        ensure!(shown.is_none(), "input was lost: {shown:?}");
        let turn = self.turn(&received.id)?;
        ensure!(turn.is_synced, "the end is not on disk");
        let (status, error) = match turn.end.clone() {
            Some(TurnEnd::Completed) => (TurnStatus::Completed, None),
            Some(TurnEnd::Failed(error)) => (TurnStatus::Failed, Some(error)),
            Some(TurnEnd::Interrupted | TurnEnd::Replaced) => (TurnStatus::Interrupted, None),
            None => return Err("the end is not recorded".to_owned()),
        };
        ensure!(
            received.status == status && received.error == error,
            "another end was recorded"
        );
        ensure!(turn.error == error, "its error was {:?}", turn.error);
        turn.is_over = true;
        let is_cancelled = turn.is_cancelled;
        self.running = None;
        let open = &self.approval_reviews;
        ensure!(open.is_empty(), "the reviews {open:?} are open");
        self.questions.values_mut().for_each(|it| it.waiting = None);
        if is_cancelled {
            self.abandon_tools(&received.id);
        }
        let mut tools = self.tools.iter().filter(|it| *it.1 == received.id);
        let forgotten = tools.find(|(id, turn_id)| !self.is_shell(turn_id, id));
        ensure!(forgotten.is_none(), "{forgotten:?} was forgotten");
        for ((turn_id, key), item) in &self.items {
            let lives_on = match item {
                Some(ThreadItem::CommandExecution { process_id, .. }) => {
                    process_id.is_some() || (self.is_shell(turn_id, key) && !is_cancelled)
                }
                Some(_) => false,
                None => true,
            };
            ensure!(*turn_id != received.id || lives_on, "item {key} is open");
        }
        let rests = matches!(
            self.received,
            None | Some(ThreadStatus::Idle | ThreadStatus::SystemError)
        );
        ensure!(rests, "the status comes first");
        Ok(())
    }

    fn item_started(&mut self, turn_id: &str, item: &ThreadItem) -> Checked {
        let key = item_key(item);
        if !self.is_shell(turn_id, &key) {
            self.is_running(turn_id)?;
        }
        ensure!(self.turn(turn_id)?.is_started, "the turn has not begun");
        let known = self
            .items
            .insert((turn_id.to_owned(), key), Some(item.clone()));
        ensure!(known.is_none(), "the item began twice");
        Ok(())
    }

    fn item_completed(&mut self, turn_id: &str, item: &ThreadItem) -> Checked {
        if let ThreadItem::HookPrompt { fragments, .. } = item {
            let is_recorded = |text| self.history.contains(text);
            ensure!(
                fragments.iter().all(|it| is_recorded(&it.text)),
                "the end is not recorded"
            );
            self.recorded.push(item.clone());
        }
        let record = self.recorded.iter().position(|recorded| recorded == item);
        let record = record.ok_or("the end is not recorded")?;
        self.recorded.remove(record);
        let open = self.items.get_mut(&(turn_id.to_owned(), item_key(item)));
        let Some(started) = open.and_then(Option::take) else {
            return Err("the item is not open".to_owned());
        };
        let same_kind = std::mem::discriminant(&started) == std::mem::discriminant(item);
        ensure!(same_kind, "it began as {started:?}");
        if let ThreadItem::UserMessage { content, .. } = item
            && let [UserInput::Text { text, .. }] = content.as_slice()
        {
            ensure!(
                !self.hooks || self.passed.contains(text),
                "no hook let it pass"
            );
            self.messages
                .retain(|message| *message != (turn_id.to_owned(), text.clone()));
        }
        Ok(())
    }

    fn ask(&mut self, question: QuestionId) -> Checked {
        ensure!(self.running.is_some(), "no turn runs");
        let asked = self.asked.iter().position(|it| it.0 == question);
        let (_, call_id, waiting) = self.asked.remove(asked.ok_or("nobody wants to know")?);
        let known = self.questions.insert(
            question,
            Question {
                call_id,
                waiting,
                is_resolved: false,
            },
        );
        ensure!(known.is_none(), "the question is open already");
        ensure!(
            self.received == Some(self.status()),
            "the status comes first"
        );
        Ok(())
    }

    fn resolved(&mut self, request_id: &RequestId) -> Checked {
        let RequestId::Integer(question) = request_id else {
            return Err("not a question of ours".to_owned());
        };
        let question = self.questions.get_mut(&QuestionId::new(*question));
        let question = question.ok_or("no such question")?;
        ensure!(
            !std::mem::replace(&mut question.is_resolved, true),
            "it was resolved before"
        );
        question.waiting = None;
        Ok(())
    }

    fn deliver(&mut self, question: QuestionId, call_id: &str) -> Checked {
        let refused = |it: &(QuestionId, String, _)| it.0 == question && it.1 == call_id;
        if let Some(refused) = self.asked.iter().position(refused) {
            self.asked.remove(refused);
            return Ok(());
        }
        let settled = self.questions.remove(&question);
        let settled = settled.is_some_and(|it| it.is_resolved && it.call_id == call_id);
        ensure!(settled, "there is nothing to deliver");
        Ok(())
    }

    fn status_reported(&mut self, status: &ThreadStatus) -> Checked {
        let before = self
            .received
            .replace(status.clone())
            .unwrap_or(ThreadStatus::Idle);
        ensure!(before != *status, "it is known already");
        self.closed = *status == ThreadStatus::NotLoaded;
        Ok(())
    }

    /// The status as it follows from what was told so far.
    fn status(&self) -> ThreadStatus {
        let waits = |what| self.questions.values().any(|it| it.waiting == Some(what));
        let (approval, user_input) = (waits(Waiting::Approval), waits(Waiting::UserInput));
        if self.closed {
            ThreadStatus::NotLoaded
        } else if (self.running.is_some() && !self.failed) || approval || user_input {
            let approval = approval.then_some(ThreadActiveFlag::WaitingOnApproval);
            let user_input = user_input.then_some(ThreadActiveFlag::WaitingOnUserInput);
            ThreadStatus::Active {
                active_flags: approval.into_iter().chain(user_input).collect(),
            }
        } else if self.failed {
            ThreadStatus::SystemError
        } else {
            ThreadStatus::Idle
        }
    }
}
