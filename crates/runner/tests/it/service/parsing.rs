//! 17.1 Workflow and config parsing.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use quipu_runner::config::Config;
use quipu_runner::template::{Template, TemplateError};
use quipu_runner::tracker::Issue;
use quipu_runner::workflow::{Workflow, WorkflowError};
use quipu_runner::workspace;
use serde_json::{Value, json};
use tracing::level_filters::LevelFilter;

use super::support::{DONE, Lab, config, env};

fn render(template: &str, variables: &Value) -> Result<String, TemplateError> {
    Template::parse(template)?.render(variables)
}

#[test]
fn missing_workflow_returns_typed_error() {
    let error = Workflow::load(Path::new("/none/WORKFLOW.md")).unwrap_err();
    assert!(matches!(error, WorkflowError::Missing { .. }));
    assert!(
        error
            .to_string()
            .starts_with("missing_workflow_file: /none/WORKFLOW.md")
    );
    // What is there is not missing.
    let error = Workflow::load(Path::new("/")).unwrap_err();
    assert!(matches!(error, WorkflowError::Parse { .. }), "{error}");
}

#[test]
fn invalid_front_matter_returns_typed_errors() {
    let twice = "---\na: 1\na: 2\n---\n";
    for text in [
        "---\na: [\n---\n",
        "---\na: 1\n",
        "---\na: b: c\n---\n",
        twice,
    ] {
        let error = Workflow::parse(text).unwrap_err();
        assert!(
            matches!(error, WorkflowError::Parse { .. }),
            "{text}: {error}"
        );
    }
    let error = Workflow::parse("---\na: 1\nb: c: d\n---\n").unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
    for text in ["---\n- a\n---\n", "---\njust text\n---\n", "---\n7\n---\n"] {
        let error = Workflow::parse(text).unwrap_err();
        assert!(
            matches!(error, WorkflowError::NotAMap { .. }),
            "{text}: {error}"
        );
    }
}

#[test]
fn front_matter_and_prompt_are_split() {
    let workflow = Workflow::parse("---\r\na: {b: 1}\r\n---\r\n\r\n  Do it.\n---\nmore\n").unwrap();
    assert_eq!(workflow.config["a"], json!({ "b": 1 }));
    assert_eq!(workflow.prompt, "Do it.\n---\nmore");
    let plain = Workflow::parse("\u{feff}Only a prompt\n").unwrap();
    assert!(plain.config.is_empty());
    assert_eq!(plain.prompt, "Only a prompt");
    assert_eq!(Workflow::parse("---\n---\nx").unwrap().prompt, "x");
}

#[test]
fn config_defaults_apply() {
    let config = config("").unwrap();
    assert_eq!(config.tracker.kind, "directory");
    assert_eq!(config.poll_interval, Duration::from_secs(30));
    assert_eq!(config.workspace_root, Path::new("/tmp/symphony_workspaces"));
    assert_eq!(config.hooks.timeout, Duration::from_secs(60));
    assert_eq!(config.agent.max_concurrent_agents, 10);
    assert_eq!(config.agent.max_turns, 20);
    assert_eq!(config.agent.max_retry_backoff, Duration::from_secs(300));
    assert_eq!(config.codex.command, "codex app-server");
    assert_eq!(config.codex.turn_timeout, Duration::from_secs(3600));
    assert_eq!(config.codex.read_timeout, Duration::from_secs(5));
    assert_eq!(config.codex.stall_timeout, Some(Duration::from_secs(300)));
    assert_eq!(config.codex.approval_policy, "never");
    assert_eq!(config.codex.thread_sandbox, "workspace-write");
    assert_eq!(config.server_port, None);
}

