//! A thread for tools to run in: a workspace on disk, a toolbox, and a host that records what calls report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_engine::{CallId, CallKind, ToolCall, ToolEvent, Waiting};
use quipu_mcp::{ClientInfo, Fleet, OfferedTool, ServerSpec, StartError, Transport};
use quipu_policy::guardian::Assessment;
use quipu_policy::rules::Rules;
use quipu_prompt::budget::Budget;
use quipu_tools::agents::{Agents, Role};
use quipu_tools::{
    Access, Action, Advice, Answer, Cancel, Clock, Drops, Features, Finished, Host, McpScope,
    Scope, ShellTool, Toolbox, WebSearch,
};
use quipu_wire::{
    AskForApproval, DynamicToolSpec, ReadOnlyAccess, SandboxPolicy, ServerRequest, WebSearchMode,
};
use serde_json::json;
use tokio::sync::{mpsc, watch};

/// The text of an output.
pub fn text(finished: &Finished) -> &str {
    match &finished.output {
        quipu_tools::Output::Text(text) => text,
        quipu_tools::Output::Parts(parts) => panic!("not a text: {parts:?}"),
    }
}

pub fn function(name: &str, arguments: &str) -> ToolCall {
    call(name, CallKind::Function(arguments.to_owned()))
}

pub fn call(name: &str, kind: CallKind) -> ToolCall {
    ToolCall {
        call_id: "call".into(),
        name: name.to_owned(),
        namespace: None,
        kind,
    }
}

/// A thread that works in a directory of its own.
pub struct Lab {
    pub workspace: tempfile::TempDir,
    home: tempfile::TempDir,
    host: Arc<ScriptedHost>,
}

impl Lab {
    pub fn new() -> Lab {
        Lab {
            workspace: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
            host: Arc::new(ScriptedHost {
                toolbox: tokio::sync::Mutex::new(Toolbox::new(Rules::default())),
                events: Mutex::default(),
                asked: Mutex::default(),
            }),
        }
    }

    /// The settings of a turn: commands may write in the workspace only, and nobody is asked.
    pub fn scope(&self) -> Scope {
        scope(&real(self.home.path()), &real(self.workspace.path()))
    }

    /// Runs a call to its end.
    pub async fn run(&self, scope: Scope, call: ToolCall) -> Finished {
        let host = Arc::clone(&self.host) as Arc<dyn Host>;
        let toolbox = self.host.toolbox.lock().await;
        let running = toolbox.run(Arc::new(scope), host, call, Cancel::default());
        drop(toolbox);
        running.await
    }

    /// What was reported since the last time.
    pub fn events(&self) -> Vec<ToolEvent> {
        std::mem::take(&mut *self.host.events.lock().unwrap())
    }

    /// What the user was asked.
    pub fn asked(&self) -> Vec<ServerRequest> {
        std::mem::take(&mut *self.host.asked.lock().unwrap())
    }
}

fn real(path: &Path) -> std::path::PathBuf {
    path.canonicalize().unwrap()
}

/// Settings without any optional tool.
pub fn scope(home: &Path, cwd: &Path) -> Scope {
    Scope {
        thread_id: "thread".into(),
        turn_id: "turn".into(),
        traceparent: None,
        home: home.to_owned(),
        cwd: cwd.to_owned(),
        approval_policy: AskForApproval::Never,
        sandbox: SandboxPolicy::WorkspaceWrite {
            writable_roots: Vec::new(),
            read_only_access: ReadOnlyAccess::FullAccess,
            network_access: false,
            exclude_tmpdir_env_var: true,
            exclude_slash_tmp: true,
        },
        has_environment: true,
        reviewed: false,
        shell: "/bin/sh".to_owned(),
        env: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        drops: Drops::new(|_| false),
        withholds: Drops::new(|_| false),
        credentials: Arc::default(),
        denied: Arc::default(),
        trusted: Arc::default(),
        tmpdir: None,
        dynamic_tools: Arc::default(),
        found_tools: Arc::default(),
        mcp: McpScope::default(),
        plan_mode: false,
        has_goal: false,
        accepts_images: true,
        web_search: None,
        network: None,
        is_subagent: false,
        agents: None,
        shell_tool: ShellTool::Exec,
        patch_as_text: Some(true),
        output_budget: Budget::Tokens(1000),
        clock: Clock::new(watch::channel(0).1),
        longest_poll: Duration::from_secs(5),
        features: Features {
            view_image: true,
            ..Features::default()
        },
    }
}

