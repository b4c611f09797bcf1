//! Logs go to standard error, chosen by `RUST_LOG`; `LOG_FORMAT=json` makes them JSON lines, and so the reason why the program
//! ends, from the command line on. If the settings name a directory for logs, the same lines also go to a file there, which
//! is started again when it has grown too long.
//!
//! A thread of its own writes them, from a bounded queue: many clients give the server a pipe for its
//! standard error and never read it, and a full pipe must cost log lines, not the server's life.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _, stderr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use quipu_config::Loader;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, reload};

use crate::banner;

/// Lines that may wait to be written; more are dropped.
const QUEUE: usize = 1024;
/// How long the last lines may take when the program ends.
const LAST_LINES: Duration = Duration::from_millis(200);

/// The name of the log file.
const FILE: &str = "quipu.log";
/// A longer file becomes `quipu.log.1`, in place of the last one of that name.
const MAX_FILE: u64 = 16 << 20;

/// Whether log lines are JSON objects.
pub fn is_json() -> bool {
    std::env::var("LOG_FORMAT").is_ok_and(|it| it.trim().eq_ignore_ascii_case("json"))
}

/// Says why the program ends, in the format of the log. It may not have started, or have ended already.
pub fn failed(error: &str) {
    let error = error.trim_end();
    if !is_json() {
        eprintln!("Error: {error}");
        return;
    }
    let direct = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::ERROR)
        .with_writer(stderr)
        .finish();
    tracing::subscriber::with_default(direct, || tracing::error!("{error}"));
}

/// Logs panics like other errors.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let reason = panic.payload();
        let reason = reason
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| reason.downcast_ref::<String>().map(String::as_str));
        tracing::error!(place, reason, "panicked");
    }));
}

/// The running log.
pub struct Logging {
    lines: SyncSender<Message>,
    replace_filter: ReplaceFilter,
}

/// Lets another filter decide what is logged from now on.
type ReplaceFilter = Arc<dyn Fn(EnvFilter) + Send + Sync>;

enum Message {
    Line(Vec<u8>),
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

impl Logging {
    /// Starts logging for the whole process, as the settings say: errors, but for those of `quiet`, unless
    /// `RUST_LOG` says otherwise.
    pub fn start(config: &Loader, quiet: Option<&str>) -> Logging {
        let quiet = quiet.filter(|_| is_unset());
        let directives = quiet.map(|target| (target, "off"));
        Logging::begin(LogFile::of(config), directives)
    }

    /// Starts logging for a service that nobody watches: what it does, unless `RUST_LOG` says otherwise, also in a
    /// file of its directory.
    pub fn start_runner(directory: &Path) -> Logging {
        let file = LogFile::open(directory).inspect_err(|error| complain(directory, error));
        let directives = is_unset().then_some((RUNNER, "info"));
        Logging::begin(file.ok(), directives)
    }

    /// What lets the settings of a runner choose how much it logs, unless `RUST_LOG` does.
    pub fn set_runner_level(&self) -> impl Fn(LevelFilter) + Send + Sync + 'static {
        let replace = Arc::clone(&self.replace_filter);
        move |level| {
            if is_unset() {
                replace(filter(Some((RUNNER, &level.to_string()))));
            }
        }
    }

    /// Starts logging for a command that only looks: warnings of one part, unless `RUST_LOG` says otherwise.
    pub fn start_warnings(target: &str) -> Logging {
        Logging::begin(None, is_unset().then_some((target, "warn")))
    }

