/**
 * Cost of telemetry in the ingest: an agent's lines from its spool to the durable log, with a collector that takes every post, in
 * turns with the same without one. Lines a second decide; the processor time, with that of the thread of telemetry, is told.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ingested, ingested, repeated } from "./ingest.ts";
import { ascending, percentile, type Result } from "./support.ts";

const LINES = 200_000;
/** The thread of telemetry, and V8's compiler, start once in a daemon's life: their start is not of the ingest. */
const WARM_LINES = 20_000;
const ROUNDS = 5;
const COST_MAX_PERCENT = 5;
/** Often enough that much is sent while the lines come. */
const POST_EVERY_MS = 500;

/** Takes and counts what is posted. */
const startCollector = async () => {
  let posts = 0;
  const server = createServer((request, response) => {
    posts += 1;
    request.resume().on("end", () => response.writeHead(200).end());
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, posts: () => posts, close };
};

export const telemetry = async (): Promise<Result> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-telemetry-"));
  const collector = await startCollector();
  try {
    const file = join(dir, "transcript.ndjson");
    writeFileSync(file, repeated(LINES));
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_BSP_SCHEDULE_DELAY: String(POST_EVERY_MS),
      OTEL_METRIC_EXPORT_INTERVAL: String(POST_EVERY_MS),
    };
    const [off, on]: [Ingested[], Ingested[]] = [[], []];
    const first = join(dir, "first.ndjson");
    writeFileSync(first, repeated(WARM_LINES));
    const asked = { file, dir, lines: LINES, warm: { file: first, lines: WARM_LINES } };
    for (let round = 0; round < ROUNDS; round += 1) {
      off.push(await ingested(asked));
      on.push(await ingested({ ...asked, env }));
    }
    if (collector.posts() < ROUNDS) throw new Error(`the collector got ${collector.posts()} posts`);
    const median = (all: readonly Ingested[], of: (one: Ingested) => number): number =>
      percentile(ascending(all.map(of)), 50);
    const rate = (all: readonly Ingested[]): number => LINES / median(all, ({ seconds }) => seconds);
    const usPerLine = (all: readonly Ingested[]): string =>
      ((median(all, ({ cpu_ms }) => cpu_ms) / LINES) * 1_000).toFixed(1);
    const percent = (1 - rate(on) / rate(off)) * 100;
    const told = (all: readonly Ingested[]): string =>
      `${Math.round(rate(all)).toLocaleString("en")} lines/s, ${usPerLine(all)} µs of processor a line`;
    return {
      name: "telemetry in the ingest",
      measured: `${told(on)}, ${collector.posts()} posts`,
      floor: `no collector: ${told(off)}`,
      value: `${percent.toFixed(1)} % fewer lines/s`,
      threshold: `≤ ${COST_MAX_PERCENT} %`,
      ok: percent <= COST_MAX_PERCENT,
    };
  } finally {
    collector.close();
    rmSync(dir, { recursive: true, force: true });
  }
};
