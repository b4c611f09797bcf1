//! The front matter as typed settings, with defaults and checks.

mod observability;
mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::env::Env;
use crate::ssh::Host;
use crate::template::{Template, TemplateError};
use crate::tracker::{self, normalized};
use crate::workflow::Workflow;
pub use observability::Observability;
use read::Section;

/// All settings of the service.
#[derive(Clone, Debug)]
pub struct Config {
    pub tracker: TrackerConfig,
    pub poll_interval: Duration,
    pub workspace_root: PathBuf,
    pub hooks: Hooks,
    pub agent: AgentConfig,
    pub codex: CodexConfig,
    /// The port of the HTTP listener; none without it.
    pub server_port: Option<u16>,
    pub observability: Observability,
    pub worker: WorkerConfig,
    pub budget: Budget,
    pub result: ResultConfig,
    /// The prompt; why it cannot be rendered otherwise, which fails attempts rather than the service.
    pub prompt: Result<Template, TemplateError>,
}

/// Which issues are worked on.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackerConfig {
    pub kind: String,
    /// The tracker's own settings, as they stand in the file.
    pub provider: Map<String, Value>,
    /// Compared as [`tracker::labels`] writes them. A blank one matches no issue.
    pub required_labels: Vec<String>,
    pub active_states: Vec<String>,
    pub terminal_states: Vec<String>,
}

/// Scripts around the life of a workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Hooks {
    pub after_create: Option<String>,
    pub before_run: Option<String>,
    pub after_run: Option<String>,
    pub before_remove: Option<String>,
    pub timeout: Duration,
}

/// How much is done at once, and how often it is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentConfig {
    pub max_concurrent_agents: usize,
    pub max_turns: u32,
    pub max_retry_backoff: Duration,
    /// By normalized state.
    pub max_concurrent_agents_by_state: BTreeMap<String, usize>,
}

/// How an agent is started and what it may do. Policies are passed on as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct CodexConfig {
    pub command: String,
    pub approval_policy: Value,
    pub thread_sandbox: Value,
    pub turn_sandbox_policy: Option<Value>,
    pub model: Option<String>,
    pub turn_timeout: Duration,
    pub read_timeout: Duration,
    /// None means that silence is not watched.
    pub stall_timeout: Option<Duration>,
}

/// Where agents run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerConfig {
    /// None means on this machine.
    pub ssh_hosts: Vec<String>,
    pub max_concurrent_agents_per_host: Option<usize>,
    /// The configuration of `ssh` in place of the user's.
    pub ssh_config: Option<PathBuf>,
}

/// What may be spent before nothing more is dispatched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    pub tokens_per_issue: Option<u64>,
    pub tokens_per_day: Option<u64>,
    pub cost_per_issue: Option<f64>,
    pub cost_per_day: Option<f64>,
    pub price: Price,
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    pub input: f64,
    pub cached_input: f64,
    pub output: f64,
}

/// What is kept of the changes that an agent made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultConfig {
    /// Commit them to a branch of the workspace's repository whose name begins with this.
    pub branch_prefix: Option<String>,
    /// The repository into which that branch is fetched.
    pub repository: Option<PathBuf>,
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid_config: `{key}` {problem}")]
pub struct ConfigError {
    /// With dots, as `polling.interval_ms`.
    pub key: String,
    pub problem: String,
}

impl Config {
    /// Reads the settings of a workflow.
    pub fn new(workflow: &Workflow, env: &Env) -> Result<Config, ConfigError> {
        let root = &workflow.config;
        let polling = Section::of(root, "polling")?;
        let workspace = Section::of(root, "workspace")?;
        let server = Section::of(root, "server")?;
        let default_root = env.temporary.join("symphony_workspaces");
        let worker = WorkerConfig::new(&Section::of(root, "worker")?, env)?;
        let result = ResultConfig::new(&Section::of(root, "result")?, env)?;
        if result.branch_prefix.is_some() && !worker.ssh_hosts.is_empty() {
            return Err(ConfigError {
                key: "result.branch_prefix".to_owned(),
                problem: "cannot be used with `worker.ssh_hosts`: let `hooks.after_run` commit and push on the host"
                    .to_owned(),
            });
        }
        Ok(Config {
            tracker: TrackerConfig::new(&Section::of(root, "tracker")?)?,
            poll_interval: polling.positive_ms("interval_ms", 30_000)?,
            workspace_root: match workspace.text("root")? {
                Some(path) => env
                    .path(&path)
                    .map_err(|problem| workspace.error("root", problem))?,
                None => default_root,
            },
            hooks: Hooks::new(&Section::of(root, "hooks")?)?,
            agent: AgentConfig::new(&Section::of(root, "agent")?)?,
            codex: CodexConfig::new(&Section::of(root, "codex")?, env)?,
            server_port: match server.integer("port")? {
                None => None,
                Some(port) => Some(u16::try_from(port).map_err(|_| {
                    server.error(
                        "port",
                        format!("must be a port from 0 to 65535, not {port}"),
                    )
                })?),
            },
            observability: Observability::new(&Section::of(root, "observability")?)?,
            worker,
            budget: Budget::new(&Section::of(root, "budget")?)?,
            result,
            prompt: Template::parse(&workflow.prompt),
        })
    }

    /// Whether a state is one in which agents work.
    #[must_use]
    pub fn is_active(&self, state: &str) -> bool {
        holds(&self.tracker.active_states, state) && !self.is_terminal(state)
    }

    /// Whether a state means that nothing is left to do.
    #[must_use]
    pub fn is_terminal(&self, state: &str) -> bool {
        holds(&self.tracker.terminal_states, state)
    }
}

fn holds(states: &[String], state: &str) -> bool {
    let state = normalized(state);
    states.iter().any(|it| normalized(it) == state)
}

