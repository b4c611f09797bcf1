// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A choice with a name to show.
 */
export type McpElicitationConstOption = { 
/**
 * What is sent back.
 */
const: string, 
/**
 * What is shown.
 */
title: string, };
