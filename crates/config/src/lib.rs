//! Configuration layers, profiles, requirements, and edits that keep comments.
