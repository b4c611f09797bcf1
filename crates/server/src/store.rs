//! Where threads are kept, as the settings say: in the home, or in a database.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use quipu_config::settings::{LeftTurns, StoreAddress};
use quipu_config::{Env, Loader, Snapshot};
use quipu_journal::{Store, StoreOptions};
use quipu_postgres::{Address, InvalidAddress, Options, Postgres};
use quipu_spending::{Ledger, LedgerFiles};

use crate::nodes::Nodes;

/// Where threads are kept, and where is counted what they cost.
#[derive(Clone)]
pub struct Storage {
    /// The threads.
    pub store: Store,
    /// What answers of models cost.
    pub ledger: Arc<dyn Ledger>,
    /// The other servers on the same database.
    nodes: Option<Arc<Nodes>>,
    /// What becomes of turns whose server ended.
    left_turns: Option<LeftTurns>,
}

/// The threads at rest; the settings say where they are, so those are read first.
pub(crate) type LazyStore = LazyLock<Store, Box<dyn FnOnce() -> Store + Send>>;
/// The ledger, in the same location.
pub(crate) type LazyLedger = LazyLock<Arc<dyn Ledger>, Box<dyn FnOnce() -> Arc<dyn Ledger> + Send>>;

/// The other servers on the same database, if the threads are in one.
pub(crate) type LazyNodes =
    LazyLock<Option<Arc<Nodes>>, Box<dyn FnOnce() -> Option<Arc<Nodes>> + Send>>;

/// What becomes of turns whose server ended; nothing is known where the settings cannot be read.
pub(crate) type LazyLeftTurns =
    LazyLock<Option<LeftTurns>, Box<dyn FnOnce() -> Option<LeftTurns> + Send>>;

/// All of them, opened together when the first of them is needed.
pub(crate) fn lazily(config: Arc<Loader>) -> (LazyStore, LazyLedger, LazyNodes, LazyLeftTurns) {
    let storage = Arc::new(LazyLock::new(move || open_storage(&config)));
    let (store, nodes) = (Arc::clone(&storage), Arc::clone(&storage));
    let left_turns = Arc::clone(&storage);
    (
        LazyLock::new(Box::new(move || store.store.clone())),
        LazyLock::new(Box::new(move || Arc::clone(&storage.ledger))),
        LazyLock::new(Box::new(move || nodes.nodes.clone())),
        LazyLock::new(Box::new(move || left_turns.left_turns.clone())),
    )
}

/// Opens what the settings name. Nothing is read or connected yet; what is wrong with an address is what requests are
/// answered.
#[must_use]
pub fn open_storage(config: &Loader) -> Storage {
    let snapshot = config.load_or_defaults().ok();
    let storage = snapshot.map(|snapshot| snapshot.storage(config.env()));
    let home = config.home().path();
    let left_turns = storage.as_ref().map(|storage| storage.left_turns.clone());
    if let Some(store) = storage.as_ref().and_then(|storage| storage.store.as_ref()) {
        let options = Options {
            lease: Duration::from_secs(store.lease_seconds),
            node_address: store.node_address.clone(),
            ..Options::default()
        };
        let database = Postgres::new(home, address(store), options);
        let nodes = Nodes::new(Arc::clone(&database), store);
        return Storage {
            store: database.store(),
            ledger: database,
            nodes: Some(Arc::new(nodes)),
            left_turns,
        };
    }
    let options = StoreOptions {
        sqlite_home: storage.map(|storage| storage.sqlite_home),
    };
    Storage {
        store: Store::open(home, options),
        ledger: Arc::new(LedgerFiles::new(home)),
        nodes: None,
        left_turns,
    }
}

/// The password of the database, and what nodes present to each other.
pub(crate) fn secrets(snapshot: &Snapshot, env: &Env) -> impl Iterator<Item = String> {
    let store = snapshot.storage(env).store;
    let password = store.as_ref().and_then(|store| {
        let password = address(store).ok()?.password()?.to_vec();
        String::from_utf8(password).ok()
    });
    let node = store.and_then(|store| store.node_secret);
    password.into_iter().chain(node)
}

fn address(store: &StoreAddress) -> Result<Address, InvalidAddress> {
    let address: Address = store.url.parse()?;
    Ok(address.or_password(store.password.as_deref()))
}
