// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The id of a request: a string or an integer, given back as it came.
 */
export type RequestId = string | number;
