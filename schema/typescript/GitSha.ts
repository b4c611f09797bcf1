// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 *  The hash of a commit.
 */
export type GitSha = string;
