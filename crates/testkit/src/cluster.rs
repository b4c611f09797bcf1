//! A PostgreSQL server in a temporary directory, on a unix socket, which ends with the process that started it.
//! The programs of Debian's package are needed.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the server may take to start, stop or answer.
const PATIENCE: Duration = Duration::from_secs(120);

const UTF8: &str = "the path is UTF-8";

/// Runs the server until its standard input ends, then stops it and removes its files, unless they are to be kept. So
/// nothing is left behind, however the test process ends. A server that cannot start yet, because processes of a killed
/// one are still there, is started again.
const KEEPER: &str = r#"
    (
        until "$@" -D "$0/data" -k "$0" -c listen_addresses= >>"$0/log" 2>&1 || [ -e "$0/stop" ]; do :; done
    ) &
    read -r _
    touch "$0/stop"
    while kill -0 $! 2>/dev/null; do
        [ -e "$0/keep" ] || kill -QUIT "$(head -n 1 "$0/data/postmaster.pid")" 2>/dev/null
        sleep 0.05
    done
    wait
    [ -e "$0/keep" ] || rm -rf "$0"
"#;

/// Files that tell the keeper to start the server no more, and to keep its files.
const MARKS: [&str; 2] = ["stop", "keep"];

/// How a server is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where its temporary directory is made; its name must be short, since it is the name of a socket.
    pub directory: PathBuf,
    /// Settings of PostgreSQL, such as `fsync=off`.
    pub parameters: Vec<String>,
    /// What it has in its environment besides.
    pub environment: Vec<(String, String)>,
}

impl Default for Settings {
    /// Quick, and gone when the machine crashes.
    fn default() -> Self {
        Self {
            directory: "/tmp".into(),
            parameters: ["fsync=off", "autovacuum=off"].map(str::to_owned).into(),
            environment: Vec::new(),
        }
    }
}

/// A server that runs.
pub struct Cluster {
    directory: PathBuf,
    settings: Settings,
    keeper: Option<(Child, ChildStdin)>,
}

/// The server that the tests of this process share; none where PostgreSQL is not installed.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(Cluster::start).as_ref()
}

/// The programs of the newest PostgreSQL.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|entry| entry.path()).max_by_key(number)?;
    Some(newest.join("bin")).filter(|bin| bin.join("initdb").exists())
}

#[expect(
    clippy::disallowed_methods,
    reason = "only tests and measurements start a database"
)]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// The server refuses to be run by root.
fn as_user() -> Vec<String> {
    match rustix::process::geteuid().is_root() {
        true => [
            "setpriv",
            "--reuid=postgres",
            "--regid=postgres",
            "--init-groups",
        ]
        .map(str::to_owned)
        .into(),
        false => Vec::new(),
    }
}

