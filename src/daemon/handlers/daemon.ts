/** daemon/* and db/*: the daemon itself and its log. */
import { Effect } from "effect";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { Handler } from "./handler.ts";

export const status: Handler<"daemon/status"> = {
  lifetime: "read",
  run: ({ runtime, facts }) => Effect.map(runtime.status(), (known) => success({ ...known, ...facts() })),
};

export const stop: Handler<"daemon/stop"> = {
  lifetime: "command",
  run: ({ runtime, shutdown }, { agents }) =>
    Effect.gen(function* () {
      const { live } = (yield* runtime.status()).workers;
      if (agents === "refuse" && live > 0) {
        const are = live === 1 ? "1 agent is" : `${live} agents are`;
        return yield* Effect.fail(
          new HoldfastError("AGENTS_RUNNING", `${are} running.`, { details: { live } }),
        );
      }
      const what = agents === "kill" ? "kill" : "keep";
      yield* shutdown(what, "daemon/stop");
      return success({ agents: what, live } as const);
    }),
};

export const check: Handler<"db/check"> = {
  lifetime: "read",
  run: ({ runtime }) => Effect.map(runtime.check(), (report) => success(report)),
};

export const gc: Handler<"db/gc"> = {
  lifetime: "command",
  run: ({ runtime }, data) => Effect.map(runtime.gc(data), (report) => success(report)),
};

export const rebuild: Handler<"db/rebuild"> = {
  lifetime: "command",
  run: ({ runtime }) => Effect.map(runtime.rebuild(), (report) => success(report)),
};
