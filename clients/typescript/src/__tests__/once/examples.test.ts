/** The examples and the program of the README run as they are. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { noQuipu, PACKAGE, QUIPU, type Scratch, scratch, test, without } from "../support.ts";

const skip = noQuipu || without(existsSync(join(PACKAGE, "dist")), "the package is not built; run `npm run build`");

/** What a program prints to somebody who types this. */
async function output(program: string, { home, work }: Scratch, typed = ""): Promise<string> {
  writeFileSync(join(home, "config.toml"), 'model_provider = "offline"\n');
  const env = { ...process.env, QUIPU_HOME: home };
  const args = [program, QUIPU ?? "quipu"];
  const child = spawn(join(PACKAGE, "node_modules/.bin/bun"), args, { cwd: work, env, stdio: "pipe" });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece) => (stdout += String(piece)));
  child.stderr.on("data", (piece) => (stderr += String(piece)));
  child.stdin.end(typed);
  const [code] = (await once(child, "close")) as [number];
  assert.deepEqual([code, stderr], [0, ""], stdout);
  return stdout;
}

test("the examples run", { skip }, async () => {
  const typed = '{"script":[{"text":"Hello!"}]}\n';
  const expected: [name: string, output: RegExp][] = [
    ["hello", /offline model[^]*The turn completed/],
    ["approvals", /accept: .*touch[^]*declined: .*rm -rf build/],
    ["tool", /It has 14 degrees in Quito[^]*Take a coat/],
    ["chat", /Hello!/],
  ];
  for (const [name, printed] of expected) {
    using place = scratch();
    assert.match(await output(join(PACKAGE, `examples/${name}.ts`), place, typed), printed);
  }
});

test("the program of the README runs", { skip }, async () => {
  using place = scratch();
  const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
  const [, program = ""] = /```ts\n([^]*?)```/.exec(readme) ?? [];
  assert.ok(program.split("\n").length <= 21, "the program of the README is longer than 20 lines");
  mkdirSync(join(place.work, "node_modules/@quipu"), { recursive: true });
  symlinkSync(PACKAGE, join(place.work, "node_modules/@quipu/client"));
  writeFileSync(join(place.work, "hello.ts"), program);
  assert.match(await output(join(place.work, "hello.ts"), place), /The turn completed/);
});
