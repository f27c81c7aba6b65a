/** A reader that is slow, or reads nothing, slows nobody (promise R15). */
import { expect, test } from "vitest";
import { connectTo, peakMiB, startDaemon, until } from "./support.ts";

const STALLED = 100;
const LINES = 100_000;
/** A daemon that reads a flood holds under 300 MiB with no watcher at all; each stalled one may add 1 (promise R15). */
const RSS_MAX_MIB = 300 + STALLED;
const ANSWER_MAX_MS = 20_000;

test(`${STALLED} watchers that never read: the agent completes, others are served, memory is bounded`, {
  timeout: 600_000,
}, async () => {
  const daemon = await startDaemon();
  const sockets = await Promise.all(Array.from({ length: STALLED }, () => connectTo(daemon.stateDir)));
  for (const socket of sockets) {
    socket.pause();
    socket.write(
      `${JSON.stringify({ version: 1, command: "agent/watch", data: { all: true, from: 0 }, meta: { request_id: "stalled" } })}\n`,
    );
  }
  await until(
    "all of them watch",
    async () =>
      (await daemon.request<{ requests_in_flight: number }>("daemon/status", {})).requests_in_flight >=
      STALLED,
  );

  const chatty = await daemon.spawn(["seq", String(LINES)]);
  let seen = 0;
  const reading = await daemon.watchLines(
    { ids: [chatty], from: 0, types: ["agent.event"], follow: false },
    (line) => {
      if (line.includes('"TextOutput"')) seen += 1;
    },
  );
  let slowest = 0;
  for (let over = false; !over; ) {
    const askedAt = performance.now();
    await daemon.request("daemon/status", {});
    slowest = Math.max(slowest, performance.now() - askedAt);
    over = await Promise.race([
      reading.over.then(() => true),
      new Promise<false>((done) => setTimeout(() => done(false), 20)),
    ]);
  }
  expect(seen).toBe(LINES);
  expect(await daemon.info(chatty)).toMatchObject({ state: "completed" });
  expect(slowest).toBeLessThan(ANSWER_MAX_MS);
  expect(peakMiB(daemon.pid)).toBeLessThan(RSS_MAX_MIB);
  for (const socket of sockets) socket.destroy();
  await until(
    "they are forgotten",
    async () => (await daemon.request<{ connections: number }>("daemon/status", {})).connections < STALLED,
  );
});
