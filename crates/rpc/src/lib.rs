//! JSON-RPC-lite mechanics for any vocabulary: framing, ids, pending maps, connections.
