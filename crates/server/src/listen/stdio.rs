//! The client that started this process, on standard input and output.

use std::sync::Arc;

use quipu_rpc::{Connection, OnFull};

use super::{MESSAGE_LIMIT, stop};
use crate::shutdown::Stage;
use crate::{Server, serve};

/// Serves until standard input ends or a signal stops the server.
pub(super) async fn run(server: Arc<Server>) {
    let connection = Connection::stdio(MESSAGE_LIMIT);
    let serving = tokio::spawn(serve(Arc::clone(&server), connection, OnFull::Wait));
    tokio::select! {
        _ = serving => {
            server.shutdown.advance(Stage::Stopping);
        }
        () = stop::on_signal(&server) => {}
    }
}
