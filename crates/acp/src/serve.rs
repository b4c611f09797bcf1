//! The connection to the editor: one message a line, each request answered by a task of its own.

use std::io;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    AuthenticateRequest, CancelNotification, CloseSessionRequest, DeleteSessionRequest,
    InitializeRequest, ListSessionsRequest, LoadSessionRequest, NewSessionRequest, PromptRequest,
    ResumeSessionRequest, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use agent_client_protocol::{
    Agent as AgentRole, Lines, on_receive_notification, on_receive_request,
};
use futures_util::{sink, stream};
use quipu_client::Connect;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};

use crate::agent::Agent;

/// The longest message.
const MAX_LINE: u64 = 64 << 20;

/// Serves one editor until its input ends. Then running turns are interrupted and the connection to the server is
/// closed.
///
/// `version` is what the editor is told as the agent's version.
pub async fn serve(
    connect: Connect,
    version: &'static str,
    input: impl AsyncBufRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let agent = Arc::new(Agent::new(connect, version));
    let transport = Lines::new(Box::pin(lines_out(output)), Box::pin(lines_in(input)));
    let served = builder(&agent, transport).await;
    agent.close().await;
    served.map_err(|error| io::Error::other(error.message))
}

/// Answers a request in a task of its own, so that the connection goes on meanwhile.
macro_rules! answer {
    ($agent:ident, $method:ident, $request:ty) => {{
        let agent = Arc::clone($agent);
        async move |request: $request, responder, cx| {
            let (agent, editor) = (Arc::clone(&agent), cx.clone());
            cx.spawn(async move {
                let answer = agent.$method(request, &editor).await;
                responder.respond_with_result(answer)
            })
        }
    }};
}

async fn builder<O, I>(
    agent: &Arc<Agent>,
    transport: Lines<O, I>,
) -> Result<(), agent_client_protocol::Error>
where
    O: futures_util::Sink<String, Error = io::Error> + Send + 'static,
    I: futures_util::Stream<Item = io::Result<String>> + Send + 'static,
{
    let canceller = Arc::clone(agent);
    AgentRole
        .v1()
        .name("quipu")
        .on_receive_request(
            answer!(agent, initialize, InitializeRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, authenticate, AuthenticateRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, new_session, NewSessionRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, load_session, LoadSessionRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, resume_session, ResumeSessionRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, list_sessions, ListSessionsRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, close_session, CloseSessionRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, delete_session, DeleteSessionRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, set_mode, SetSessionModeRequest),
            on_receive_request!(),
        )
        .on_receive_request(
            answer!(agent, set_option, SetSessionConfigOptionRequest),
            on_receive_request!(),
        )
        .on_receive_request(answer!(agent, prompt, PromptRequest), on_receive_request!())
        .on_receive_notification(
            async move |cancel: CancelNotification, _cx| {
                canceller.cancel(&cancel.session_id.0);
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(transport)
        .await
}

fn lines_in(
    input: impl AsyncBufRead + Send + Unpin,
) -> impl futures_util::Stream<Item = io::Result<String>> + Send {
    stream::try_unfold(input, |mut input| async move {
        loop {
            let mut line = Vec::new();
            let read = (&mut input)
                .take(MAX_LINE + 1)
                .read_until(b'\n', &mut line)
                .await?;
            if read as u64 > MAX_LINE {
                return Err(io::Error::other(format!(
                    "a message may have {MAX_LINE} bytes"
                )));
            }
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            match (read, line.is_empty()) {
                (0, _) => return Ok(None),
                (_, true) => {}
                (_, false) => return Ok(Some((line, input))),
            }
        }
    })
}

fn lines_out(
    output: impl AsyncWrite + Send + Unpin,
) -> impl futures_util::Sink<String, Error = io::Error> + Send {
    sink::unfold(output, |mut output, line: String| async move {
        output.write_all(line.as_bytes()).await?;
        output.write_all(b"\n").await?;
        output.flush().await?;
        Ok(output)
    })
}
