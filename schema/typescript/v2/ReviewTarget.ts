// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What is reviewed.
 */
export type ReviewTarget = { "type": "uncommittedChanges" } | { "type": "baseBranch", branch: string, } | { "type": "commit", sha: string, 
/**
 * Its subject, to show and to tell the reviewer.
 */
title: string | null, } | { "type": "custom", instructions: string, };
