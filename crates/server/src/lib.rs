//! The app-server: connections, router, lanes, handlers, thread actors, effects, outbox.
