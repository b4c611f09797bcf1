//! Where threads are: in files, or in a database that is started for the measurement.

use quipu_testkit::cluster::{Cluster, Settings};
use quipu_testkit::process::Launch;

use super::Bench;
use crate::Result;
use crate::ground::Home;
use crate::session::Session;

pub struct Place {
    database: Option<Database>,
}

/// A database with the tables of Quipu.
pub struct Database {
    cluster: Cluster,
    name: String,
}

impl Place {
    pub fn files() -> Place {
        Place { database: None }
    }

    /// A new database on a server of its own.
    pub async fn database(bench: &Bench<'_>, settings: Settings) -> Result<Place> {
        let cluster = Cluster::start_with(settings);
        let cluster = cluster.ok_or("PostgreSQL is not installed (Debian: postgresql)")?;
        let name = cluster.database();
        let database = Database { cluster, name };
        let mut migrate = Launch::new(&bench.subject.program)
            .args(["store", "migrate", "--store", &database.url()])
            .start();
        if !migrate.exit().await.success() {
            return Err(migrate.stderr().into());
        }
        Ok(Place {
            database: Some(database),
        })
    }

    pub fn stored(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// A home of a server whose threads are here, with more settings of the store.
    pub fn home(&self, bench: &Bench<'_>, more: &str) -> Result<Home> {
        let home = Home::new(bench.model)?;
        if let Some(database) = &self.database {
            home.add(&format!("[store]\nurl = \"{}\"\n{more}", database.url()))?;
        }
        Ok(home)
    }

    /// A server whose threads are here.
    pub async fn session(&self, bench: &Bench<'_>) -> Result<Session> {
        let home = self.home(bench, "")?;
        let launch = home.launch(&bench.subject.program, &[]);
        Session::start(launch, Some(home)).await
    }
}

impl Database {
    fn url(&self) -> String {
        self.cluster.address(&self.name)
    }

    /// The first column of the first row.
    pub fn value(&self, sql: &str) -> String {
        self.cluster.value(&self.name, sql)
    }

    pub fn number(&self, sql: &str) -> Result<f64> {
        Ok(self.value(sql).parse()?)
    }

    /// The process of PostgreSQL, whose children do its work.
    pub fn pid(&self) -> Result<i32> {
        Ok(self.cluster.pid().parse()?)
    }
}
