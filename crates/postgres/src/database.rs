//! Connections to the database: a few, opened when they are needed, and waited for by callers that block.
//!
//! Statements run on a runtime of their own, so that any thread may call. What fails because the database is restarted
//! or cannot be reached is tried again, with pauses, for as long as the options say; then the error says so.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as _;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::Mutex;
use quipu_journal::{Error, Result};
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use crate::Options;
use crate::address::{Address, InvalidAddress};
use crate::schema;
use crate::tls::Tls;

/// How long one statement may take.
const ANSWER: Duration = Duration::from_secs(60);
/// How long opening a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The values of a statement.
pub(crate) type Params = Vec<Box<dyn ToSql + Sync + Send>>;

/// Puts values into [`Params`].
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as Box<dyn tokio_postgres::types::ToSql + Sync + Send>),*]
    };
}
pub(crate) use params;

/// A database and the connections to it.
pub(crate) struct Database {
    /// Where statements run; else why they cannot.
    opened: std::result::Result<Opened, String>,
}

struct Opened {
    /// None only while being dropped.
    runtime: Option<Runtime>,
    pool: Arc<Pool>,
}

struct Pool {
    address: Address,
    tls: Tls,
    slots: Arc<Semaphore>,
    idle: Mutex<Vec<Session>>,
    patience: Duration,
}

/// An open connection with the statements that were prepared on it.
struct Session {
    client: Client,
    statements: HashMap<Cow<'static, str>, Statement>,
}

/// Why a statement failed.
enum Failure {
    /// It may succeed later: the database is away.
    Passing(String),
    Lasting(Error),
}

/// Whether a new connection requires the schema to be ours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    Ours,
    Any,
}

impl Database {
    /// Prepares a database. What is wrong with its address is reported by the calls.
    pub fn new(address: std::result::Result<Address, InvalidAddress>, options: &Options) -> Self {
        let opened = address
            .map_err(|error| error.to_string())
            .and_then(|address| Opened::new(address, options));
        Self { opened }
    }

    fn pool(&self) -> Result<Arc<Pool>> {
        match &self.opened {
            Ok(opened) => Ok(Arc::clone(&opened.pool)),
            Err(reason) => Err(Error::Database(reason.clone())),
        }
    }

    fn runtime(&self) -> Option<&Runtime> {
        self.opened.as_ref().ok()?.runtime.as_ref()
    }

    /// Runs one statement, which must be one that can be repeated.
    pub fn query(&self, sql: impl Into<Cow<'static, str>>, params: Params) -> Result<Vec<Row>> {
        let (pool, sql) = (self.pool()?, sql.into());
        self.wait(async move { pool.query(&sql, &params, pool.patience).await })
    }

    /// Runs one statement that gives at most one row.
    pub fn query_one(&self, sql: &'static str, params: Params) -> Result<Option<Row>> {
        Ok(self.query(sql, params)?.pop())
    }

    /// Runs a statement without waiting long for a database that is away.
    pub fn query_soon(&self, sql: &'static str, params: Params) -> Result<Vec<Row>> {
        let pool = self.pool()?;
        self.wait(async move { pool.query(sql, &params, Duration::ZERO).await })
    }

    /// Waits for a while.
    pub fn pause(&self, time: Duration) -> Result<()> {
        self.wait(async move {
            sleep(time).await;
            Ok(())
        })
    }

    /// Runs a statement again and again in the background, until the database is dropped.
    pub fn repeat(&self, every: Duration, sql: &'static str, params: Params) {
        let (Ok(pool), Some(runtime)) = (self.pool(), self.runtime()) else {
            return;
        };
        let pool = Arc::downgrade(&pool);
        runtime.spawn(async move {
            loop {
                sleep(every).await;
                let Some(pool) = pool.upgrade() else {
                    return;
                };
                if let Err(error) = pool.query(sql, &params, every).await {
                    tracing::warn!(%error, "this node did not reach its database");
                }
            }
        });
    }

