// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Who the client is.
 */
export type ClientInfo = { 
/**
 * Sent to model providers, so it must be valid as the value of an HTTP header.
 */
name: string, 
/**
 * A name for people.
 */
title: string | null, version: string, };
