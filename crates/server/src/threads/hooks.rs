//! Running the user's hooks. They are the user's own programs, so nothing confines them, but each has its
//! time, its output has a limit, and it ends with its descendants: when it is done, when its time is over,
//! and when its turn is interrupted.

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{FutureExt as _, StreamExt as _, future, stream};
use quipu_config::Feature;
use quipu_engine::{
    CallId, HookPoint, HookReport, HookRunId, HookVerdict, HooksDone, Input, ThreadId, ToolEvent,
    TurnId,
};
use quipu_hooks::{Call, Decision, Ended, Event, Handler, Hooks, Problem, decide};
use quipu_sandbox::{Command, Exit, Policy, Spawned, Stdio, Stream};
use quipu_tools::{Advice, Cancel, Host as _};
use quipu_wire::{
    AskForApproval, ConfigWarningNotification, HookPromptFragment, HookRunStatus, HookRunSummary,
    Json, UserInput,
};

use super::actor::Actor;
use super::message::{Message, ThreadHandle};
use super::session::Session;
use super::skill_servers;
use super::tool_host::ThreadHost;
use crate::{Server, clock, config_directories, fail};
use quipu_prompt::message;

/// What a hook may write to each of its streams.
const MAX_OUTPUT: usize = 1024 * 1024;

/// Hooks of one event that run at the same time; others wait for their turn.
const MAX_AT_ONCE: usize = 64;

/// The hooks of a thread.
#[derive(Default)]
pub(super) struct ThreadHooks {
    hooks: Arc<Hooks>,
    /// The thread was stored before it was loaded.
    resumed: bool,
}

impl ThreadHooks {
    /// The hooks that the settings of a thread bring, and what of their files is not in force.
    pub fn load(
        server: &Server,
        session: &Session,
        resumed: bool,
    ) -> (ThreadHooks, Vec<ConfigWarningNotification>) {
        if !session.has_feature(Feature::CodexHooks) {
            return Default::default();
        }
        let (hooks, problems) = Hooks::read(&hook_files(server, session));
        let hooks = Arc::new(hooks);
        let problems = problems.iter().map(warning).collect();
        (ThreadHooks { hooks, resumed }, problems)
    }

    /// Reads the hooks again, since the settings changed. What of their files is not in force was said before.
    pub fn renew(&mut self, server: &Server, session: &Session) {
        let (hooks, _) = ThreadHooks::load(server, session, self.resumed);
        self.hooks = hooks.hooks;
    }

    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// What runs the hooks of a turn; `None` if there are none.
    pub fn runner(
        &self,
        server: &Server,
        session: &Session,
        transcript: Option<&Path>,
        (thread_id, turn_id): (&ThreadId, &TurnId),
    ) -> Option<Arc<Runner>> {
        let env = server.settings.config.env().vars();
        (!self.is_empty()).then(|| {
            Arc::new(Runner {
                hooks: Arc::clone(&self.hooks),
                shell: server.shell(),
                env: env.map(|(key, value)| (key.into(), value.into())).collect(),
                thread_id: thread_id.clone(),
                turn_id: turn_id.clone(),
                transcript: transcript.map(Path::to_owned),
                cwd: session.cwd.clone(),
                model: session.model.clone(),
                bypasses_permissions: session.approval_policy == AskForApproval::Never,
            })
        })
    }

    /// What happens at a point of a turn, as hooks know it.
    fn event(&self, point: HookPoint) -> Event {
        match point {
            HookPoint::SessionStart => Event::SessionStart {
                resumed: self.resumed,
            },
            HookPoint::UserPromptSubmit(content) => Event::UserPromptSubmit {
                prompt: text_of(&content),
            },
            HookPoint::Stop {
                active,
                last_agent_message,
            } => Event::Stop {
                active,
                last_assistant_message: last_agent_message,
            },
        }
    }
}

/// The files with hooks: of the configuration's directories, then of plugins.
fn hook_files(server: &Server, session: &Session) -> Vec<PathBuf> {
    let directories = config_directories(server, &session.snapshot).into_iter();
    let own = directories.map(|directory| directory.join("hooks.json"));
    let plugins = server.plugins(&session.snapshot).into_iter();
    own.chain(plugins.flat_map(|plugin| plugin.contents.hooks))
        .collect()
}

fn warning(problem: &Problem) -> ConfigWarningNotification {
    ConfigWarningNotification {
        summary: "Some hooks are not in force.".to_owned(),
        details: Some(problem.to_string()),
        path: Some(problem.path.to_string_lossy().into_owned()),
        range: None,
    }
}

/// The hooks of a thread, with what they get to know of one of its turns.
pub(super) struct Runner {
    hooks: Arc<Hooks>,
    shell: String,
    env: Vec<(OsString, OsString)>,
    thread_id: ThreadId,
    turn_id: TurnId,
    transcript: Option<PathBuf>,
    cwd: PathBuf,
    model: String,
    bypasses_permissions: bool,
}

