//! Starting, streaming and ending processes.

use std::path::Path;

use quipu_sandbox::{Exit, Network, Policy, Readable};

use crate::lab::{finish, shell};

#[tokio::test]
async fn output_and_exit_code() {
    for policy in [
        Policy::FullAccess,
        Policy::ReadOnly {
            readable: Readable::Everything,
            network: Network::Off,
        },
    ] {
        let done = finish(shell(
            "echo out; echo err >&2; exit 3",
            Path::new("/"),
            policy,
        ))
        .await;
        assert_eq!(done.exit, Exit::Code(3), "{done:?}");
        assert_eq!(
            (done.stdout.as_str(), done.stderr.as_str()),
            ("out\n", "err\n")
        );
    }
}
