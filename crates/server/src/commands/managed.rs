//! A command outside any thread, and the network that it may use.

use std::sync::Arc;

use quipu_config::{Env, Snapshot};
use quipu_sandbox::{Command, Network as Reach, SpawnError, Spawned, spawn};
use quipu_tools::Network;

use crate::threads::managed_network;

/// A command that is ready to start. Where the network is managed, a sandboxed command with network access
/// reaches what the lists of hosts allow, and nothing else.
pub struct ManagedCommand {
    /// What runs.
    pub command: Command,
    network: Option<Arc<Network>>,
}

impl ManagedCommand {
    /// Puts a command behind the managed network, if there is one and the command is to have a network.
    pub(super) fn new(mut command: Command, env: &Env, snapshot: &Snapshot) -> ManagedCommand {
        let is_open = command.policy.is_enforced() && command.policy.network() != Reach::Off;
        let network = is_open.then(|| managed_network(env, snapshot)).flatten();
        if let Some(network) = &network {
            command.policy = command.policy.with_network(Reach::Gate);
            let vars = network.sandboxed_env();
            let is_replaced = |name: &std::ffi::OsString| vars.iter().any(|(it, _)| name == it);
            command.env.retain(|(name, _)| !is_replaced(name));
            let vars = vars.into_iter();
            command
                .env
                .extend(vars.map(|(name, value)| (name.into(), value.into())));
        }
        ManagedCommand { command, network }
    }

    /// Starts it.
    pub async fn spawn(self) -> Result<Spawned, SpawnError> {
        let spawned = spawn(self.command).await?;
        if let Some(network) = self.network {
            network.serve(&spawned.process);
        }
        Ok(spawned)
    }
}
