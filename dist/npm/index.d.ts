/** The path of the program, for SDKs that take one. */
export function binaryPath(): string;
