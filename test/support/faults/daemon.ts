/**
 * The daemon's program with a store and a spawner that fail now and then: only in ways that nobody outside may notice. It is
 * bundled in the daemon's place in a copy (chaos-faults.ts), and no part of the product.
 */
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import packageJson from "../../../package.json" with { type: "json" };
import { runDaemonProcess } from "../../../src/daemon/process.ts";
import { openRuntime } from "../../../src/runtime/open.ts";
import { atRates, type Failing, faultyLog, faultySpawner } from "./ports.ts";

const { values } = parseArgs({
  options: { "state-dir": { type: "string" }, "take-over": { type: "boolean" } },
});
/** Put here by the bundler: how often, and the file that has a line for each fault. */
declare const FAULT_RATE: number;
declare const FAULTS_FILE: string;
const rate = FAULT_RATE;
const chance = atRates(
  {
    "log.commit of a fact": rate,
    "log.checkpoints": rate,
    "spawner.observe": rate,
    "run.signal": rate,
    "run.kill": rate,
  },
  Math.random,
);
const failing: Failing = (call) => {
  const fails = chance(call);
  if (fails) appendFileSync(FAULTS_FILE, `${call}\n`);
  return fails;
};
await runDaemonProcess({
  stateDir: values["state-dir"] as string,
  version: packageJson.version,
  takeOver: values["take-over"] === true ? { check: () => undefined } : undefined,
  openRuntime: (options) =>
    openRuntime({
      ...options,
      between: {
        store: (store) => faultyLog(store, failing),
        spawner: (spawner) => faultySpawner(spawner, failing),
      },
    }),
});
