//! `quipu acp`: an agent for editors.

use std::process::ExitCode;

use quipu_rpc::Connection;

use crate::args::{ConfigArgs, RemoteArgs};
use crate::exec::stops::Stops;
use crate::frontend;

/// The longest message, which may have images in it.
const MAX_LINE: usize = 64 << 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub fn run(args: Args, common: &ConfigArgs) -> Result<ExitCode, String> {
    let config = [common, &args.config];
    frontend::with_server(&args.remote, &config, None, async |server| {
        let mut stops = Stops::new();
        let editor = Connection::stdio(MAX_LINE);
        let version = env!("CARGO_PKG_VERSION");
        quipu_acp::serve(server.connect, version, &server.home, editor, stops.next()).await;
        Ok(ExitCode::SUCCESS)
    })
}
