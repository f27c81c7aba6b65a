import { expect, it } from "vitest";
import type { Defects } from "../../src/actors/defects.ts";
import { Outbox, type Sink } from "../../src/daemon/outbox.ts";

const newOutbox = () => {
  const written: string[] = [];
  const sink: Sink & { writableNeedDrain: boolean } = {
    writable: true,
    writableNeedDrain: false,
    writableLength: 0,
    write: (text) => written.push(text),
    pause: () => undefined,
  };
  return { outbox: new Outbox(sink, {} as Defects), sink, written };
};

it("makes the text of a client that is behind only when the client wants it, in order", async () => {
  const { outbox, sink, written } = newOutbox();
  const made: string[] = [];
  const text = (name: string) => () => {
    made.push(name);
    return name;
  };
  expect(outbox.stream("1", text("a"))).toBeUndefined();
  sink.writableNeedDrain = true;
  const taken = [outbox.stream("1", text("b")), outbox.stream("2", text("c")), outbox.stream("1", text(""))];
  expect(made).toEqual(["a"]);
  outbox.drained();
  expect(made).toEqual(["a"]);
  sink.writableNeedDrain = false;
  outbox.drained();
  await Promise.all(taken);
  expect(made).toEqual(["a", "b", "c", ""]);
  expect(written).toEqual(["a", "b", "c"]);
});

it("a text that cannot be made fails its request, and not the ones behind it", async () => {
  const { outbox, sink, written } = newOutbox();
  sink.writableNeedDrain = true;
  const broken = outbox.stream("1", () => {
    throw new Error("broken");
  });
  const next = outbox.stream("2", () => "b");
  sink.writableNeedDrain = false;
  outbox.drained();
  await expect(broken).rejects.toThrow("broken");
  await next;
  expect(written).toEqual(["b"]);
});

it("drops what waits of a request that has ended", () => {
  const { outbox, sink, written } = newOutbox();
  sink.writableNeedDrain = true;
  void outbox.stream("1", () => "a");
  void outbox.stream("2", () => "b");
  outbox.silence("1");
  sink.writableNeedDrain = false;
  outbox.drained();
  expect(written).toEqual(["b"]);
});
