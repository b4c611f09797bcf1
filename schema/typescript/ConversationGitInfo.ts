// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The state of the repository a conversation was started in.
 */
export type ConversationGitInfo = { sha: string | null, branch: string | null, origin_url: string | null, };
