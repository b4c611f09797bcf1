//! How many processes descend from this one, for those who watch a server.

/// The processes that this one started, directly or not, and that run now: commands, MCP servers, and the helpers that
/// supervise them. Zero where the system does not say.
#[must_use]
pub fn descendants() -> usize {
    #[cfg(target_os = "linux")]
    {
        let own = std::process::id().cast_signed();
        let tree = quipu_proc::tree(own, quipu_proc::all());
        tree.iter()
            .filter(|it| it.pid != own && !it.has_ended)
            .count()
    }
    #[cfg(not(target_os = "linux"))]
    {
        0
    }
}
