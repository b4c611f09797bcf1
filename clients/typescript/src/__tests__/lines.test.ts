/** The line splitter and the queue, given anything in any pieces. */

import assert from "node:assert/strict";

import fc from "fast-check";

import { Feed } from "../feed.ts";
import { LineSplitter } from "../lines.ts";
import { test } from "./support.ts";

function split(pieces: Uint8Array[], limit?: number): (string | null)[] {
  const lines: (string | null)[] = [];
  const splitter = new LineSplitter((line) => lines.push(line), () => lines.push(null), limit);
  for (const piece of pieces) splitter.push(piece);
  splitter.end();
  return lines;
}

/** The bytes cut at these places. */
function cut(bytes: Uint8Array, places: number[]): Uint8Array[] {
  const sorted = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  const ends = [...sorted, bytes.length];
  return ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
}

const text = fc.string({ unit: fc.oneof(fc.string({ unit: "binary", maxLength: 1 }), fc.constantFrom("é", "漢", "🦙")) });

test("lines are the same however the bytes are cut", () => {
  const line = text.map((it) => it.replaceAll(/[\n\r\uFEFF]/g, "").toWellFormed());
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), fc.boolean(), (lines, places, isEnded) => {
      const joined = lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : "");
      const expected = joined === "" ? [] : joined.split("\n");
      if (expected.at(-1) === "") expected.pop();
      assert.deepEqual(split(cut(new TextEncoder().encode(joined), places)), expected);
    }),
    { numRuns: 300 },
  );
});

test("any bytes give the same lines in one piece and byte by byte", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const oneByOne = [...bytes].map((byte) => Uint8Array.of(byte));
      assert.deepEqual(split(oneByOne), split([bytes]));
    }),
    { numRuns: 300 },
  );
});

test("a line that is too long costs that line only", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30)), fc.array(fc.nat()), (lengths, places) => {
      const bytes = new TextEncoder().encode(lengths.map((length) => `${"x".repeat(length)}\n`).join(""));
      const expected = lengths.map((length) => (length > 20 ? null : "x".repeat(length)));
      assert.deepEqual(split(cut(bytes, places), 20), expected);
    }),
    { numRuns: 300 },
  );
});

test("a line break may be that of Windows", () => {
  assert.deepEqual(split([new TextEncoder().encode("a\r\nb\r\n\r\n")]), ["a", "b", ""]);
});

test("a queue gives what it got, or says how much is missing", async () => {
  const command = fc.oneof(fc.constant("push" as const), fc.constant("read" as const));
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), async (commands, events) => {
      const feed = new Feed<number>({ events, characters: 1000 }, (missed) => -missed, () => {});
      let pushed = 0;
      const reads: Promise<IteratorResult<number, undefined>>[] = [];
      for (const command of commands) {
        if (command === "push") feed.push(++pushed, 1);
        else reads.push(feed.next());
        assert.ok(feed.length <= events);
      }
      feed.end();
      let heard = 0;
      const count = (value: number) => {
        if (value > 0) assert.equal(value, ++heard);
        else heard -= value;
      };
      for (const read of reads) {
        const { done, value } = await read;
        if (!done) count(value);
      }
      for await (const value of feed) count(value);
      assert.equal(heard, pushed);
    }),
    { numRuns: 300 },
  );
});

test("large values are bounded by their size", async () => {
  const feed = new Feed<string>({ events: 100, characters: 50 }, (missed) => `${missed} missed`, () => {});
  for (const name of ["a", "b", "c", "d"]) feed.push(name, 20);
  feed.push("large", 1000);
  feed.end();
  const values: string[] = [];
  for await (const value of feed) values.push(value);
  assert.deepEqual(values, ["4 missed", "large"]);
});
