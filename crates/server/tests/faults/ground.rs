//! Where one cell of the matrix happens: a home, a directory to work in, a model, and what the fault needs
//! to be possible.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use quipu_testkit::model::ModelServer;
use quipu_testkit::process::{Launch, ServerProcess};
use quipu_testkit::small_disk::SmallDisk;
use tempfile::TempDir;

use crate::clock::Clock;
use crate::privilege;
use crate::wire::Tried;

/// Who runs the server when root must not: limits and permissions do not bind root.
const NOBODY: u32 = 65534;

/// The key of the model's provider, which nobody but the model may ever see.
pub const SECRET: &str = "sk-only-the-model-may-see-this";

/// What a fault needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs {
    /// The home lies on a disk that can be filled.
    pub small_disk: bool,
    /// The server runs without privileges.
    pub plain_user: bool,
    /// How often a broken answer of the model is asked for again.
    pub retries: u32,
    /// The server loses patience with a silent model.
    pub impatient: bool,
    /// Clients come over a websocket.
    pub socket: bool,
}

pub struct Ground {
    directory: TempDir,
    home: PathBuf,
    pub disk: Option<SmallDisk>,
    pub model: ModelServer,
    pub clock: Clock,
    needs: Needs,
}

impl Ground {
    /// With more settings than all have.
    pub async fn new(needs: Needs, settings: &str) -> Tried<Ground> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let disk = match needs.small_disk {
            true => Some(SmallDisk::mount()?),
            false => None,
        };
        let home = match &disk {
            Some(disk) => disk.path().join("home"),
            None => directory.path().join("home"),
        };
        let model = ModelServer::start().await;
        let model = model.map_err(|error| format!("no model: {error}"))?;
        let clock = Clock::new(&directory.path().join("clock"));
        let ground = Ground {
            directory,
            home,
            disk,
            model,
            clock,
            needs,
        };
        ground
            .furnish(settings)
            .map_err(|error| error.to_string())?;
        Ok(ground)
    }

    fn furnish(&self, settings: &str) -> std::io::Result<()> {
        let patience = if self.needs.impatient { 700 } else { 120_000 };
        let config = format!(
            "model = \"scripted-model\"\nmodel_provider = \"scripted\"\nsandbox_mode = \"danger-full-access\"\n\
             approval_policy = \"never\"\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}\"\n\
             wire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nrequest_max_retries = {retries}\nstream_max_retries = {retries}\n\
             stream_idle_timeout_ms = {patience}\n{settings}",
            self.model.base_url(),
            retries = self.needs.retries,
        );
        for directory in [&self.home, &self.work()] {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(self.home.join("config.toml"), config)?;
        std::fs::write(self.fail_points(), "")?;
        if self.is_nobody() {
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(self.directory.path(), open)?;
            for path in [&self.home, &self.work(), &self.home.join("config.toml")] {
                std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY))?;
            }
        }
        Ok(())
    }

    /// A server on this ground; another one each time, on the same home.
    pub fn serve(&self, socket: bool) -> ServerProcess {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut launch = match std::env::var_os("QUIPU_BIN") {
            Some(program) => Launch::new(program),
            None => Launch::new(std::env::current_exe().unwrap_or_default()),
        };
        launch = launch
            .args(["app-server"])
            .directory_at(&self.work())
            .env("QUIPU_HOME", &text(&self.home))
            .env("SCRIPTED_KEY", SECRET)
            .env("QUIPU_FAIL_POINTS", &text(&self.fail_points()))
            .env(crate::clock::FILE, &text(self.clock.file()));
        if socket {
            launch = launch.args(["--listen", "ws://127.0.0.1:0"]);
        }
        if self.is_nobody() {
            launch = launch.user(NOBODY);
        } else if self.needs.plain_user {
            launch = launch.env(privilege::PLAIN, "1");
        }
        launch.start()
    }

    /// Sets what a process of the server may have; gives everything back without a number. Only a process
    /// of the same user may do that without a privilege that root often lacks.
    #[expect(clippy::disallowed_methods, reason = "a part of the test, waited for")]
    pub fn limit(&self, pid: i32, resource: &str, number: Option<u64>) -> Tried<()> {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap_or_default());
        let number = number.map_or_else(|| "most".to_owned(), |it| it.to_string());
        command.args(["limit", &pid.to_string(), resource, &number]);
        if self.is_nobody() {
            use std::os::unix::process::CommandExt as _;
            command.uid(NOBODY).gid(NOBODY).current_dir("/");
        }
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            failed => Err(format!("{resource} cannot be limited: {failed:?}")),
        }
    }

    pub fn over_socket(&self) -> bool {
        self.needs.socket
    }

    fn is_nobody(&self) -> bool {
        self.needs.plain_user && privilege::is_root()
    }

    /// The directory in which threads work.
    pub fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// A file whose content is a heavy answer.
    pub fn large_file(&self) -> PathBuf {
        let path = self.work().join("large");
        std::fs::write(&path, vec![0; 1 << 20]).unwrap_or_default();
        path
    }

    fn fail_points(&self) -> PathBuf {
        self.directory.path().join("fail-points")
    }

    /// Makes the server panic where it says, from now on; nowhere if empty.
    pub fn panic_at(&self, places: &str) {
        std::fs::write(self.fail_points(), places).unwrap_or_default();
    }

    /// The files below the home whose names fit.
    pub fn files(&self, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let mut directories = vec![self.home.clone()];
        let mut found = Vec::new();
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    directories.push(path);
                } else if fits(&entry.file_name().to_string_lossy()) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Takes or gives the right to change anything below the home. Links lead out of it, to the program
    /// itself for one.
    pub fn set_writable(&self, writable: bool) {
        let mut paths = vec![self.home.clone()];
        let mut looked = 0;
        while let Some(path) = paths.get(looked).cloned() {
            looked += 1;
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                paths.extend(entries.map(|it| it.path()).filter(|it| !it.is_symlink()));
            }
        }
        for path in paths {
            let mode = match (path.is_dir(), writable) {
                (true, true) => 0o700,
                (true, false) => 0o500,
                (false, true) => 0o600,
                (false, false) => 0o400,
            };
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, permissions).unwrap_or_default();
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.set_writable(true);
    }
}
