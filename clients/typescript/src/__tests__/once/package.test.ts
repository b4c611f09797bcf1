/** The package as its users get it: what it weighs, what it imports, and what the compiler makes of its types. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { PACKAGE, scratch, test, without } from "../support.ts";

const LIMIT = 60_000;
const skip = without(existsSync(join(PACKAGE, "dist")), "the package is not built; run `npm run build`");
const bin = (name: string) => join(PACKAGE, "node_modules/.bin", name);

/** What a program prints, or what it says when it fails. */
function run(program: string, args: string[], cwd: string): string {
  try {
    return execFileSync(program, args, { cwd, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`);
  }
}

test("it has no dependencies", () => {
  const text = readFileSync(join(PACKAGE, "package.json"), "utf8");
  const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual([dependencies, peerDependencies, optionalDependencies], [undefined, undefined, undefined]);
});

test("its sources use `unknown` where others use `any`", () => {
  const files = readdirSync(join(PACKAGE, "src"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  assert.ok(files.length > 20);
  for (const file of files) {
    const code = readFileSync(join(PACKAGE, "src", file), "utf8").replaceAll(/\/\*[^]*?\*\/|\/\/.*|"[^"\n]*"/g, "");
    assert.doesNotMatch(code, /(?:[:<|&=,(]|\bas)\s*any\b(?!\()/, file);
  }
});

test("it is small", { skip }, () => {
  using place = scratch();
  for (const [entry, target] of [["index", "node"], ["websocket", "browser"]]) {
    const out = join(place.work, `${entry}.js`);
    run(bin("bun"), ["build", join(PACKAGE, `dist/${entry}.js`), "--minify", `--target=${target}`, `--outfile=${out}`], place.work);
    const { size } = statSync(out);
    assert.ok(size > 1000 && size <= LIMIT, `${entry}: ${size} bytes`);
  }
});

/** Every module that a file leads to. */
function imports(file: string, seen: Set<string> = new Set()): Set<string> {
  const text = readFileSync(file, "utf8");
  for (const [, module = ""] of text.matchAll(/^(?:import|export)\b[^"]*"([^"]+)";$/gm)) {
    const path = module.startsWith(".") ? join(dirname(file), module) : module;
    if (seen.has(path)) continue;
    seen.add(path);
    if (module.startsWith(".")) imports(path, seen);
  }
  return seen;
}

test("the entry point for browsers imports nothing of Node", { skip }, () => {
  const own = join(PACKAGE, "dist");
  assert.deepEqual([...imports(join(own, "websocket.js"))].filter((path) => !path.startsWith(own)), []);
  const node = [...imports(join(own, "index.js"))].filter((path) => !path.startsWith(own));
  assert.ok(node.length > 0 && node.every((module) => module.startsWith("node:")), node.join());
});

/** Compiles a program that uses the package as an installed one. */
function compiles(program: string, options: object): void {
  using place = scratch();
  mkdirSync(join(place.work, "node_modules/@quipu"), { recursive: true });
  symlinkSync(PACKAGE, join(place.work, "node_modules/@quipu/client"));
  symlinkSync(join(PACKAGE, "node_modules/@types"), join(place.work, "node_modules/@types"));
  writeFileSync(join(place.work, "program.mts"), program);
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, target: "es2022", ...options };
  writeFileSync(join(place.work, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.mts"] }));
  run("node", [join(PACKAGE, "node_modules/typescript/bin/tsc"), "-p", place.work], place.work);
}

const USE = `
  const client = new CodexClient({ url: "ws://127.0.0.1:1" });
  client.on("item:agentMessage:delta", ({ text }) => text.length);
  const { id: threadId } = await client.startThread();
  for await (const event of client.stream({ threadId, input: [{ type: "text", text: "hello" }] })) {
    if (event.method === "item/agentMessage/delta") event.params.delta.length;
  }
  // @ts-expect-error no such method
  client.nothing();
`;

test("its types are found, by programs of Node and by pages without the types of Node", { skip }, () => {
  const lib = ["es2024", "dom", "esnext.disposable"];
  const web = `import CodexClient, { type Thread } from "@quipu/client/websocket"; export type { Thread }; ${USE}`;
  const node = `import { CodexClient, StdioTransport } from "@quipu/client"; export { StdioTransport }; ${USE}`;
  const nodenext = { module: "nodenext", moduleResolution: "nodenext" };
  compiles(web, { ...nodenext, lib, types: [] });
  compiles(node, { ...nodenext, lib: ["es2024", "esnext.disposable"], types: ["node"] });
});
