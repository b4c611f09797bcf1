// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a running thread waits for.
 */
export type ThreadActiveFlag = "waitingOnApproval" | "waitingOnUserInput";
