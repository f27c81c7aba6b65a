/** Clients that send a byte now and then: each is let go at its bound, and others are served meanwhile. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WEBLISK_HEAD_MAX_MS, WEBLISK_REQUEST_MAX_MS } from "../../../src/base/limits.ts";
import { listen } from "../../../src/weblisk/server/listener.ts";
import type { WireRequest } from "../../../src/weblisk/server/server.ts";
import { ErrorResponse } from "../../../src/weblisk/types/talk.ts";
import type { WireAnswer } from "../../../src/weblisk/wire/refusal.ts";
import { send } from "../support/agent.ts";

const PATIENCE = { head_ms: 200, request_ms: 400, look_ms: 20, idle_ms: 400, stalled_ms: 400 };
const STEP_MS = 10;
const CLIENTS = 20;

const answer = async ({ method, body }: WireRequest): Promise<WireAnswer> => {
  if (method === "POST") await body(1_024).catch(() => undefined);
  return { status: 200, body: { status: "healthy" }, headers: {} };
};

let listening: Awaited<ReturnType<typeof listen>>;
let base: string;
beforeAll(async () => {
  listening = await listen({ answer }, { host: "127.0.0.1", port: 0 }, { patience: PATIENCE });
  base = `http://127.0.0.1:${listening.address.port}`;
});
afterAll(() => listening.close());

/** The words of the server as it let the client go, and after how many milliseconds. */
const slowly = (text: string, drop: string): Promise<{ readonly told: string; readonly after_ms: number }> =>
  new Promise((resolve) => {
    const begun = performance.now();
    let told = "";
    const socket: Socket = connect(listening.address.port, "127.0.0.1");
    // It waits for the connection, and the drops behind it.
    socket.write(text);
    const drops = setInterval(() => socket.write(drop), STEP_MS);
    socket.on("data", (chunk: Buffer) => {
      told += chunk.toString();
    });
    // It writes into a connection that is gone.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(drops);
      resolve({ told, after_ms: performance.now() - begun });
    });
  });

it.each([
  ["its head", "GET /v1/health HTTP/1.1\r\nx-slow: ", "a", PATIENCE.head_ms],
  [
    "its body",
    "POST /v1/task HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
    " ",
    PATIENCE.request_ms,
  ],
])("a client that drips %s is told so and let go; others are served", async (_what, text, drop, bound_ms) => {
  const slow = Array.from({ length: CLIENTS }, () => slowly(text, drop));
  expect((await send(base, "GET", "/v1/health")).body).toEqual({ status: "healthy" });
  for (const { told, after_ms } of await Promise.all(slow)) {
    expect(after_ms).toBeGreaterThanOrEqual(bound_ms - STEP_MS);
    expect(told).toMatch(/^HTTP\/1.1 408 /);
    expect(ErrorResponse.parse(JSON.parse(told.split("\r\n\r\n")[1]!))).toMatchObject({
      code: "INVALID_REQUEST",
    });
  }
  expect((await send(base, "GET", "/v1/health")).body).toEqual({ status: "healthy" });
});

it("outside of tests the bounds are 10 seconds for a head and 30 for a request", () => {
  expect([WEBLISK_HEAD_MAX_MS, WEBLISK_REQUEST_MAX_MS]).toEqual([10_000, 30_000]);
});
