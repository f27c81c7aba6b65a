/** `toSSE`: a web server of a program sends records, and a client that comes back loses and doubles nothing. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { SSE_TYPE, toSSE, type WatchOptions } from "../../src/library/index.ts";
import { openRuntime } from "./support.ts";

interface SentEvent {
  readonly id: string;
  readonly data: string;
}

/** Reads at most `most` events, and goes away; the last one is `end` if the stream is over. */
const read = async (url: string, most: number, last?: string): Promise<readonly SentEvent[]> => {
  const away = new AbortController();
  const response = await fetch(url, {
    signal: away.signal,
    headers: last === undefined ? {} : { "last-event-id": last },
  });
  expect(response.headers.get("content-type")).toBe(SSE_TYPE);
  let text = "";
  const events = (): SentEvent[] =>
    [...text.matchAll(/^(?:id: (.*)|event: (end))\ndata: (.*)\n\n/gm)].map(([, id, end, data]) => ({
      id: id ?? (end as string),
      data: data as string,
    }));
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    if (events().length >= most) break;
  }
  away.abort();
  return events().slice(0, most);
};

test("a client that reconnects with Last-Event-ID gets each record once, to the end of the worker", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.run({ kind: "command", argv: ["seq", "20"], name: "counter" });
  let open = 0;
  const server = createServer((request, response) => {
    open += 1;
    response.writeHead(200, { "content-type": SSE_TYPE });
    const lastEventId = request.headers["last-event-id"] as string | undefined;
    const events = Readable.fromWeb(
      toSSE(runtime, { ids: [id], types: ["agent.event"], lastEventId }) as never,
    );
    events.once("close", () => (open -= 1));
    response.once("close", () => events.destroy());
    events.pipe(response);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const before = await read(url, 7);
  const after = await read(url, 100, before.at(-1)?.id);
  expect(after.at(-1)).toEqual({ id: "end", data: "{}" });
  const texts = [...before, ...after.slice(0, -1)].map(({ data }) => JSON.parse(data).payload.text);
  expect(texts).toEqual(Array.from({ length: 20 }, (_, at) => `${at + 1}\n`));
  const refused = await read(url, 1, "no-cursor");
  expect(JSON.parse(refused[0]?.data ?? "")).toMatchObject({ code: "INVALID_REQUEST" });
  while (open > 0) await new Promise((resolve) => setImmediate(resolve));
});

test("a client that comes back goes on after its last event, however the stream began", () => {
  const asked: unknown[] = [];
  const runtime = {
    watch: (options: WatchOptions) => {
      asked.push(options);
      return (async function* () {})();
    },
    cursor: String,
  };
  toSSE(runtime, { since_ms: 5 });
  toSSE(runtime, { since_ms: 5, lastEventId: "e:1" });
  expect(asked).toEqual([{ since_ms: 5 }, { from: "e:1" }]);
});
