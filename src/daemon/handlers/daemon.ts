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
  run: ({ runtime, caller, shutdown }, { agents }) =>
    Effect.gen(function* () {
      yield* runtime.permitAll(caller(), "stop the daemon");
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
  run: ({ runtime, caller }, data) =>
    Effect.gen(function* () {
      yield* runtime.permitAll(caller(), "archive output");
      return success(yield* runtime.gc(data));
    }),
};

export const rebuild: Handler<"db/rebuild"> = {
  lifetime: "command",
  run: ({ runtime, caller }) =>
    Effect.gen(function* () {
      yield* runtime.permitAll(caller(), "rebuild the projections");
      return success(yield* runtime.rebuild());
    }),
};
