/** bb/*: the blackboard. */
import { Effect } from "effect";
import { cursorOf } from "../../protocol/cursor.ts";
import { success } from "../../protocol/outcome.ts";
import type { RequestName } from "../../protocol/requests.ts";
import { invalidRequest } from "../request.ts";
import { command, type Handlers, type RequestHandler, read } from "./handler.ts";

const watch: RequestHandler<"bb/watch"> = {
  lifetime: "open",
  run: ({ runtime }, query, emit) =>
    Effect.gen(function* () {
      if (query.from !== undefined && query.since_ms !== undefined)
        return yield* Effect.fail(invalidRequest(["Give from or since_ms, not both."]));
      let records = 0;
      const next = yield* runtime.blackboard.follow(query, ({ lines }) => {
        records += lines.length;
        return emit(lines);
      });
      return success({ next, records, cursor: cursorOf(runtime.epoch, next) });
    }),
};

export const BLACKBOARD: Handlers<Extract<RequestName, `bb/${string}`>> = {
  "bb/post": command(({ blackboard }, item) => blackboard.post(item)),
  "bb/list": read(({ blackboard }, query) => blackboard.list(query)),
  "bb/search": read(({ blackboard }, query) => blackboard.list(query)),
  "bb/watch": watch,
  "bb/claim": command(({ blackboard }, asked) => blackboard.claim(asked)),
  "bb/release": command(({ blackboard }, asked) => blackboard.release(asked)),
};
