//! Logins in the keyring of the system: a real Secret Service on a message bus of its own.

use std::path::Path;
use std::time::Instant;

use quipu_testkit::client::Client;
use quipu_testkit::process::{Launch, ServerProcess};
use quipu_testkit::wait::until;
use quipu_wire::method::event::ConfigWarning;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixListener;

use crate::support::{QUIPU, app_server};

const KEY: &str = "sk-12345678901234567890";

/// A message bus with a keyring, which end with this value.
struct Desktop {
    address: String,
    _bus: ServerProcess,
    _keyring: ServerProcess,
}

impl Desktop {
    /// `None` if this machine has no such programs.
    async fn start(directory: &Path) -> Option<Desktop> {
        let find = |name: &str| {
            let path = std::env::var_os("PATH")?;
            let found = std::env::split_paths(&path).map(|it| it.join(name));
            found.into_iter().find(|it| it.exists())
        };
        let (Some(bus), Some(keyring)) = (find("dbus-daemon"), find("gnome-keyring-daemon")) else {
            eprintln!("skipped: dbus-daemon and gnome-keyring-daemon are needed");
            return None;
        };
        let address = format!("unix:path={}", directory.join("bus").display());
        let at = format!("--address={address}");
        let args = ["--session", "--nofork", "--print-address=2", at.as_str()];
        let mut bus = Launch::new(bus).args(args).start();
        bus.said("unix:path=").await;
        let args = ["--unlock", "--components=secrets", "--foreground"];
        let mut keyring = Launch::new(keyring)
            .args(args)
            .env("DBUS_SESSION_BUS_ADDRESS", &address)
            .env("XDG_DATA_HOME", directory.to_str()?)
            .env("XDG_RUNTIME_DIR", directory.to_str()?)
            .start();
        let mut password = keyring.stdin.take()?;
        password.write_all(b"password").await.ok()?;
        drop(password);
        // A request that comes before the keyring is there would find none for good.
        let file = directory.join("keyrings/login.keyring");
        until("a keyring", || file.exists()).await;
        Some(Desktop {
            address,
            _bus: bus,
            _keyring: keyring,
        })
    }
}

fn home(directory: &Path, store: &str) -> String {
    let home = directory.join(store);
    std::fs::create_dir_all(&home).unwrap();
    let setting = format!("cli_auth_credentials_store = \"{store}\"\n");
    std::fs::write(home.join("config.toml"), setting).unwrap();
    home.to_str().unwrap().to_owned()
}

/// A program that uses this home and this message bus; an empty address is none.
fn on(launch: Launch, home: &str, bus: &str) -> Launch {
    launch
        .env("QUIPU_HOME", home)
        .env("DBUS_SESSION_BUS_ADDRESS", bus)
        .without_env("XDG_RUNTIME_DIR")
}

/// Runs a command to its end: whether it succeeded, and what it said.
async fn quipu(home: &str, bus: &str, args: &[&str]) -> (bool, String) {
    let launch = Launch::new(QUIPU).args(args.iter().copied());
    let mut process = on(launch, home, bus).start();
    let mut stdin = process.stdin.take().unwrap();
    // A command that does not read its input may be gone already.
    stdin.write_all(KEY.as_bytes()).await.ok();
    drop(stdin);
    let status = process.exit().await;
    (status.success(), process.stderr())
}

#[tokio::test]
async fn a_login_in_the_keyring_is_shared_and_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let Some(desktop) = Desktop::start(directory.path()).await else {
        return;
    };
    let bus = &desktop.address;
    for store in ["keyring", "auto"] {
        let home = home(directory.path(), store);
        let file = Path::new(&home).join("auth.json");
        std::fs::write(&file, r#"{"OPENAI_API_KEY":"sk-of-an-older-login"}"#).unwrap();
        // The keyring takes a moment to appear on the bus. With `auto` the login is in the file until then.
        let begun = Instant::now();
        loop {
            let (_, said) = quipu(&home, bus, &["login", "--with-api-key"]).await;
            if said == "Successfully logged in\n" {
                break;
            }
            assert!(begun.elapsed().as_secs() < 60, "{store}: {said}");
        }
        assert!(!file.exists(), "{store}: the login is in the keyring alone");
        let (ok, said) = quipu(&home, bus, &["login", "status"]).await;
        assert!(ok && said.contains("sk-12345***67890"), "{store}: {said}");

        let mut server = on(app_server([]), &home, bus).start();
        let client = Client::start(server.stdio()).await;
        let read = client.call_raw("account/read", &json!({})).await.unwrap();
        assert_eq!(read["account"], json!({ "type": "apiKey" }), "{store}");
        client
            .call_raw("account/logout", &json!(null))
            .await
            .unwrap();
        let read = client.call_raw("account/read", &json!({})).await.unwrap();
        assert_eq!(read["account"], json!(null), "{store}");
        drop(client);
        let (ok, said) = quipu(&home, bus, &["login", "status"]).await;
        assert!(!ok && said.contains("Not logged in"), "{store}: {said}");
    }
}

#[tokio::test]
async fn without_a_keyring_the_login_is_in_the_file_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let reason = "the keyring cannot be used: there is no D-Bus session";
    let auto = home(directory.path(), "auto");
    let (ok, said) = quipu(&auto, "", &["login", "--with-api-key"]).await;
    let notice = format!("The login is stored in auth.json: {reason}\n");
    assert!(ok && said.contains(&notice), "{said}");
    assert!(Path::new(&auto).join("auth.json").exists());
    let (ok, said) = quipu(&auto, "", &["login", "status"]).await;
    assert!(ok && said.contains("sk-12345***67890"), "{said}");

    let keyring = home(directory.path(), "keyring");
    let (ok, said) = quipu(&keyring, "", &["login", "--with-api-key"]).await;
    assert!(!ok && said.contains(reason), "{said}");
    assert!(!Path::new(&keyring).join("auth.json").exists());

    let mut server = on(app_server([]), &auto, "").start();
    let mut client = Client::start(server.stdio()).await;
    let key = json!({ "type": "apiKey", "apiKey": KEY });
    client.call_raw("account/login/start", &key).await.unwrap();
    let warning = client.notified::<ConfigWarning>().await;
    assert_eq!(warning.summary, "The login is stored in auth.json.");
    assert_eq!(warning.details.as_deref(), Some(reason));
}

/// Somebody listens at the address of the bus and says nothing.
#[tokio::test]
async fn a_keyring_that_does_not_answer_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("silent");
    let _silent = UnixListener::bind(&socket).unwrap();
    let bus = format!("unix:path={}", socket.display());
    let auto = home(directory.path(), "auto");
    let (ok, said) = quipu(&auto, &bus, &["login", "--with-api-key"]).await;
    assert!(ok && said.contains("it does not answer"), "{said}");
    assert!(Path::new(&auto).join("auth.json").exists());
}
