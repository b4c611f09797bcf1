/** A real server on a websocket. */

import { spawn } from "node:child_process";
import { once } from "node:events";

import { QUIPU, type Scratch } from "./support.ts";

/** A server, its address, and how to kill it. */
export interface Listener {
  url: string;
  port: number;
  end(): Promise<void>;
}

/** Starts a server on this port, or a free one. */
export async function listener({ home, work }: Scratch, args: string[] = [], port = 0): Promise<Listener> {
  const base = ["app-server", "-c", 'model_provider="offline"', "--listen", `ws://127.0.0.1:${port}`];
  const env = { ...process.env, QUIPU_HOME: home, CODEX_HOME: home };
  const child = spawn(QUIPU ?? "quipu", [...base, ...args], { cwd: work, env, stdio: ["ignore", "ignore", "pipe"] });
  const exit = once(child, "exit");
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(said)));
    child.stderr.on("data", (piece) => {
      said += String(piece);
      const address = /ws:\/\/[\d.]+:\d+/.exec(said);
      if (address && said.endsWith("\n")) resolve(address[0]);
    });
  });
  const end = async () => {
    child.kill("SIGKILL");
    await exit;
  };
  return { url, port: Number(new URL(url).port), end };
}
