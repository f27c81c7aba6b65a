/** News of requests for permission: one stream for all who wait, which begins again, and ends with the last of them. */
import { expect, it } from "vitest";
import { ApprovalNews } from "../../../src/cli/weblisk/approval-news.ts";
import type { Client } from "../../../src/daemon/client.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";

/** A daemon with one log, whose streams a test ends. */
const makeDaemon = () => {
  const streams: { readonly asked: object; tell(worker_id: string): void; end(): void; isOpen: boolean }[] =
    [];
  const client = {
    request: async () => ({ epoch: "01ARZ3NDEKTSV4RRFFQ69G5FAV", head: 7 }),
    stream: (_: string, asked: object, onRecord: (record: LogRecord) => void, signal: AbortSignal) =>
      new Promise((_resolve, reject) => {
        const stream = {
          asked,
          isOpen: true,
          tell: (worker_id: string) => onRecord({ worker_id } as LogRecord),
          end: () => {
            stream.isOpen = false;
            reject(new HoldfastError("UNAVAILABLE", "The daemon is gone."));
          },
        };
        signal.addEventListener("abort", () => stream.end());
        streams.push(stream);
      }),
  } as unknown as Client;
  const news = new ApprovalNews({ outlasting: (work) => work(client) });
  const heard: string[] = [];
  const listen = (worker: string) => news.listen(worker, () => heard.push(worker));
  return { streams, heard, listen };
};

it("tells each listener about its own worker, by one stream from the head of the log", async () => {
  const { streams, heard, listen } = makeDaemon();
  listen("one");
  listen("two");
  await expect.poll(() => streams.length).toBe(1);
  expect(streams[0]!.asked).toMatchObject({
    types: ["approval_requested"],
    from: expect.stringMatching(/:7$/),
  });
  // Both may have missed something before the stream began.
  expect(heard.splice(0)).toEqual(["one", "two"]);
  streams[0]!.tell("two");
  streams[0]!.tell("three");
  expect(heard).toEqual(["two"]);
});

it("a stream that breaks begins again, and all look once more", async () => {
  const { streams, heard, listen } = makeDaemon();
  listen("one");
  await expect.poll(() => streams.length).toBe(1);
  heard.length = 0;
  streams[0]!.end();
  await expect.poll(() => streams.length).toBe(2);
  expect(heard).toEqual(["one"]);
});

it("the stream ends with the last listener, and the next one begins another", async () => {
  const { streams, listen } = makeDaemon();
  const [one, two] = [listen("one"), listen("two")];
  await expect.poll(() => streams.length).toBe(1);
  one();
  expect(streams[0]!.isOpen).toBe(true);
  two();
  expect(streams[0]!.isOpen).toBe(false);
  listen("three")();
  await expect.poll(() => streams.filter(({ isOpen }) => isOpen)).toEqual([]);
});
