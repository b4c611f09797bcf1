//! MCP servers that skills need: the user is asked once in a thread whether to install those that are missing, before
//! the input that names the skill. With full access nobody is asked.

use std::collections::BTreeSet;

use quipu_config::Feature;
use quipu_config::settings::{McpServer, McpTransport};
use quipu_engine::{HookPoint, HookReport, HookRunId, Input, TurnId};
use quipu_prompt::skills;
use quipu_wire::{
    AskForApproval, SandboxPolicy, ServerRequest, SkillToolDependency, ToolRequestUserInputOption,
    ToolRequestUserInputParams, ToolRequestUserInputQuestion, ToolRequestUserInputResponse,
    UserInput,
};
use tokio::sync::oneshot;

use super::actor::Actor;
use super::hooks;
use super::message::Message;
use super::tool_host::answer_of;

/// The key of the question and of its answer.
const QUESTION: &str = "skill_mcp_dependency_install";
const INSTALL: &str = "Install";

/// The clients that are asked: those that show such a question, by the names that the official server goes by.
const ASKED: [&str; 3] = ["codex_cli_rs", "codex-tui", "codex_vscode"];
const ASKED_PREFIXES: [&str; 2] = ["Codex ", "quipu"];

/// A run of hooks that waits for servers.
pub(crate) struct Waiting {
    run: HookRunId,
    turn_id: TurnId,
    point: HookPoint,
    /// Those to install, if the user wants that.
    wanted: Vec<SkillToolDependency>,
}

/// Begins with the servers that are missing for an input, which waits for that; `None` if there are none.
pub(super) fn begin(
    actor: &mut Actor,
    run: HookRunId,
    turn_id: &TurnId,
    point: &HookPoint,
) -> Option<Input> {
    let HookPoint::UserPromptSubmit(input) = point else {
        return None;
    };
    let wanted = missing(actor, input);
    if wanted.is_empty() {
        return None;
    }
    let waiting = Waiting {
        run,
        turn_id: turn_id.clone(),
        point: point.clone(),
        wanted,
    };
    let has_full_access = actor.session.approval_policy == AskForApproval::Never
        && actor.session.sandbox == SandboxPolicy::DangerFullAccess;
    if has_full_access {
        actor.handle.send_soon(Message::SkillServers(waiting));
        let report = HookReport::Started(Vec::new());
        return Some(Input::Hooks { run, report });
    }
    let request = question_about(actor, &waiting);
    let (answer, answered) = oneshot::channel();
    let question = actor.questions.add_for_call(&actor.server, answer);
    let (handle, cancel) = (actor.handle.clone(), actor.tools.cancel_for(turn_id));
    tokio::spawn(async move {
        let answer = tokio::select! {
            answer = answered => answer.ok().flatten(),
            () = cancel.cancelled() => return,
        };
        let installs = answer.is_some_and(|answer| is_consent(answer_of(answer)));
        let mut waiting = waiting;
        if !installs {
            waiting.wanted.clear();
        }
        handle.send(Message::SkillServers(waiting)).await;
    });
    let report = HookReport::Ask {
        question,
        request: Box::new(request),
    };
    Some(Input::Hooks { run, report })
}

/// Installs what the user wants, and goes on with the input.
pub(super) async fn decided(actor: &mut Actor, waiting: Waiting) {
    let Waiting {
        run,
        turn_id,
        point,
        wanted,
    } = waiting;
    if !wanted.is_empty() {
        let config = &actor.server.settings.config;
        for server in &wanted {
            let written = tokio::task::block_in_place(|| {
                config.add_mcp_server(&server.value, address(server))
            });
            if let Err(error) = written {
                let text = format!("MCP server `{}` was not installed: {error}", server.value);
                actor.audience.warn_of(&actor.handle.id, text).await;
            }
        }
        let servers = actor.sampler.mcp_mut();
        servers.restart(&actor.server, &mut actor.session, &actor.handle);
    }
    let input = hooks::run_event(actor, run, &turn_id, point);
    actor.step(input).await;
}