    fn begin(file: Option<LogFile>, directive: Option<(&str, &str)>) -> Logging {
        let (sender, receiver) = sync_channel(QUEUE);
        let has_file = file.is_some();
        std::thread::spawn(move || write(&receiver, file));
        let is_json = is_json();
        let lines = sender.clone();
        let (filter, handle) = reload::Layer::new(filter(directive));
        let layer = tracing_subscriber::fmt::layer().with_writer(move || Lines(lines.clone()));
        let ansi = stderr().is_terminal() && !has_file;
        let layer = match is_json {
            true => layer.json().boxed(),
            false => layer.with_ansi(ansi).boxed(),
        };
        tracing_subscriber::registry()
            .with(layer)
            .with(filter)
            .init();
        if is_json {
            log_panics();
        }
        Logging {
            lines: sender,
            // It is only refused once the log is gone.
            replace_filter: Arc::new(move |filter| handle.reload(filter).unwrap_or_default()),
        }
    }

    /// Waits a moment for what was logged to be written.
    pub fn finish(self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Message::Flush(done)).is_ok() {
            // Whether it was written or time is up, the program ends.
            written.recv_timeout(LAST_LINES).ok();
        }
    }
}

/// The part of the program that a service runs in.
const RUNNER: &str = "quipu_runner";

/// Whether the user leaves the choice of what is logged to the program.
fn is_unset() -> bool {
    std::env::var_os(EnvFilter::DEFAULT_ENV).is_none()
}

/// What `RUST_LOG` asks for, and what is logged besides.
fn filter(directive: Option<(&str, &str)>) -> EnvFilter {
    let mut filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::ERROR.into())
        .from_env_lossy();
    let banner = is_json().then_some((banner::TARGET, "info"));
    for (target, level) in directive.into_iter().chain(banner) {
        if let Ok(directive) = format!("{target}={level}").parse() {
            filter = filter.add_directive(directive);
        }
    }
    filter
}

/// Takes one line per write, which is how the formatter writes them.
struct Lines(SyncSender<Message>);

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A full queue drops the line, as promised above.
        self.0.try_send(Message::Line(line.to_vec())).ok();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(messages: &Receiver<Message>, mut file: Option<LogFile>) {
    for message in messages {
        match message {
            Message::Line(line) => {
                // There is no place to report that standard error is closed.
                stderr().write_all(&line).unwrap_or_default();
                if let Some(log) = &mut file
                    && let Err(error) = log.write(&line)
                {
                    complain(&log.directory, &error);
                    file = None;
                }
            }
            Message::Flush(done) => done.send(()).unwrap_or_default(),
        }
    }
}

/// Says why there is no log file; the log itself may be what does not work.
fn complain(directory: &Path, error: &io::Error) {
    failed(&format!(
        "cannot write {FILE} in {}: {error}",
        directory.display()
    ));
}

/// A file that only its owner may read, and that does not grow without end.
struct LogFile {
    directory: PathBuf,
    file: File,
    length: u64,
}

impl LogFile {
    /// The file that the settings name, if they do and it can be written.
    fn of(config: &Loader) -> Option<LogFile> {
        let settings = config.load_or_defaults().ok()?;
        let directory = settings.storage(config.env()).log_dir?;
        let opened = LogFile::open(&directory);
        opened.inspect_err(|error| complain(&directory, error)).ok()
    }

    fn open(directory: &Path) -> io::Result<LogFile> {
        quipu_disk::private_dirs(directory, Path::new(""))?;
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(directory.join(FILE))?;
        Ok(LogFile {
            directory: directory.to_owned(),
            length: file.metadata()?.len(),
            file,
        })
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.length > MAX_FILE {
            let path = self.directory.join(FILE);
            fs::rename(&path, path.with_extension("log.1"))?;
            *self = LogFile::open(&self.directory)?;
        }
        self.length += line.len() as u64;
        self.file.write_all(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_long_makes_room() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs").join(FILE);
        let mut log = LogFile::open(path.parent().unwrap()).unwrap();
        log.write(b"first\n").unwrap();
        log.length = MAX_FILE + 1;
        log.write(b"second\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second\n");
        let old = path.with_file_name("quipu.log.1");
        assert_eq!(fs::read_to_string(old).unwrap(), "first\n");
        let mut again = LogFile::open(path.parent().unwrap()).unwrap();
        again.write(b"third\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second\nthird\n");
    }
}
