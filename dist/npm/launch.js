#!/usr/bin/env node
// Starts the program for this machine; input, output, signals and exit code are its own.
"use strict";

const { spawn } = require("node:child_process");
const { binaryPath } = require("./index.js");

let program;
try {
  program = binaryPath();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`quipu: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