/// The servers that the skills named in an input need and nobody has configured, unless the user was asked about
/// them before.
fn missing(actor: &mut Actor, input: &[UserInput]) -> Vec<SkillToolDependency> {
    let is_asked = actor.audience.client_name().is_some_and(|name| {
        ASKED.contains(&name) || ASKED_PREFIXES.iter().any(|it| name.starts_with(it))
    });
    if !is_asked
        || !actor
            .session
            .has_feature(Feature::SkillMcpDependencyInstall)
    {
        return Vec::new();
    }
    let skills = actor.sampler.prompt_mut().skills_mut();
    let named = skills::named(input, &skills.offered, &[]);
    let named: BTreeSet<&str> = named.iter().map(|skill| skill.path.as_str()).collect();
    let known = skills.found.found.iter();
    let named = known.filter(|skill| named.contains(skill.metadata.path.as_str()));
    let needed = named.filter_map(|skill| skill.metadata.dependencies.as_ref());
    let needed = needed
        .flat_map(|it| &it.tools)
        .filter(|it| it.kind == "mcp");
    let configured = actor.session.snapshot.mcp_servers();
    let mut missing: Vec<SkillToolDependency> = Vec::new();
    for server in needed.filter(|it| address(it).is_some()) {
        let is_known = configured.values().any(|it| is_at(it, server))
            || missing.iter().any(|it| it.value == server.value)
            || skills.servers_asked.contains(&server.value);
        if !is_known {
            missing.push(server.clone());
        }
    }
    let names = missing.iter().map(|server| server.value.clone());
    skills.servers_asked.extend(names);
    missing
}

fn question_about(actor: &Actor, waiting: &Waiting) -> ServerRequest {
    let names: Vec<&str> = waiting.wanted.iter().map(|it| it.value.as_str()).collect();
    let option = |label: &str, description: &str| ToolRequestUserInputOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    let question = ToolRequestUserInputQuestion {
        id: QUESTION.to_owned(),
        header: "Install MCP servers?".to_owned(),
        question: format!(
            "The skills you named need MCP servers that are not installed: {}. Install them?",
            names.join(", ")
        ),
        is_other: false,
        is_secret: false,
        options: Some(vec![
            option(INSTALL, "Adds them to your config.toml and starts them."),
            option(
                "Continue anyway",
                "Goes on without them, and does not ask again in this thread.",
            ),
        ]),
    };
    ServerRequest::ItemToolRequestUserInput(ToolRequestUserInputParams {
        thread_id: actor.handle.id.clone().into(),
        turn_id: waiting.turn_id.clone().into(),
        item_id: format!("mcp-deps-{}", waiting.turn_id),
        questions: vec![question],
        is_blocking: true,
    })
}

/// How a server is reached: what the settings call it, and its value.
fn address(server: &SkillToolDependency) -> Option<(&'static str, &str)> {
    let url = server.url.as_deref().map(|url| ("url", url));
    let command = server.command.as_deref().map(|it| ("command", it));
    match server.transport.as_deref() {
        Some("stdio") => command,
        Some(_) => url,
        None => url.or(command),
    }
}

/// Whether a configured server is the one that a skill needs, whatever it is called.
fn is_at(configured: &McpServer, needed: &SkillToolDependency) -> bool {
    match (&configured.transport, address(needed)) {
        (McpTransport::Http { url, .. }, Some(("url", needed))) => url == needed,
        (McpTransport::Stdio { command, .. }, Some(("command", needed))) => command == needed,
        _ => false,
    }
}

fn is_consent(answer: Result<quipu_wire::Json, ()>) -> bool {
    let answer = answer.ok();
    let answer = answer.and_then(|it| it.parse::<ToolRequestUserInputResponse>().ok());
    let answer = answer.and_then(|mut it| it.answers.remove(QUESTION));
    answer.is_some_and(|it| it.answers.iter().any(|label| label == INSTALL))
}
