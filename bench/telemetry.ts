/**
 * Cost of telemetry in the ingest: an agent's lines from its spool to the durable log, with a collector that takes every post, in
 * turns with the same without one. Processor time of the daemon, which other work on the machine lengthens less.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ingested, repeated } from "./ingest.ts";
import { ascending, percentile, type Result } from "./support.ts";

const LINES = 50_000;
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
    const [off, on]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      off.push((await ingested(file, dir, LINES)).cpu_ms);
      on.push((await ingested(file, dir, LINES, env)).cpu_ms);
    }
    if (collector.posts() < ROUNDS) throw new Error(`the collector got ${collector.posts()} posts`);
    const usPerLine = (all: readonly number[]): number => (percentile(ascending(all), 50) / LINES) * 1_000;
    const [without, beside] = [usPerLine(off), usPerLine(on)];
    const percent = (beside / without - 1) * 100;
    return {
      name: "telemetry in the ingest",
      measured: `${beside.toFixed(1)} µs a line, ${collector.posts()} posts`,
      floor: `no collector: ${without.toFixed(1)} µs a line`,
      value: `${percent < 0 ? "" : "+"}${percent.toFixed(1)} %`,
      threshold: `≤ +${COST_MAX_PERCENT} %`,
      ok: percent <= COST_MAX_PERCENT,
    };
  } finally {
    collector.close();
    rmSync(dir, { recursive: true, force: true });
  }
};
