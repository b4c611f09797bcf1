//! Threads at rest: the append-only rollout log and its index.