    /// Begins a transaction on a connection of its own. It is not tried again.
    pub fn begin(&self, schema: Schema) -> Result<Transaction<'_>> {
        let pool = self.pool()?;
        let opened = self.wait(async move {
            let permit = Arc::clone(&pool.slots).acquire_owned().await;
            let permit = permit.map_err(|error| Error::Database(error.to_string()))?;
            let session = pool.session(schema).await;
            let session = session.map_err(|failure| failure.into_error(&pool.address))?;
            Ok((permit, session))
        });
        let (permit, session) = opened?;
        let mut transaction = Transaction {
            database: self,
            session: Some(session),
            _permit: permit,
        };
        transaction.execute("BEGIN")?;
        Ok(transaction)
    }

    /// Waits for work on the runtime of the database, wherever the caller is.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let stopped = || Error::Database("the database is being closed".to_owned());
        let runtime = self.runtime().ok_or_else(stopped)?;
        let (send, receive) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            // If nobody waits any more, nobody needs the answer.
            drop(send.send(work.await));
        });
        let receive = || receive.recv().map_err(|_| stopped());
        // A worker of the server's runtime lets others take its tasks over while it waits.
        let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
        match flavor {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(receive)?,
            _ => receive()?,
        }
    }
}

impl Opened {
    fn new(address: Address, options: &Options) -> std::result::Result<Self, String> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("quipu-postgres")
            .enable_all()
            .build()
            .map_err(|error| format!("no thread for the database can be started: {error}"))?;
        let tls = Tls::new(address.roots.as_deref())?;
        let pool = Arc::new(Pool {
            address,
            tls,
            slots: Arc::new(Semaphore::new(options.connections.max(1))),
            idle: Mutex::default(),
            patience: options.patience,
        });
        Ok(Self {
            runtime: Some(runtime),
            pool,
        })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Pool {
    async fn query(&self, sql: &str, params: &Params, patience: Duration) -> Result<Vec<Row>> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let failure = match self.attempt(sql, params).await {
                Ok(rows) => return Ok(rows),
                Err(failure) => failure,
            };
            let is_over = began.elapsed() + pause > patience;
            match failure {
                Failure::Passing(reason) if !is_over => {
                    tracing::debug!(database = %self.address, reason, "statement is tried again");
                }
                failure => return Err(failure.into_error(&self.address)),
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn attempt(&self, sql: &str, params: &Params) -> std::result::Result<Vec<Row>, Failure> {
        let busy = |_| Failure::Passing("all connections are busy".to_owned());
        let _slot = timeout(ANSWER, self.slots.acquire()).await.map_err(busy)?;
        let mut session = self.session(Schema::Ours).await?;
        let rows = session.query(sql, params).await?;
        self.idle.lock().push(session);
        Ok(rows)
    }

    /// A connection that is not in use, or a new one.
    async fn session(&self, schema: Schema) -> std::result::Result<Session, Failure> {
        while let Some(session) = self.take_idle(schema) {
            if !session.client.is_closed() {
                return Ok(session);
            }
        }
        let late = |_| Failure::Passing("it does not answer".to_owned());
        let connecting = self.address.config.connect(self.tls.clone());
        let connected = timeout(CONNECT, connecting).await.map_err(late)?;
        let (client, connection) = connected.map_err(Failure::of)?;
        tokio::spawn(async move {
            // Calls on the client report the error, too.
            drop(connection.await);
        });
        let mut session = Session {
            client,
            statements: HashMap::new(),
        };
        session.query(schema::DURABLE, &Vec::new()).await?;
        if schema == Schema::Ours {
            let found = session.query(schema::VERSION, &Vec::new()).await;
            let version = found.map(|rows| rows.first().map(|row| row.get::<_, i32>(0)));
            let version = version.or_else(Failure::absent)?;
            let mut oldest = None;
            if version.is_some_and(|it| it > schema::CURRENT) {
                let values = params![schema::CURRENT];
                let rows = session.query(schema::OLDEST, &values).await?;
                oldest = rows.first().and_then(|row| row.get(0));
            }
            schema::require(version, oldest).map_err(Failure::Lasting)?;
        }
        Ok(session)
    }

    fn take_idle(&self, schema: Schema) -> Option<Session> {
        match schema {
            Schema::Ours => self.idle.lock().pop(),
            Schema::Any => None,
        }
    }
}

impl Session {
    async fn query(
        &mut self,
        sql: &str,
        params: &Params,
    ) -> std::result::Result<Vec<Row>, Failure> {
        let late = |_| Failure::Passing("it does not answer".to_owned());
        let work = self.run(sql, params);
        timeout(ANSWER, work)
            .await
            .map_err(late)?
            .map_err(Failure::of)
    }

    async fn run(
        &mut self,
        sql: &str,
        params: &Params,
    ) -> std::result::Result<Vec<Row>, tokio_postgres::Error> {
        let statement = match self.statements.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let statement = self.client.prepare(sql).await?;
                // The best plan of a search depends on its text, so it is planned each time.
                if !sql.contains(" LIKE ") {
                    let sql = Cow::Owned(sql.to_owned());
                    self.statements.insert(sql, statement.clone());
                }
                statement
            }
        };
        let params: Vec<&(dyn ToSql + Sync)> = params
            .iter()
            .map(|value| &**value as &(dyn ToSql + Sync))
            .collect();
        self.client.query(&statement, &params).await
    }
}

