//! The attribute that derives serde, schema and stability from one declaration.
