//! Where threads are kept, as the settings say: in the home, or in a database.

use std::sync::{Arc, LazyLock};

use quipu_config::settings::StoreAddress;
use quipu_config::{Env, Loader, Snapshot};
use quipu_journal::{Store, StoreOptions};
use quipu_postgres::{Address, InvalidAddress, Options, Postgres};
use quipu_spending::{Ledger, LedgerFiles};

/// Where threads are kept, and where is counted what they cost.
#[derive(Clone)]
pub struct Storage {
    /// The threads.
    pub store: Store,
    /// What answers of models cost.
    pub ledger: Arc<dyn Ledger>,
}

/// The threads at rest; the settings say where they are, so those are read first.
pub(crate) type LazyStore = LazyLock<Store, Box<dyn FnOnce() -> Store + Send>>;
/// The ledger, in the same location.
pub(crate) type LazyLedger = LazyLock<Arc<dyn Ledger>, Box<dyn FnOnce() -> Arc<dyn Ledger> + Send>>;

/// Both, opened together when the first of them is needed.
pub(crate) fn lazily(config: Arc<Loader>) -> (LazyStore, LazyLedger) {
    let storage = Arc::new(LazyLock::new(move || open_storage(&config)));
    let same = Arc::clone(&storage);
    (
        LazyLock::new(Box::new(move || storage.store.clone())),
        LazyLock::new(Box::new(move || Arc::clone(&same.ledger))),
    )
}

/// Opens what the settings name. Nothing is read or connected yet; what is wrong with an address is what requests are
/// answered.
#[must_use]
pub fn open_storage(config: &Loader) -> Storage {
    let snapshot = config.load_or_defaults().ok();
    let storage = snapshot.map(|snapshot| snapshot.storage(config.env()));
    let home = config.home().path();
    if let Some(store) = storage.as_ref().and_then(|storage| storage.store.as_ref()) {
        let database = Postgres::new(home, address(store), Options::default());
        return Storage {
            store: database.store(),
            ledger: database,
        };
    }
    let options = StoreOptions {
        sqlite_home: storage.map(|storage| storage.sqlite_home),
    };
    Storage {
        store: Store::open(home, options),
        ledger: Arc::new(LedgerFiles::new(home)),
    }
}

/// The password of the database.
pub(crate) fn secret(snapshot: &Snapshot, env: &Env) -> Option<String> {
    let store = snapshot.storage(env).store?;
    let password = address(&store).ok()?.password()?.to_vec();
    String::from_utf8(password).ok()
}

fn address(store: &StoreAddress) -> Result<Address, InvalidAddress> {
    let address: Address = store.url.parse()?;
    Ok(address.or_password(store.password.as_deref()))
}
