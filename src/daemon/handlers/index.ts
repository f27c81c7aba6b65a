/** Every command of `protocol/requests.ts` and its handler. */
import type { RequestName } from "../../protocol/requests.ts";
import { acrossNodes } from "./across-nodes.ts";
import { BLACKBOARD } from "./blackboard.ts";
import { BOARDS } from "./boards.ts";
import { CLUSTER } from "./cluster.ts";
import { DAEMON } from "./daemon.ts";
import type { Handlers, RequestHandler } from "./handler.ts";
import { hello } from "./hello.ts";
import { JOBS } from "./jobs.ts";
import { MAILBOXES } from "./mailboxes.ts";
import { NOTIFICATIONS } from "./notify.ts";
import { PEERS } from "./peers.ts";
import { SCHEDULES } from "./schedules.ts";
import { SKILLS } from "./skills.ts";
import { TOKENS } from "./tokens.ts";
import { TREES } from "./trees.ts";
import { watch } from "./watch.ts";
import { WORKERS } from "./workers.ts";

/** A repeat with the same idempotency key gets the first answer. */
const once = (name: string, handler: RequestHandler<RequestName>): RequestHandler<RequestName> => ({
  ...handler,
  run: (services, data, emit, inlineMax) => {
    const { idempotency_key, ...asked } = data as typeof data & { readonly idempotency_key?: string };
    const effect = handler.run({ ...services, idempotency_key }, asked as typeof data, emit, inlineMax);
    return services.once.run(idempotency_key, { name, ...asked }, effect);
  },
});

const ALL: Handlers<RequestName> = {
  ...WORKERS,
  ...TREES,
  ...JOBS,
  ...BLACKBOARD,
  ...BOARDS,
  ...DAEMON,
  ...MAILBOXES,
  ...NOTIFICATIONS,
  ...SCHEDULES,
  ...TOKENS,
  ...PEERS,
  ...CLUSTER,
  ...SKILLS,
  "agent/watch": watch,
  "protocol/hello": hello,
};

export const HANDLERS = Object.fromEntries(
  Object.entries(ALL as unknown as Record<string, RequestHandler<RequestName>>).map(([name, own]) => {
    const handler = acrossNodes(name, own);
    return [name, handler.isKeyed ? once(name, handler) : handler];
  }),
) as unknown as Handlers<RequestName>;
