//! The thread, turn and item state machine, pure.
