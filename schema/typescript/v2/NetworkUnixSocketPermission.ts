// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Whether commands may connect to a Unix socket.
 */
export type NetworkUnixSocketPermission = "allow" | "none";
