/** Requests of other nodes, as this daemon carries them out. */
import { Effect } from "effect";
import type { Defects } from "../actors/defects.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { failure } from "../protocol/outcome.ts";
import { type RequestName, Requests } from "../protocol/requests.ts";
import { outcomeOf } from "./answers.ts";
import type { AnswerCall } from "./cluster/call-desk.ts";
import { NO_CALLS } from "./cluster-api.ts";
import { ACROSS_NODES } from "./handlers/across-nodes.ts";
import type { HandlerServices, RequestHandler } from "./handlers/handler.ts";
import { HANDLERS } from "./handlers/index.ts";
import { PROFILES } from "./profiles.ts";
import { invalidRequest } from "./request.ts";

/** A request is never handed on to a third node. */
export const answerCallsBy =
  (services: Omit<HandlerServices, "caller">, defects: Defects): AnswerCall =>
  (name, data, caller) => {
    if (!ACROSS_NODES.has(name))
      return Effect.succeed(
        failure(new HoldfastError("INVALID_REQUEST", `A node does not carry out ${name} for another one.`)),
      );
    const checked = Requests[name as RequestName].safeParse(data);
    if (!checked.success)
      return Effect.succeed(
        failure(invalidRequest([`The data of ${name} is not valid: another version of Holdfast made it`])),
      );
    const handler = HANDLERS[name as RequestName] as RequestHandler<RequestName>;
    const { artifactize, cluster } = services;
    const means = { ...services, cluster: { ...cluster, calls: NO_CALLS }, caller: () => caller };
    const run = Effect.suspend(() =>
      handler.run(means, checked.data as never, () => undefined, artifactize.inline_max_bytes),
    );
    const exit = Effect.exit(handler.lifetime === "command" ? Effect.uninterruptible(run) : run);
    return Effect.map(exit, (ended) =>
      outcomeOf(ended, defects, { head: { command: name, profiles: PROFILES } }),
    );
  };
