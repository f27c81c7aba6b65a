import { expect, it } from "vitest";
import type { Defects } from "../../src/actors/defects.ts";
import { WATCHER_CHUNK_CHARS } from "../../src/base/limits.ts";
import { Emitter } from "../../src/daemon/emitter.ts";
import { Outbox, type Sink } from "../../src/daemon/outbox.ts";

/** A client that is behind after each write until it has read. */
const newClient = () => {
  const written: string[] = [];
  const sink: Sink & { writableNeedDrain: boolean } = {
    writable: true,
    writableNeedDrain: false,
    writableLength: 0,
    write: (text) => {
      written.push(text);
      sink.writableNeedDrain = true;
    },
    pause: () => undefined,
  };
  const outbox = new Outbox(sink, {} as Defects);
  const emitter = new Emitter({
    request: { id: "1", inlineMax: Number.MAX_SAFE_INTEGER },
    framing: () => ({ whole: (record) => `${record};`, large: (data) => JSON.stringify(data) }),
    artifactize: { record: () => undefined } as never,
    outbox,
    isOpen: () => true,
  });
  const reads = () => {
    sink.writableNeedDrain = false;
    outbox.drained();
  };
  return { emitter, written, reads };
};

it("wants the next page when its client has read what was written of this one", async () => {
  const { emitter, written, reads } = newClient();
  let isReady = false;
  const emitted = Promise.resolve(emitter.emit(["a", "b"])).then(() => {
    isReady = true;
  });
  await Promise.resolve();
  expect([written, isReady]).toEqual([["a;b;"], false]);
  reads();
  await emitted;
  expect(written).toEqual(["a;b;"]);
});

it("writes chunk after chunk, each when its client has read the one before", async () => {
  const { emitter, written, reads } = newClient();
  const long = "x".repeat(WATCHER_CHUNK_CHARS);
  const emitted = Promise.resolve(emitter.emit([long, "a", "b"]));
  expect(written.length).toBe(1);
  reads();
  await Promise.resolve();
  expect(written).toEqual([`${long};`, "a;b;"]);
  let isReady = false;
  void emitted.then(() => {
    isReady = true;
  });
  while (!isReady) {
    reads();
    await Promise.resolve();
  }
  expect(written.length).toBe(2);
});