impl TrackerConfig {
    fn new(section: &Section<'_>) -> Result<TrackerConfig, ConfigError> {
        let kind = section.text("kind")?;
        let kind = kind.unwrap_or_else(|| tracker::DEFAULT_KIND.to_owned());
        let Some((active, terminal)) = tracker::default_states(&kind) else {
            let problem = format!(
                "is `{kind}`, which is not supported; choose one of {}",
                tracker::KINDS.join(", ")
            );
            return Err(section.error("kind", problem));
        };
        let states = |key, default: &[&str]| {
            let given = section.texts(key)?;
            Ok(given.unwrap_or_else(|| default.iter().map(|it| (*it).to_owned()).collect()))
        };
        Ok(TrackerConfig {
            active_states: states("active_states", active)?,
            terminal_states: states("terminal_states", terminal)?,
            required_labels: {
                let labels = section.texts("required_labels")?.unwrap_or_default();
                labels.iter().map(|it| it.trim().to_lowercase()).collect()
            },
            provider: section.object("provider")?,
            kind,
        })
    }
}

impl Hooks {
    fn new(section: &Section<'_>) -> Result<Hooks, ConfigError> {
        Ok(Hooks {
            after_create: section.text("after_create")?,
            before_run: section.text("before_run")?,
            after_run: section.text("after_run")?,
            before_remove: section.text("before_remove")?,
            timeout: section.positive_ms("timeout_ms", 60_000)?,
        })
    }
}

impl AgentConfig {
    fn new(section: &Section<'_>) -> Result<AgentConfig, ConfigError> {
        let by_state = section.object("max_concurrent_agents_by_state")?;
        let usable = |(state, limit): (&String, &Value)| {
            let limit = read::integer(limit).filter(|it| *it > 0)?;
            Some((normalized(state), usize::try_from(limit).ok()?))
        };
        Ok(AgentConfig {
            max_concurrent_agents: section.positive("max_concurrent_agents", 10)?,
            max_turns: section.positive("max_turns", 20)?,
            max_retry_backoff: section.positive_ms("max_retry_backoff_ms", 300_000)?,
            max_concurrent_agents_by_state: by_state.iter().filter_map(usable).collect(),
        })
    }
}

impl CodexConfig {
    fn new(section: &Section<'_>, env: &Env) -> Result<CodexConfig, ConfigError> {
        let command = section.text("command")?;
        let command = command.unwrap_or_else(|| env.default_command.clone());
        if command.trim().is_empty() {
            let problem =
                "is empty; it is the command that starts an agent, such as `codex app-server`";
            return Err(section.error("command", problem));
        }
        let stall = section.integer("stall_timeout_ms")?.unwrap_or(300_000);
        let value = |key, default: &str| section.value(key).unwrap_or_else(|| default.into());
        Ok(CodexConfig {
            command,
            approval_policy: value("approval_policy", "never"),
            thread_sandbox: value("thread_sandbox", "workspace-write"),
            turn_sandbox_policy: section.value("turn_sandbox_policy"),
            model: section.text("model")?,
            turn_timeout: section.positive_ms("turn_timeout_ms", 3_600_000)?,
            read_timeout: section.positive_ms("read_timeout_ms", 5_000)?,
            stall_timeout: u64::try_from(stall)
                .ok()
                .filter(|it| *it > 0)
                .map(Duration::from_millis),
        })
    }
}

impl WorkerConfig {
    fn new(section: &Section<'_>, env: &Env) -> Result<WorkerConfig, ConfigError> {
        let per_host = "max_concurrent_agents_per_host";
        let hosts = section.texts("ssh_hosts")?.unwrap_or_default();
        for host in &hosts {
            Host::new(host, None).map_err(|problem| section.error("ssh_hosts", problem))?;
        }
        let config = section.text("ssh_config")?.map(|path| {
            env.path(&path)
                .map_err(|problem| section.error("ssh_config", problem))
        });
        Ok(WorkerConfig {
            ssh_hosts: hosts,
            max_concurrent_agents_per_host: match section.value(per_host) {
                Some(_) => Some(section.positive(per_host, 1)?),
                None => None,
            },
            ssh_config: config.transpose()?,
        })
    }
}

impl Budget {
    fn new(section: &Section<'_>) -> Result<Budget, ConfigError> {
        let prices = section.section("price_per_million")?;
        let input = prices.amount("input")?.unwrap_or(0.0);
        let budget = Budget {
            tokens_per_issue: section.count("tokens_per_issue")?,
            tokens_per_day: section.count("tokens_per_day")?,
            cost_per_issue: section.amount("cost_per_issue")?,
            cost_per_day: section.amount("cost_per_day")?,
            price: Price {
                input,
                cached_input: prices.amount("cached_input")?.unwrap_or(input),
                output: prices.amount("output")?.unwrap_or(0.0),
            },
        };
        let limited = budget.cost_per_issue.or(budget.cost_per_day).is_some();
        if limited && budget.price == Price::default() {
            let problem = "is needed to know the cost: give `input` and `output`";
            return Err(section.error("price_per_million", problem));
        }
        Ok(budget)
    }
}

impl ResultConfig {
    fn new(section: &Section<'_>, env: &Env) -> Result<ResultConfig, ConfigError> {
        let repository = section.text("repository")?;
        let repository = repository.map(|path| {
            env.path(&path)
                .map_err(|problem| section.error("repository", problem))
        });
        let repository = repository.transpose()?;
        let prefix = section.text("branch_prefix")?;
        if prefix.is_none() && repository.is_some() {
            let problem = "is needed with `result.repository`: it begins the names of branches";
            return Err(section.error("branch_prefix", problem));
        }
        Ok(ResultConfig {
            branch_prefix: prefix,
            repository,
        })
    }
}
