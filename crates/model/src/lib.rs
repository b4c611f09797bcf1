//! Model providers: streaming, retries, usage, errors, catalogue.