/// The same with all that can be switched on. Must be called in a runtime, for the MCP server it names.
pub fn everything(scope: Scope) -> Scope {
    let tool = |name: &str, defer_loading| DynamicToolSpec {
        name: name.to_owned(),
        description: format!("Does what {name} does."),
        input_schema: json!({ "type": "object" }).into(),
        defer_loading,
        namespace: None,
    };
    Scope {
        dynamic_tools: [
            tool("listed", false),
            tool("deferred", true),
            tool("found", true),
        ]
        .into(),
        has_goal: true,
        found_tools: Arc::new(BTreeSet::from(["found".to_owned()])),
        mcp: McpScope {
            fleet: fleet(),
            max_listed: 100,
            ..McpScope::default()
        },
        web_search: WebSearch::new(WebSearchMode::Live, false),
        agents: Some([role("default"), role("explorer")].into()),
        features: Features {
            allow_login_shell: true,
            view_image: true,
            image_generation: true,
            exec_permission_approvals: true,
            request_permissions_tool: true,
            ..Features::default()
        },
        ..scope
    }
}

fn role(name: &str) -> Role {
    Role {
        name: name.to_owned(),
        description: format!("The {name} agent."),
    }
}

/// One server that is configured and cannot be reached.
fn fleet() -> Fleet {
    let spec = ServerSpec {
        transport: Transport::Unusable(StartError::Spawn("there is none".to_owned())),
        required: false,
        startup_timeout: Duration::from_secs(1),
        tool_timeout: Duration::from_secs(1),
        enabled_tools: None,
        disabled_tools: Vec::new(),
        announces_elicitation: false,
        rules: None,
    };
    let info = ClientInfo {
        name: "test".to_owned(),
        title: "Test".to_owned(),
        version: "0".to_owned(),
    };
    let specs = BTreeMap::from([("absent".to_owned(), spec)]);
    Fleet::start(specs, &info, &mpsc::channel(8).0)
}

/// Records what calls report; what they ask gets no answer.
struct ScriptedHost {
    toolbox: tokio::sync::Mutex<Toolbox>,
    events: Mutex<Vec<ToolEvent>>,
    asked: Mutex<Vec<ServerRequest>>,
}

impl Host for ScriptedHost {
    fn report<'a>(&'a self, _call_id: &'a CallId, event: ToolEvent) -> BoxFuture<'a, ()> {
        self.events.lock().unwrap().push(event);
        std::future::ready(()).boxed()
    }

    fn ask<'a>(
        &'a self,
        _call_id: &'a CallId,
        request: ServerRequest,
        _waiting: Option<Waiting>,
    ) -> BoxFuture<'a, Option<Answer>> {
        self.asked.lock().unwrap().push(request);
        std::future::ready(None).boxed()
    }

    fn with_toolbox(&self, access: Access) -> BoxFuture<'_, ()> {
        async { access(&mut *self.toolbox.lock().await) }.boxed()
    }

    fn always_allow<'a>(&'a self, _tool: &'a OfferedTool) -> BoxFuture<'a, ()> {
        std::future::ready(()).boxed()
    }

    fn agents(&self) -> Option<&dyn Agents> {
        None
    }

    fn hook<'a>(
        &'a self,
        _call_id: &'a CallId,
        _command: &'a str,
        _response: Option<&'a str>,
    ) -> BoxFuture<'a, Advice> {
        std::future::ready(Advice::default()).boxed()
    }

    fn review<'a>(&'a self, _call_id: &'a CallId, _action: Action) -> BoxFuture<'a, Assessment> {
        std::future::ready(Assessment::parse("")).boxed()
    }
}
