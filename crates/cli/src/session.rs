//! A server in this process with one client, for commands that ask a question or two.

use std::sync::Arc;

use quipu_client::{Client, Options, Timeouts};
use quipu_config::Loader;
use quipu_server::{Server, Settings};

/// Connects a client to a server with this configuration, and ends both when the work is done.
pub fn with_client<T>(
    config: Loader,
    work: impl AsyncFnOnce(&Client, &Arc<Server>) -> Result<T, String>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(2)
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let done = runtime.block_on(async {
        let mut settings = Settings::new(config);
        settings.watch_skills = false;
        let server = Server::new(settings);
        let options = Options::connection(server.connect_in_process())
            .client("quipu", env!("CARGO_PKG_VERSION"))
            .timeouts(Timeouts {
                turn_silence: None,
                turn_total: None,
                ..Timeouts::default()
            });
        let done = match Client::connect(options).await {
            Ok(client) => {
                let done = work(&client, &server).await;
                client.disconnect().await;
                done
            }
            Err(error) => Err(error.to_string()),
        };
        server.stop().await;
        done
    });
    runtime.shutdown_background();
    done
}
