/**
 * `npm run bench [-- [--record] name…]`: each measure with its floor in the same run. Exit code 1 when one misses its threshold.
 * `--record` keeps what was measured in results.json, from which `npm run docs` makes docs/reference/performance.md.
 */

import { parseArgs } from "node:util";
import { boot } from "./boot.ts";
import { bootAdopt } from "./boot-adopt.ts";
import { cluster } from "./cluster.ts";
import { clusterRunning } from "./cluster-running.ts";
import { dashboard } from "./dashboard.ts";
import { decode } from "./decode.ts";
import { engine } from "./engine.ts";
import { hosts } from "./hosts.ts";
import { http } from "./http.ts";
import { ingest } from "./ingest.ts";
import { latency } from "./latency.ts";
import { masking } from "./masking.ts";
import { memory } from "./memory.ts";
import { notify } from "./notify.ts";
import { peers } from "./peers.ts";
import { requests } from "./requests.ts";
import { restart } from "./restart.ts";
import { record } from "./results.ts";
import { search } from "./search.ts";
import { sleepers } from "./sleepers.ts";
import { stalled } from "./stalled.ts";
import { starts } from "./starts.ts";
import { startup } from "./startup.ts";
import { supervisor } from "./supervisor.ts";
import type { Result, Table } from "./support.ts";
import { telemetry } from "./telemetry.ts";
import { top } from "./top.ts";
import { turns } from "./turns.ts";
import { watchers } from "./watchers.ts";
import { weblisk } from "./weblisk.ts";

const benches: Readonly<Record<string, () => Promise<Result | readonly Result[] | Table>>> = {
  peers,
  boot,
  ingest,
  decode,
  masking,
  telemetry,
  latency,
  restart,
  startup,
  memory,
  supervisor,
  "boot-adopt": bootAdopt,
  sleepers,
  watchers,
  stalled,
  requests,
  http,
  weblisk,
  hosts,
  cluster,
  "cluster-running": clusterRunning,
  notify,
  dashboard,
  top,
  engine,
  turns,
  search,
  starts,
};

const HEAD = ["measure", "floor, same run", "measured", "ratio", "asked", ""];

const tableOf = (told: Result | readonly Result[] | Table): Table => {
  if ("rows" in told) return told;
  const results = [told].flat();
  return {
    head: HEAD,
    rows: results.map(({ name, floor, measured, value, threshold, ok }) => [
      name,
      floor,
      measured,
      value,
      threshold,
      ok ? "ok" : "MISSED",
    ]),
    missed: results.filter(({ ok }) => !ok).length,
  };
};

const print = (cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);

const { values, positionals: wanted } = parseArgs({
  options: { record: { type: "boolean" }, help: { type: "boolean", short: "h" } },
  allowPositionals: true,
});
if (values.help === true) {
  process.stdout.write(
    `npm run bench [-- [--record] NAME…]: measures beside floors of the same run, all of them or these:\n${Object.keys(benches).join(", ")}\n`,
  );
  process.exit(0);
}
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no bench "${unknown.join('", "')}"; there are ${Object.keys(benches).join(", ")}.\n`,
  );
  process.exit(3);
}
if (values.record === true && process.env.HOLDFAST_QUICK === "1") {
  process.stderr.write("The figures of HOLDFAST_QUICK=1 say nothing; they are not recorded.\n");
  process.exit(3);
}

let missed = 0;
let printed = "";
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const table = tableOf(await bench());
  missed += table.missed;
  const head = table.head.join();
  if (head !== printed) {
    if (printed !== "") process.stdout.write("\n");
    print(table.head);
    print(table.head.map(() => "---"));
    printed = head;
  }
  for (const row of table.rows) print(row);
  if (values.record === true) record(name, table);
}
process.exit(missed === 0 ? 0 : 1);
