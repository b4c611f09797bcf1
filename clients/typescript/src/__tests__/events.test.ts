/** Numbered events: connections that break anywhere, and a client that misses nothing and repeats nothing. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import { CodexClient } from "../index.ts";
import { type Listener, listener } from "./listener.ts";
import { noQuipu, scratch, script, test } from "./support.ts";

/** A way to a server that breaks once, after so many bytes of its answers; `broken` says whether it has. */
async function breaking(server: Listener, bytes: number) {
  let [left, broken] = [bytes, false];
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(server.port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [client, upstream].forEach((it) => it.destroy()));
    }
    client.on("data", (data) => upstream.write(data));
    upstream.on("data", (data: Buffer) => {
      client.write(broken ? data : data.subarray(0, left));
      left -= data.length;
      if (broken || left > 0) return;
      broken = true;
      client.destroySoon();
      upstream.destroy();
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = `ws://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const end = () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  };
  return { url, end, isBroken: () => broken };
}

test("a connection may break anywhere, and nothing is missed or repeated", { skip: noQuipu }, async () => {
  using place = scratch();
  const server = await listener(place);
  const direct = new CodexClient({ url: server.url, model: null });
  await direct.connect();
  try {
    // The first bytes are the handshake, without which there is nothing to resume.
    for (let bytes = 2_000, isBroken = true; isBroken; bytes += 700) {
      const proxy = await breaking(server, bytes);
      const reconnect = { firstDelayMs: 1, longestDelayMs: 10, attempts: 100 };
      const client = new CodexClient({ url: proxy.url, model: null, reconnect });
      try {
        await oneTurn(client, direct, place.work);
      } catch (cause) {
        throw new Error(`after ${bytes} bytes`, { cause });
      } finally {
        isBroken = proxy.isBroken();
        await client.disconnect();
        proxy.end();
      }
    }
  } finally {
    await direct.disconnect();
    await server.end();
  }
});

/** Runs a turn and looks at everything that is said of it. */
async function oneTurn(client: CodexClient, direct: CodexClient, cwd: string): Promise<void> {
  const seen: string[] = [];
  let words = "";
  client.on("notification", ({ method, params }) => {
    if (/^(turn|item)\/(started|completed)$/.test(method)) seen.push(method);
    if (method === "item/agentMessage/delta") words += (params as { delta: string }).delta;
  });
  await client.connect();
  const { id: threadId } = await client.startThread({ cwd });
  const pieces = Array.from({ length: 20 }, (_, index) => `${index} `);
  const { agentMessage } = await client.runTurn({ threadId, input: script({ deltas: pieces }) });
  assert.equal(agentMessage, pieces.join(""));
  assert.equal(words, agentMessage);
  const message = ["item/started", "item/completed"];
  assert.deepEqual(seen, ["turn/started", ...message, ...message, "turn/completed"]);
  const { turns } = await direct.readThread(threadId, true);
  assert.equal(turns?.length, 1);
}
