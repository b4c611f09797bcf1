//! `quipu acp`: an agent for editors.

use std::process::ExitCode;

use tokio::io::BufReader;

use crate::args::{AcpArgs, ConfigArgs};
use crate::exec::stops::Stops;
use crate::frontend;

pub fn run(args: AcpArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let config = [common, &args.config];
    frontend::with_server(&args.remote, &config, async |server| {
        let mut stops = Stops::new();
        let input = BufReader::new(tokio::io::stdin());
        let version = env!("CARGO_PKG_VERSION");
        let serving = quipu_acp::serve(server.connect, version, input, tokio::io::stdout());
        tokio::select! {
            done = serving => {
                done.map_err(|error| format!("talking to the editor failed: {error}"))?;
                Ok(ExitCode::SUCCESS)
            }
            () = stops.next() => Ok(ExitCode::SUCCESS),
        }
    })
}