#[test]
fn unknown_keys_are_ignored_and_wrong_values_are_not() {
    config("future: { x: 1 }\nagent: { mood: good }").unwrap();
    for (front, key) in [
        ("tracker: { kind: carrier-pigeon }", "tracker.kind"),
        ("polling: { interval_ms: soon }", "polling.interval_ms"),
        ("hooks: { timeout_ms: 0 }", "hooks.timeout_ms"),
        ("hooks: { before_run: [ls] }", "hooks.before_run"),
        ("agent: { max_turns: -1 }", "agent.max_turns"),
        ("codex: { command: ' ' }", "codex.command"),
        ("server: { port: 70000 }", "server.port"),
        ("agent: 7", "agent"),
        ("budget: { cost_per_day: 5 }", "budget.price_per_million"),
        ("workspace: { root: $NOT_SET }", "workspace.root"),
        ("result: { repository: r }", "result.branch_prefix"),
        (
            "worker: { ssh_hosts: [a] }\nresult: { branch_prefix: x/ }",
            "result.branch_prefix",
        ),
    ] {
        assert_eq!(config(front).unwrap_err().key, key, "{front}");
    }
}

#[test]
fn provider_keys_are_preserved() {
    let config = config("tracker: { provider: { path: issues, odd: { deep: [1] } } }").unwrap();
    assert_eq!(config.tracker.provider["odd"], json!({ "deep": [1] }));
}

#[test]
fn variables_and_home_resolve_in_paths_only() {
    let mut env = env(Path::new("/srv/flow"));
    env.variables.insert("ROOT".to_owned(), "/data".to_owned());
    env.variables.insert("EMPTY".to_owned(), String::new());
    let root = |value: &str| {
        let text = format!("---\nworkspace: {{ root: \"{value}\" }}\n---\n");
        let config = Config::new(&Workflow::parse(&text).unwrap(), &env);
        config.map(|it| it.workspace_root.display().to_string())
    };
    assert_eq!(root("$ROOT").unwrap(), "/data");
    assert_eq!(root("$ROOT/sub").unwrap(), "/data/sub");
    assert_eq!(root("~/sub").unwrap(), "/home/me/sub");
    assert_eq!(root("rel/../x").unwrap(), "/srv/flow/x");
    assert!(root("$EMPTY").is_err());
    assert_eq!(env.resolve("$ROOT").as_deref(), Some("/data"));
    assert_eq!(env.resolve("$EMPTY"), None, "an empty secret is missing");
    assert_eq!(env.resolve("pay $ROOT").as_deref(), Some("pay $ROOT"));
    let shell = config("codex: { command: 'echo $ROOT ~ && codex app-server' }").unwrap();
    assert_eq!(shell.codex.command, "echo $ROOT ~ && codex app-server");
}

#[test]
fn per_state_concurrency_normalizes_names_and_ignores_invalid_values() {
    let front = "agent: { max_concurrent_agents_by_state: { ' In Progress ': 2, todo: 0, done: x, review: '3' } }";
    let limits = config(front).unwrap().agent.max_concurrent_agents_by_state;
    let limits: Vec<_> = limits
        .iter()
        .map(|(state, limit)| (state.as_str(), *limit))
        .collect();
    assert_eq!(limits, [("in progress", 2), ("review", 3)]);
}

