//! A PostgreSQL server in a temporary directory, on a unix socket, which ends with the process that started it.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the server may take to start, stop or answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the server until its standard input ends, then stops it and removes its files, unless they are to be kept. So
/// nothing is left behind, however the test process ends. A server that cannot start yet, because processes of a killed
/// one are still there, is started again.
const KEEPER: &str = r#"
    (
        until "$@" -D "$0/data" -k "$0" -c listen_addresses= -c fsync=off -c autovacuum=off >>"$0/log" 2>&1 ||
            [ -e "$0/stop" ]; do :; done
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

pub struct Cluster {
    directory: PathBuf,
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

#[expect(clippy::disallowed_methods, reason = "only tests start a database")]
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
        .unwrap();
    assert!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

impl Cluster {
    /// Makes and starts a server; none where PostgreSQL is not installed.
    pub fn start() -> Option<Cluster> {
        let Some(bin) = programs() else {
            eprintln!("skipped: PostgreSQL is not installed (Debian: postgresql)");
            return None;
        };
        let directory = tempfile::Builder::new()
            .prefix("qpg")
            .tempdir_in("/tmp")
            .unwrap()
            .keep();
        let name = directory.to_str().unwrap();
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
                arguments.push(initdb.to_str().unwrap());
                arguments.extend(make);
                run(program, &arguments);
            }
            None => run(initdb.to_str().unwrap(), &make),
        }
        let mut cluster = Cluster {
            directory,
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
        let postgres = programs().unwrap().join("postgres");
        let mut keeper = command("sh");
        keeper
            .arg("-c")
            .arg(KEEPER)
            .arg(&self.directory)
            .args(as_user())
            .arg(postgres);
        keeper
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut keeper = keeper.spawn().unwrap();
        let input = keeper.stdin.take().unwrap();
        self.keeper = Some((keeper, input));
        let ready = || self.try_execute("postgres", "SELECT 1").is_ok();
        assert!(within(ready), "{}", self.log());
    }

    /// Kills the server at once. Its files stay.
    pub fn kill(&mut self) {
        let pid = fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        for mark in MARKS {
            fs::write(self.directory.join(mark), "").unwrap();
        }
        run("kill", &["-KILL", &pid]);
        let (mut keeper, input) = self.keeper.take().unwrap();
        drop(input);
        keeper.wait().unwrap();
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
        let directory = self.directory.to_str().unwrap().replace('/', "%2F");
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
        self.try_execute(database, sql).unwrap();
    }

    /// The first column of the first row.
    pub fn value(&self, database: &str, sql: &str) -> String {
        self.try_execute(database, sql).unwrap()
    }

    fn try_execute(&self, database: &str, sql: &str) -> Result<String, String> {
        let psql = programs().unwrap().join("psql");
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
                keeper.wait().unwrap();
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
