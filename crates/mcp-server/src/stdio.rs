//! MCP over standard input and output: one message a line.

use std::io;
use std::path::PathBuf;

use quipu_client::Connect;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};
use tokio::sync::mpsc;

use crate::message::{self, INVALID_REQUEST};
use crate::session::Session;

/// The longest message.
const MAX_LINE: u64 = 16 << 20;
/// Messages that may wait to be written.
const QUEUE: usize = 1024;

/// Serves one client until its input ends. Then running calls are ended and the connection to the server is closed.
///
/// Relative directories in calls begin at `base`; without one, the server decides.
pub async fn serve(
    connect: Connect,
    base: Option<PathBuf>,
    mut input: impl AsyncBufRead + Unpin,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    let (outlet, mut messages) = mpsc::channel::<serde_json::Value>(QUEUE);
    let writing = tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            let line = format!("{message}\n");
            output.write_all(line.as_bytes()).await?;
            output.flush().await?;
        }
        Ok(())
    });
    let mut session = Session::new(connect, base);
    let mut line = Vec::new();
    let read = loop {
        line.clear();
        match (&mut input)
            .take(MAX_LINE + 1)
            .read_until(b'\n', &mut line)
            .await
        {
            Ok(0) => break Ok(()),
            Ok(_) if line.len() as u64 > MAX_LINE => {
                let text = format!("a message may have {MAX_LINE} bytes");
                let error = message::error(&serde_json::Value::Null, INVALID_REQUEST, &text, None);
                message::send(&outlet, error).await;
                break Ok(());
            }
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => session.receive(&line, &outlet).await,
            Err(error) => break Err(error),
        }
        if writing.is_finished() {
            break Ok(());
        }
    };
    session.close().await;
    drop((session, outlet));
    let written = writing
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    read.and(written)
}
