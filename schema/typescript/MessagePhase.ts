// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Where in the course of a turn a message stands.
 */
export type MessagePhase = "commentary" | "final_answer";
