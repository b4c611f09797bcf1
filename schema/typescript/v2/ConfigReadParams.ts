// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `config/read`.
 */
export type ConfigReadParams = { 
/**
 * Also returns each layer with its own values.
 */
includeLayers: boolean, 
/**
 * The directory whose project layers count; without it there are none.
 */
cwd?: string | null, };
