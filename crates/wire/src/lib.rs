//! Every byte on the socket: methods, params, results, notifications, items, errors.