fn run(program: &str, arguments: &[&str]) {
    let output = command(program)
        .args(arguments)
        .current_dir("/")
        .output()
        .expect("the program can be started");
    assert!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

impl Cluster {
    /// Makes and starts a server; none where PostgreSQL is not installed.
    pub fn start() -> Option<Cluster> {
        Cluster::start_with(Settings::default())
    }

    /// The same with other settings.
    pub fn start_with(settings: Settings) -> Option<Cluster> {
        let Some(bin) = programs() else {
            eprintln!("skipped: PostgreSQL is not installed (Debian: postgresql)");
            return None;
        };
        let directory = tempfile::Builder::new()
            .prefix("qpg")
            .tempdir_in(&settings.directory)
            .expect("a directory can be made")
            .keep();
        let name = directory.to_str().expect(UTF8);
        if rustix::process::geteuid().is_root() {
            run("chown", &["postgres:postgres", name]);
        }
        let user = as_user();
        let data = format!("{name}/data");
        let initdb = bin.join("initdb");
        let mut arguments: Vec<&str> = user.iter().skip(1).map(String::as_str).collect();
        let make = [
            "-D",
            &data,
            "-U",
            "quipu",
            "-A",
            "trust",
            "-N",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ];
        match user.first() {
            Some(program) => {
                arguments.push(initdb.to_str().expect(UTF8));
                arguments.extend(make);
                run(program, &arguments);
            }
            None => run(initdb.to_str().expect(UTF8), &make),
        }
        let mut cluster = Cluster {
            directory,
            settings,
            keeper: None,
        };
        cluster.launch();
        Some(cluster)
    }

    /// Starts the server on the files that are there.
    pub fn launch(&mut self) {
        for mark in MARKS {
            drop(fs::remove_file(self.directory.join(mark)));
        }
        let postgres = programs()
            .expect("PostgreSQL is installed")
            .join("postgres");
        let mut keeper = command("sh");
        keeper
            .arg("-c")
            .arg(KEEPER)
            .arg(&self.directory)
            .args(as_user())
            .arg(postgres)
            .args(self.settings.parameters.iter().flat_map(|it| ["-c", it]));
        keeper
            .current_dir("/")
            .envs(self.settings.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut keeper = keeper.spawn().expect("a shell can be started");
        let input = keeper.stdin.take().expect("it is piped");
        self.keeper = Some((keeper, input));
        let ready = || self.try_execute("postgres", "SELECT 1").is_ok();
        assert!(within(ready), "{}", self.log());
    }

    /// Kills the server at once. Its files stay.
    pub fn kill(&mut self) {
        self.end("-KILL");
    }

    /// Ends the server without waiting for clients or writing anything, as `pg_ctl stop -m immediate` does. Its files stay.
    pub fn stop(&mut self) {
        self.end("-QUIT");
    }

    fn end(&mut self, signal: &str) {
        let pid = self.pid();
        for mark in MARKS {
            fs::write(self.directory.join(mark), "").expect("the directory is there");
        }
        run("kill", &[signal, &pid]);
        let (mut keeper, input) = self.keeper.take().expect("the server runs");
        drop(input);
        keeper.wait().expect("a child can be waited for");
    }

    /// The process of the server.
    pub fn pid(&self) -> String {
        let pid = fs::read_to_string(self.directory.join("data/postmaster.pid"));
        let pid = pid.expect("the server runs");
        pid.lines().next().unwrap_or_default().to_owned()
    }

    /// Where the server listens.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(".s.PGSQL.5432")
    }

    fn log(&self) -> String {
        let mut text = String::new();
        let file = fs::File::open(self.directory.join("log"));
        file.and_then(|mut file| file.read_to_string(&mut text))
            .unwrap_or_default();
        text
    }

    /// The address of a database of this server.
    pub fn address(&self, database: &str) -> String {
        let directory = self.directory.to_str().expect(UTF8).replace('/', "%2F");
        format!("postgres://quipu@{directory}/{database}")
    }

    /// Makes an empty database; its name.
    pub fn database(&self) -> String {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("t{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.execute("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    pub fn execute(&self, database: &str, sql: &str) {
        self.value(database, sql);
    }

    /// The first column of the first row.
    pub fn value(&self, database: &str, sql: &str) -> String {
        self.try_execute(database, sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn try_execute(&self, database: &str, sql: &str) -> Result<String, String> {
        let psql = programs().expect("PostgreSQL is installed").join("psql");
        let mut psql = command(psql);
        psql.args([
            "-qtAX",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "quipu",
            "-d",
            database,
            "-c",
            sql,
        ]);
        let output = psql
            .arg("-h")
            .arg(&self.directory)
            .current_dir("/")
            .output();
        let output = output.map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        match self.keeper.take() {
            Some((mut keeper, input)) => {
                drop(input);
                keeper.wait().expect("a child can be waited for");
            }
            None => fs::remove_dir_all(&self.directory).unwrap_or_default(),
        }
    }
}

/// Waits until something holds.
pub fn within(mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if holds() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}
