//! What is measured and where: a program with fresh directories, a bare `HOME` and the scripted model.

use std::path::{Path, PathBuf};

use quipu_testkit::process::Launch;
use tempfile::TempDir;

use crate::Result;
use crate::session::Session;

/// A server program.
#[derive(Debug, Clone)]
pub struct Subject {
    pub name: String,
    pub program: PathBuf,
}

impl Subject {
    pub fn new(name: &str, program: impl Into<PathBuf>) -> Subject {
        Subject {
            name: name.to_owned(),
            program: program.into(),
        }
    }
}

/// A home directory with settings that name the scripted model.
#[derive(Debug)]
pub struct Home(TempDir);

impl Home {
    pub fn new(model: &str) -> Result<Home> {
        let directory = tempfile::tempdir()?;
        let settings = format!(
            r#"model = "mock-model"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.mock]
name = "mock"
base_url = "{model}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"#
        );
        std::fs::write(directory.path().join("config.toml"), settings)?;
        Ok(Home(directory))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Adds settings at the end, which begin with the name of their table.
    pub fn add(&self, settings: &str) -> Result<()> {
        let path = self.path().join("config.toml");
        let before = std::fs::read_to_string(&path)?;
        Ok(std::fs::write(path, before + settings)?)
    }

    /// The server program in this home.
    pub fn launch(&self, program: &Path, args: &[&str]) -> Launch {
        self.launch_any(program, &["app-server"])
            .args(args.iter().copied())
    }

    /// The program in this home. Its `HOME` and current directory are new and empty. Some servers refuse
    /// to sandbox anything when their home is a temporary directory, so they are told of another one.
    fn launch_any(&self, program: &Path, args: &[&str]) -> Launch {
        let path = self.0.path().to_string_lossy();
        Launch::new(program)
            .args(args.iter().copied())
            .env("QUIPU_HOME", &path)
            .env("CODEX_HOME", &path)
            .env("TMPDIR", "/var/tmp")
            .env("RUST_LOG", "error")
    }
}

/// One subject in one row: it stays for all rounds.
#[derive(Debug)]
pub struct Ground<'a> {
    subject: &'a Subject,
    model: &'a str,
    quick: bool,
    stock: Home,
}

impl<'a> Ground<'a> {
    pub fn new(subject: &'a Subject, model: &'a str, quick: bool) -> Result<Ground<'a>> {
        Ok(Ground {
            subject,
            model,
            quick,
            stock: Home::new(model)?,
        })
    }

    pub fn subject(&self) -> &Subject {
        self.subject
    }

    /// The address of the scripted model.
    pub fn model(&self) -> &str {
        self.model
    }

    /// A count or size of a row, a tenth of it in a quick run.
    pub fn count(&self, full: usize) -> usize {
        if self.quick { full.div_ceil(10) } else { full }
    }

    /// The home that the row prepares; also a place for what it needs besides.
    pub fn stock(&self) -> &Path {
        self.stock.path()
    }

    /// A server in a home of its own.
    pub async fn start(&self) -> Result<Session> {
        self.start_with(&[]).await
    }

    /// The same with more variables in its environment.
    pub async fn start_with(&self, env: &[(&str, &str)]) -> Result<Session> {
        let home = Home::new(self.model)?;
        let mut launch = home.launch(&self.subject.program, &[]);
        for (name, value) in env {
            launch = launch.env(name, value);
        }
        Session::start(launch, Some(home)).await
    }

    /// The program with these arguments, in the home that the row prepares.
    pub fn program(&self, args: &[&str]) -> Launch {
        self.stock.launch_any(&self.subject.program, args)
    }

    /// A server in the home that the row prepared.
    pub async fn start_stocked(&self) -> Result<Session> {
        let launch = self.stock.launch(&self.subject.program, &[]);
        Session::start(launch, None).await
    }
}
