//! `quipu app-server proxy`: standard input and output, connected to the socket of a server that runs.

use std::path::PathBuf;

/// Passes bytes on in both directions until either side ends.
#[cfg(unix)]
pub fn run(sock: Option<PathBuf>) -> Result<(), String> {
    use quipu_config::{Env, Overrides};

    use super::app_server;

    let path = match sock {
        Some(path) => path,
        None => {
            let config = app_server::unchecked(Env::from_process(), Overrides::default())?;
            app_server::control_socket(config.home().path())
        }
    };
    let runtime = crate::runtime::make()?;
    let passed = runtime.block_on(async {
        let cannot = |error| format!("cannot connect to {}: {error}", path.display());
        let mut stream = tokio::net::UnixStream::connect(&path)
            .await
            .map_err(cannot)?;
        let (mut from_server, mut to_server) = stream.split();
        let (mut stdin, mut stdout) = (tokio::io::stdin(), tokio::io::stdout());
        let sending = async {
            let sent = tokio::io::copy(&mut stdin, &mut to_server).await;
            // The server answers what was asked, then ends the connection.
            tokio::io::AsyncWriteExt::shutdown(&mut to_server)
                .await
                .ok();
            sent
        };
        let receiving = tokio::io::copy(&mut from_server, &mut stdout);
        tokio::pin!(sending, receiving);
        tokio::select! {
            received = &mut receiving => received.map(drop),
            sent = &mut sending => match sent {
                Ok(_) => receiving.await.map(drop),
                Err(error) => Err(error),
            },
        }
        .map_err(|error| format!("the connection to {} broke: {error}", path.display()))
    });
    // Reading standard input may hold a thread that nothing can wake.
    runtime.shutdown_background();
    passed
}

#[cfg(not(unix))]
pub fn run(_sock: Option<PathBuf>) -> Result<(), String> {
    Err("unix sockets are not supported on this system".to_owned())
}