/// The handlers of an event, which are about to run.
pub(super) struct Begun {
    runner: Arc<Runner>,
    event: Event,
    handlers: Vec<(Handler, HookRunSummary)>,
}

/// The handlers of an event, which have run, in their order.
pub(super) struct Done {
    pub runs: Vec<HookRunSummary>,
    decisions: Vec<Decision>,
}

impl Runner {
    /// Begins with an event; `None` if no handler is for it.
    pub fn begin(self: &Arc<Self>, event: Event) -> Option<Begun> {
        let handlers = self.hooks.matching(event.name(), event.subject());
        let now = clock::unix_seconds();
        let with_run = |handler: &Handler| (handler.clone(), handler.started(now));
        (!handlers.is_empty()).then(|| Begun {
            runner: Arc::clone(self),
            event,
            handlers: handlers.into_iter().map(with_run).collect(),
        })
    }

    async fn run(&self, handler: &Handler, stdin: &str) -> Ended {
        let argv = [self.shell.as_str(), "-c", &handler.command];
        let mut command = Command::new(argv, &self.cwd, Policy::FullAccess);
        command.env.clone_from(&self.env);
        command.stdio = Stdio::Pipes;
        let running = async {
            match quipu_sandbox::spawn(command).await {
                Ok(spawned) => attend(spawned, stdin).await,
                Err(error) => Ended::NotStarted(format!("failed to start hook: {error}")),
            }
        };
        let ended = tokio::time::timeout(handler.timeout, running).await;
        ended.unwrap_or(Ended::TimedOut(handler.timeout))
    }
}

/// Gives a hook its input and waits for its end. Dropping the future ends it.
async fn attend(spawned: Spawned, stdin: &str) -> Ended {
    let Spawned {
        process,
        mut output,
    } = spawned;
    // A hook need not read what it is given.
    let mut writing = pin!(
        async {
            process.write_stdin(stdin.as_bytes()).await.ok();
            process.close_stdin().await.ok();
        }
        .fuse()
    );
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        tokio::select! {
            () = &mut writing => {}
            chunk = output.next() => {
                let Some(chunk) = chunk else { break };
                let kept = match chunk.stream {
                    Stream::Stdout => &mut stdout,
                    Stream::Stderr => &mut stderr,
                };
                if kept.len() + chunk.bytes.len() > MAX_OUTPUT {
                    return Ended::Flooded(MAX_OUTPUT);
                }
                kept.extend_from_slice(&chunk.bytes);
            }
        }
    }
    // A hook that closed its output may still read.
    let (exit, ()) = future::join(process.wait(), async {
        if !future::FusedFuture::is_terminated(&writing) {
            writing.await;
        }
    })
    .await;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended::Exited {
        code: match exit {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) => None,
        },
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

impl Begun {
    pub fn started(&self) -> Vec<HookRunSummary> {
        self.handlers.iter().map(|(_, run)| run.clone()).collect()
    }

    /// Runs the handlers of a point of a turn, unless they are cancelled, and reports to the thread.
    fn start(self, thread: ThreadHandle, cancel: Cancel, run: HookRunId, is_last: bool) {
        tokio::spawn(async move {
            let running = async {
                fail::point("hooks", "turn");
                self.finish().await
            };
            let done = tokio::select! {
                done = AssertUnwindSafe(running).catch_unwind() => done,
                () = cancel.cancelled() => return,
            };
            let (runs, done) = match done {
                Ok(done) => {
                    let verdict = match is_last {
                        true => done.last_verdict(),
                        false => done.verdict(),
                    };
                    let context = done.context();
                    (done.runs, HooksDone { context, verdict })
                }
                Err(_) => {
                    tracing::error!(thread = %thread.id, "hooks panicked");
                    Default::default()
                }
            };
            thread.send(Message::Hooks { run, runs, done }).await;
        });
    }

    /// Runs the handlers, at the same time. Dropping the future ends them.
    pub async fn finish(self) -> Done {
        let Begun {
            runner,
            event,
            handlers,
        } = self;
        let call = Call {
            event: &event,
            thread_id: &runner.thread_id,
            turn_id: &runner.turn_id,
            transcript: runner.transcript.as_deref(),
            cwd: &runner.cwd,
            model: &runner.model,
            bypasses_permissions: runner.bypasses_permissions,
        };
        let stdin = call.to_json();
        let runs = handlers.into_iter().map(|(handler, run)| {
            let (runner, stdin) = (&runner, &stdin);
            async move {
                let begun = Instant::now();
                let decision = decide(handler.event, runner.run(&handler, stdin).await);
                let run = decision.completed(run, clock::unix_seconds(), begun.elapsed());
                (run, decision)
            }
        });
        let done: Vec<_> = stream::iter(runs).buffered(MAX_AT_ONCE).collect().await;
        let (runs, decisions) = done.into_iter().unzip();
        Done { runs, decisions }
    }
}

