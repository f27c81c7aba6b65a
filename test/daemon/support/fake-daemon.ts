/** The daemon's program over a fake runtime, for tests that need its own process. */
import { Effect } from "effect";
import { runDaemonProcess } from "../../../src/daemon/process.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { makeFakeRuntime } from "./fake-runtime.ts";

const stateDir = process.argv[3]!;
/** How it misbehaves: `broken` cannot open its log, `stuck` never shuts down, `throwing` has a bad timer. */
const sin = process.env.HOLDFAST_TEST_SIN;
const runtime = makeFakeRuntime(["a"]);

await runDaemonProcess({
  stateDir,
  version: "0.0.0-fake",
  openRuntime: () => {
    if (sin === "broken")
      return Effect.fail(new HoldfastError("STORE_CORRUPT", "The log of this test is broken."));
    if (sin === "throwing") {
      setTimeout(() => {
        throw new TypeError("a timer threw");
      });
      void Promise.reject(new TypeError("nobody handled this"));
    }
    return Effect.succeed(sin === "stuck" ? { ...runtime, shutdown: () => Effect.never } : runtime);
  },
});
