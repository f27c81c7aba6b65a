/** `npm run bench [-- name…]`: each measure with its floor in the same run. Exit code 1 when one misses its threshold. */

import { boot } from "./boot.ts";
import { bootAdopt } from "./boot-adopt.ts";
import { decode } from "./decode.ts";
import { ingest } from "./ingest.ts";
import { latency } from "./latency.ts";
import { masking } from "./masking.ts";
import { memory } from "./memory.ts";
import { orphans } from "./orphans.ts";
import { requests } from "./requests.ts";
import { restart } from "./restart.ts";
import { sleepers } from "./sleepers.ts";
import { stalled } from "./stalled.ts";
import { startup } from "./startup.ts";
import { supervisor } from "./supervisor.ts";
import type { Result } from "./support.ts";
import { turns } from "./turns.ts";
import { watchers } from "./watchers.ts";

const benches: Readonly<Record<string, () => Promise<Result | readonly Result[]>>> = {
  boot,
  ingest,
  decode,
  masking,
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
  turns,
  orphans,
};
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no bench "${unknown.join('", "')}"; there are ${Object.keys(benches).join(", ")}.\n`,
  );
  process.exit(3);
}

process.stdout.write(
  "| measure | floor, same run | measured | ratio | at least | |\n|---|---|---|---|---|---|\n",
);
let missed = 0;
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const result of [await bench()].flat()) {
    if (!result.ok) missed += 1;
    process.stdout.write(
      `| ${[result.name, result.floor, result.measured, result.value, result.threshold, result.ok ? "ok" : "MISSED"].join(" | ")} |\n`,
    );
  }
}
process.exit(missed === 0 ? 0 : 1);
