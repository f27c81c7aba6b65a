/** notify/*: where people are told that an agent waits. */
import { Effect } from "effect";
import type { NOTIFY_REQUESTS } from "../../protocol/notify-requests.ts";
import { success } from "../../protocol/outcome.ts";
import type { Handlers } from "./handler.ts";

export const NOTIFICATIONS: Handlers<keyof typeof NOTIFY_REQUESTS> = {
  "notify/list": {
    lifetime: "read",
    run: ({ notifications }) => Effect.map(notifications.list, (reply) => success(reply)),
  },
  "notify/resend": {
    lifetime: "command",
    run: ({ runtime, caller, notifications }, { ids, all }) =>
      Effect.gen(function* () {
        yield* runtime.permitAll(caller(), "send a notification");
        return success(yield* notifications.resend(all ? "all" : ids));
      }),
  },
  "notify/test": {
    lifetime: "command",
    run: ({ runtime, caller, notifications }, { target }) =>
      Effect.gen(function* () {
        yield* runtime.permitAll(caller(), "send a notification");
        return success(yield* notifications.test(target));
      }),
  },
};
