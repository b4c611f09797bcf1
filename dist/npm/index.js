// The path of the program, for SDKs that take one (`codexPathOverride` and the like).
"use strict";

const name = `quipu-${process.platform}-${process.arch}`;

function binaryPath() {
  try {
    return require.resolve(`${name}/bin/quipu`);
  } catch {
    throw new Error(
      `quipu: no program for ${process.platform} on ${process.arch}. ` +
        `If this machine is supported, the optional dependency ${name} was not installed.`,
    );
  }
}

module.exports = { binaryPath };