/// Statements that count together or not at all.
pub(crate) struct Transaction<'a> {
    database: &'a Database,
    /// None after a failure; what was done is undone with the connection.
    session: Option<Session>,
    _permit: OwnedSemaphorePermit,
}

impl Transaction<'_> {
    pub fn query(&mut self, sql: impl Into<Cow<'static, str>>, params: Params) -> Result<Vec<Row>> {
        let gone = || Error::Database("the transaction has failed already".to_owned());
        let mut session = self.session.take().ok_or_else(gone)?;
        let (pool, sql) = (self.database.pool()?, sql.into());
        let (session, rows) = self.database.wait(async move {
            let rows = session.query(&sql, &params).await;
            rows.map(|rows| (session, rows))
                .map_err(|failure| failure.into_error(&pool.address))
        })?;
        self.session = Some(session);
        Ok(rows)
    }

    /// Runs statements without values.
    pub fn execute(&mut self, sql: impl Into<Cow<'static, str>>) -> Result<()> {
        let gone = || Error::Database("the transaction has failed already".to_owned());
        let session = self.session.take().ok_or_else(gone)?;
        let (pool, sql) = (self.database.pool()?, sql.into());
        let session = self.database.wait(async move {
            let done = timeout(ANSWER, session.client.batch_execute(&sql)).await;
            match done {
                Ok(Ok(())) => Ok(session),
                Ok(Err(error)) => Err(Failure::of(error).into_error(&pool.address)),
                Err(_) => {
                    let late = Failure::Passing("it does not answer".to_owned());
                    Err(late.into_error(&pool.address))
                }
            }
        })?;
        self.session = Some(session);
        Ok(())
    }

    pub fn commit(mut self) -> Result<()> {
        self.execute("COMMIT")
    }
}

impl Failure {
    fn of(error: tokio_postgres::Error) -> Self {
        let reason = reason(&error);
        match error.code() {
            Some(code) if *code == SqlState::DISK_FULL => {
                let path = "the database".into();
                Self::Lasting(Error::DiskFull { path })
            }
            Some(code) if is_passing(code) => Self::Passing(reason),
            Some(code) => Self::Lasting(Error::Database(format!("{reason} ({})", code.code()))),
            None if is_certificate(&error) => Self::Lasting(Error::Database(reason)),
            None if error.is_closed() || has_io_error(&error) => Self::Passing(reason),
            None => Self::Lasting(Error::Database(reason)),
        }
    }

    /// A table that is missing means that there is no schema.
    fn absent<T>(self) -> std::result::Result<Option<T>, Failure> {
        match self {
            Self::Lasting(Error::Database(reason))
                if reason.contains(SqlState::UNDEFINED_TABLE.code())
                    || reason.contains(SqlState::INVALID_SCHEMA_NAME.code()) =>
            {
                Ok(None)
            }
            other => Err(other),
        }
    }

    fn into_error(self, address: &Address) -> Error {
        match self {
            Self::Passing(reason) => Error::Database(format!(
                "the thread store at {address} cannot be reached: {reason}; try again when PostgreSQL is back"
            )),
            Self::Lasting(Error::Database(reason)) => {
                Error::Database(format!("the thread store at {address} failed: {reason}"))
            }
            Self::Lasting(error) => error,
        }
    }
}

/// Whether the same statement may succeed a moment later.
fn is_passing(code: &SqlState) -> bool {
    let known = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    known.contains(code) || code.code().starts_with("08")
}

fn has_io_error(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|it| it.is::<std::io::Error>())
}

/// Whether the other side is not who it should be.
fn is_certificate(error: &tokio_postgres::Error) -> bool {
    let source = error
        .source()
        .and_then(|it| it.downcast_ref::<std::io::Error>());
    let inner = source.and_then(std::io::Error::get_ref);
    inner.is_some_and(|it| it.is::<rustls::Error>())
}

/// What was wrong, with all its causes.
fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}
