// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * One time window of a limit.
 */
export type RateLimitWindow = { 
/**
 * The spent share of what the window allows, in percent.
 */
usedPercent: number, 
/**
 * The length of the window in minutes.
 */
windowDurationMins: number | null, 
/**
 * When the next window starts, in Unix seconds.
 */
resetsAt: number | null, };
