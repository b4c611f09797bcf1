// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * An answer that the user can pick.
 */
export type ToolRequestUserInputOption = { 
/**
 * The text to show, and to send back if picked.
 */
label: string, 
/**
 * What picking it means.
 */
description: string, };