impl Done {
    fn context(&self) -> Vec<Json> {
        let texts = self.decisions.iter().filter_map(|it| it.context.clone());
        texts
            .map(|text| message::developer(vec![message::text(text)]))
            .collect()
    }

    fn any(&self, status: HookRunStatus) -> bool {
        self.decisions.iter().any(|it| it.status == status)
    }

    /// How a turn goes on after the hooks of its session or its input.
    fn verdict(&self) -> HookVerdict {
        match self.any(HookRunStatus::Blocked) || self.any(HookRunStatus::Stopped) {
            true => HookVerdict::End,
            false => HookVerdict::Proceed,
        }
    }

    /// How a turn goes on that is done but for its hooks.
    fn last_verdict(&self) -> HookVerdict {
        if self.any(HookRunStatus::Stopped) {
            return HookVerdict::End;
        }
        let blocked = self.runs.iter().zip(&self.decisions);
        let blocked = blocked.filter(|(_, it)| it.status == HookRunStatus::Blocked);
        let fragments: Vec<HookPromptFragment> = blocked
            .filter_map(|(run, decision)| {
                Some(HookPromptFragment {
                    text: decision.message.clone()?,
                    hook_run_id: run.id.clone(),
                })
            })
            .collect();
        match fragments.is_empty() {
            true => HookVerdict::Proceed,
            false => HookVerdict::Continue {
                prompt: message::hook_prompt(&fragments),
                fragments,
            },
        }
    }

    /// What hooks want of a command, before or after it.
    fn advice(&self) -> Advice {
        let mut messages = self.decisions.iter().filter_map(|it| it.message.clone());
        let message = match self.runs.first().map(|run| run.event_name) {
            Some(quipu_wire::HookEventName::PreToolUse) => messages.next(),
            _ => Some(messages.collect::<Vec<_>>().join("\n\n")).filter(|it| !it.is_empty()),
        };
        Advice {
            context: self.context(),
            message,
        }
    }
}

/// The hooks of the thread, for a turn; `None` if there are none.
pub(super) fn runner(actor: &Actor, turn_id: &TurnId) -> Option<Arc<Runner>> {
    let (hooks, ids) = (actor.tools.hooks(), (&actor.handle.id, turn_id));
    hooks.runner(&actor.server, &actor.session, actor.recorder.path(), ids)
}

/// Runs the hooks of a point of a turn; gives back what is known of them at once.
pub(super) fn run(actor: &mut Actor, run: HookRunId, turn_id: &TurnId, point: HookPoint) -> Input {
    let servers = skill_servers::begin(actor, run, turn_id, &point);
    servers.unwrap_or_else(|| run_event(actor, run, turn_id, point))
}

/// The same, once the servers are there that the input needs.
pub(super) fn run_event(
    actor: &mut Actor,
    run: HookRunId,
    turn_id: &TurnId,
    point: HookPoint,
) -> Input {
    let is_last = matches!(point, HookPoint::Stop { .. });
    let event = actor.tools.hooks().event(point);
    let runner = runner(actor, turn_id);
    let report = match runner.and_then(|runner| runner.begin(event)) {
        None => HookReport::Done(HooksDone::default()),
        Some(begun) => {
            let report = HookReport::Started(begun.started());
            let cancel = actor.tools.cancel_for(turn_id);
            begun.start(actor.handle.clone(), cancel, run, is_last);
            report
        }
    };
    Input::Hooks { run, report }
}

pub(super) async fn done(
    actor: &mut Actor,
    run: HookRunId,
    runs: Vec<HookRunSummary>,
    done: HooksDone,
) {
    for report in [HookReport::Completed(runs), HookReport::Done(done)] {
        actor.step(Input::Hooks { run, report }).await;
    }
}

impl ThreadHost {
    /// Runs the hooks around a command, as part of its call.
    pub(super) async fn run_hooks(
        &self,
        call_id: &CallId,
        command: &str,
        response: Option<&str>,
    ) -> Advice {
        let (id, command) = (call_id.to_string(), command.to_owned());
        let event = match response {
            None => Event::PreToolUse {
                call_id: id,
                command,
            },
            Some(response) => Event::PostToolUse {
                call_id: id,
                command,
                response: response.to_owned(),
            },
        };
        let Some(begun) = self.hooks.as_ref().and_then(|runner| runner.begin(event)) else {
            return Advice::default();
        };
        let started = HookReport::Started(begun.started());
        self.report(call_id, ToolEvent::Hooks(started)).await;
        let done = begun.finish().await;
        let advice = done.advice();
        let completed = HookReport::Completed(done.runs);
        self.report(call_id, ToolEvent::Hooks(completed)).await;
        advice
    }
}

/// The text of an input.
fn text_of(content: &[UserInput]) -> String {
    let texts = content.iter().filter_map(|input| match input {
        UserInput::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
