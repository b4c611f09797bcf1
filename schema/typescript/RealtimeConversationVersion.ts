// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The version of the provider's protocol.
 */
export type RealtimeConversationVersion = "v1" | "v2";
