// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Where output came from.
 */
export type CommandExecOutputStream = "stdout" | "stderr";
