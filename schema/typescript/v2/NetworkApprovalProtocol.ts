// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The way in which a command tries to reach a host.
 */
export type NetworkApprovalProtocol = "http" | "https" | "socks5Tcp" | "socks5Udp";
