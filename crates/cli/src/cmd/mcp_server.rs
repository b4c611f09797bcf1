//! `quipu mcp-server`: the agent as a tool of other agents.

use std::path::Path;
use std::process::ExitCode;

use quipu_mcp_server::HttpOptions;
use tokio::io::BufReader;

use crate::args::{ConfigArgs, McpServerArgs};
use crate::banner;
use crate::exec::stops::Stops;
use crate::frontend::{self, Server};

pub fn run(args: McpServerArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let token = args
        .http_token_file
        .as_deref()
        .map(read_token)
        .transpose()?;
    let config = [common, &args.config];
    frontend::with_server(&args.remote, &config, None, async |server| {
        let mut stops = Stops::new();
        let serving = async {
            match args.http {
                Some(address) => serve_http(server, address, token).await,
                None => serve_stdio(server).await,
            }
        };
        tokio::select! {
            done = serving => done,
            () = stops.next() => Ok(ExitCode::SUCCESS),
        }
    })
}

async fn serve_stdio(server: Server) -> Result<ExitCode, String> {
    let input = BufReader::new(tokio::io::stdin());
    let output = tokio::io::stdout();
    quipu_mcp_server::serve(server.connect, server.base, input, output)
        .await
        .map_err(|error| format!("reading or writing messages failed: {error}"))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve_http(
    server: Server,
    address: std::net::SocketAddr,
    token: Option<String>,
) -> Result<ExitCode, String> {
    let options = HttpOptions {
        address,
        token,
        base: server.base,
    };
    let (address, mut serving) = quipu_mcp_server::listen(server.connect, options)
        .await
        .map_err(|error| error.to_string())?;
    banner::say("listening on", &format!("http://{address}/mcp"));
    serving.join_next().await;
    Ok(ExitCode::SUCCESS)
}

fn read_token(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read the token file {}: {error}", path.display()))?;
    match text.trim() {
        "" => Err(format!("the token file {} is empty", path.display())),
        token => Ok(token.to_owned()),
    }
}