#[test]
fn prompt_template_renders_issue_and_attempt() {
    let mut issue = Issue::new("1", "A-1", "Fix <it>", "Todo");
    issue.labels = vec!["bug".to_owned(), "urgent".to_owned()];
    let variables = |attempt: Option<u32>| json!({ "issue": issue, "attempt": attempt });
    let template = "\
{{ issue.identifier }}: {{ issue.title | upcase }}
{%- if attempt %} (attempt {{ attempt }}){% elsif issue.priority == nil %} (first){% endif %}
{% for label in issue.labels -%}
* {{ label }}
{% endfor %}{% unless issue.description %}no text{% else %}text{% endunless %}
{{ issue.description | default: \"none given\" }} {{ issue.labels | join: ', ' }} {{ issue.labels | size }}
{% if issue.labels contains \"bug\" and issue.state != \"Done\" %}fix{% endif %}{% comment %}{{ no }}{% endcomment %}{% raw %}{{ as is }}{% endraw %}";
    let text = render(template, &variables(None)).unwrap();
    let expected =
        "A-1: FIX <IT> (first)\n* bug\n* urgent\nno text\nnone given bug, urgent 2\nfix{{ as is }}";
    assert_eq!(text, expected);
    let again = render(template, &variables(Some(2))).unwrap();
    assert!(again.starts_with("A-1: FIX <IT> (attempt 2)\n"), "{again}");
}

#[test]
fn prompt_rendering_fails_on_unknown_variables_and_filters() {
    let variables = json!({ "issue": Issue::new("1", "A", "T", "Todo"), "attempt": null });
    for (template, said) in [
        ("{{ isue.title }}", "unknown variable `isue`"),
        (
            "\n{{ issue.titel }}",
            "line 2: unknown variable `issue.titel`",
        ),
        (
            "{% if issue.nope %}{% endif %}",
            "unknown variable `issue.nope`",
        ),
        ("{{ issue.title | shout }}", "unknown filter `shout`"),
        ("{{ issue.labels }}", "a list has no text"),
        (
            "{% for x in issue.title %}{% endfor %}",
            "`for` needs a list",
        ),
    ] {
        let error = render(template, &variables).unwrap_err();
        assert!(
            matches!(error, TemplateError::Render { .. }),
            "{template}: {error}"
        );
        assert!(error.to_string().contains(said), "{template}: {error}");
    }
    for template in [
        "{{ issue.title",
        "{% if attempt %}x",
        "{% endfor %}",
        "{% huh %}",
        "{{ }}",
        "{{ 'a }}",
        "{{ a | join: , }}",
    ] {
        let error = render(template, &variables).unwrap_err();
        assert!(
            matches!(error, TemplateError::Parse { .. }),
            "{template}: {error}"
        );
    }
    let deep = format!(
        "{}x{}",
        "{% if attempt %}".repeat(200),
        "{% endif %}".repeat(200)
    );
    assert!(render(&deep, &variables).is_err());
}

#[test]
fn what_an_issue_says_is_not_a_template() {
    let mut issue = Issue::new("1", "A", "{{ attempt }}{% raw %}", "Todo");
    issue.description = Some("{{ secret }}".to_owned());
    let variables = json!({ "issue": issue, "attempt": 3 });
    let text = render("{{ issue.title }} {{ issue.description }}", &variables).unwrap();
    assert_eq!(text, "{{ attempt }}{% raw %} {{ secret }}");
}

#[test]
fn workspace_keys_are_safe_and_distinct() {
    assert_eq!(workspace::key("ABC-123"), "ABC-123");
    assert_eq!(workspace::key("a.b_c-D"), "a.b_c-D");
    let (one, two) = (workspace::key("a/b"), workspace::key("a:b"));
    assert!(one.starts_with("a_b-") && two.starts_with("a_b-") && one != two);
    assert_eq!(one, workspace::key("a/b"), "keys do not change");
    for odd in ["", ".", "..", "../../etc", "a\0b", "é", &"x".repeat(500)] {
        let key = workspace::key(odd);
        let safe = |it: char| it.is_ascii_alphanumeric() || ".-_".contains(it);
        assert!(
            key.chars().all(safe) && key.len() < 255 && key.len() > 2,
            "{odd}: {key}"
        );
    }
}

#[tokio::test]
async fn workflow_changes_are_applied_without_restart() {
    let lab = Lab::new(DONE, "polling: { interval_ms: 60000 }");
    let running = lab.start().await;
    let before = running
        .until("a first poll", |it| it["poll_interval_ms"] == 60_000)
        .await;
    assert_eq!(before["max_concurrent_agents"], 10);
    lab.write_workflow(
        "agent: { max_concurrent_agents: 3 }",
        "New words for {{ issue.identifier }}",
    );
    running
        .until("the new limit", |it| it["max_concurrent_agents"] == 3)
        .await;
    lab.issue("A");
    running.until_completed(1).await;
    assert_eq!(lab.prompts("A"), ["New words for A"]);
    running.stop().await;
}

#[tokio::test]
async fn invalid_reload_keeps_last_known_good_configuration() {
    let lab = Lab::new(DONE, "");
    let running = lab.start().await;
    lab.write_workflow("agent: { max_turns: none }", "x");
    let state = running
        .until("the error is shown", |it| !it["config_error"].is_null())
        .await;
    assert!(
        state["config_error"]
            .as_str()
            .unwrap()
            .contains("agent.max_turns")
    );
    lab.issue("A");
    fs::remove_file(lab.path().join("WORKFLOW.md")).unwrap();
    running
        .until("the file is missed", |it| {
            it["config_error"]
                .as_str()
                .is_some_and(|it| it.contains("missing_workflow_file"))
        })
        .await;
    assert!(lab.trace("A").is_empty(), "nothing is dispatched");
    lab.write_workflow("", "Do {{ issue.identifier }}");
    let state = running.until_completed(1).await;
    assert!(state["config_error"].is_null());
    running.stop().await;
}

#[test]
fn observability_settings_are_typed_and_checked() {
    let read = |front: &str| config(front).map(|it| it.observability);
    let default = read("").unwrap();
    assert_eq!(default.log_level, LevelFilter::INFO);
    assert_eq!(default.attempt_log_bytes, 64 << 20);
    assert_eq!(default.recent_events, 20);
    assert_eq!(default.refresh, Some(Duration::from_secs(3)));
    let given = "observability: { log_level: Debug, attempt_log_bytes: 0, recent_events: 3, refresh_ms: 0 }";
    let given = read(given).unwrap();
    assert_eq!(given.log_level, LevelFilter::DEBUG);
    assert_eq!((given.attempt_log_bytes, given.recent_events), (0, 3));
    assert_eq!(given.refresh, None);
    for (front, key) in [
        ("observability: 1", "observability"),
        (
            "observability: { log_level: loud }",
            "observability.log_level",
        ),
        ("observability: { log_level: 3 }", "observability.log_level"),
        (
            "observability: { attempt_log_bytes: -1 }",
            "observability.attempt_log_bytes",
        ),
        (
            "observability: { recent_events: 0 }",
            "observability.recent_events",
        ),
        (
            "observability: { recent_events: 1001 }",
            "observability.recent_events",
        ),
        (
            "observability: { refresh_ms: soon }",
            "observability.refresh_ms",
        ),
    ] {
        let error = read(front).unwrap_err();
        assert_eq!(error.key, key, "{error}");
    }
}

#[tokio::test]
async fn observability_settings_are_applied_without_restart() {
    let front = |settings: &str| format!("observability: {{ {settings} }}");
    // Six events that are all passed on, and then nothing more.
    let work = "for it in 1 2 3 4 5 6; do tokens $it 0; done";
    let first = "log_level: warn, refresh_ms: 2500, recent_events: 2, attempt_log_bytes: 0";
    let mut lab = Lab::new(work, &front(first));
    let levels = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&levels);
    lab.options.set_log_level = Some(Arc::new(move |level| seen.lock().push(level)));
    lab.issue("A");
    let running = lab.start().await;
    assert_eq!(*levels.lock(), [LevelFilter::WARN]);
    let recent = async |row: usize, name: &str| {
        let is_over = |it: &Value| it["running"][row]["tokens"]["total_tokens"] == 6;
        running.until("six events", is_over).await;
        let details = running.details(name).await.unwrap();
        details["recent_events"].as_array().unwrap().len()
    };
    assert_eq!(recent(0, "A").await, 2);
    // One that cannot be used changes nothing.
    lab.write_workflow(&front("log_level: loud, refresh_ms: 1"), "Do it.");
    let is_refused = |it: &Value| it["config_error"].is_string();
    let state = running.until("it is refused", is_refused).await;
    assert_eq!(state["refresh_ms"], 2500);
    assert_eq!(levels.lock().last(), Some(&LevelFilter::WARN));
    let second = "log_level: debug, refresh_ms: 0, recent_events: 4, attempt_log_bytes: 100000";
    lab.write_workflow(&front(second), "Do it.");
    let is_new = |it: &Value| it["refresh_ms"].is_null();
    running.until("the new settings", is_new).await;
    lab.issue("B");
    assert_eq!(recent(1, "B").await, 4);
    assert_eq!(levels.lock().last(), Some(&LevelFilter::DEBUG));
    running.stop().await;
    let log = |name: &str| lab.options.places.log(name, 1);
    assert!(!log("A").exists(), "it began when none was to be kept");
    assert!(fs::read_to_string(log("B")).unwrap().contains("tokenUsage"));
}
