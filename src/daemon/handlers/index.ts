/** Every command of `protocol/requests.ts` and its handler. */
import type { RequestName } from "../../protocol/requests.ts";
import { check, gc, rebuild, status, stop } from "./daemon.ts";
import type { Handler } from "./handler.ts";
import { hello } from "./hello.ts";
import { apply, down } from "./trees.ts";
import { watch } from "./watch.ts";
import {
  answer,
  approvals,
  approve,
  ask,
  cancel,
  capabilities,
  info,
  kill,
  list,
  messages,
  output,
  pause,
  raw,
  restart,
  send,
  spawn,
  tree,
  unpause,
  wait,
  why,
} from "./workers.ts";

type Keyed =
  | "agent/kill"
  | "agent/restart"
  | "agent/pause"
  | "agent/unpause"
  | "agent/answer"
  | "agent/approve"
  | "agent/cancel"
  | "tree/apply"
  | "tree/down";

/** With an idempotency key: a repeat gets the first answer. */
const keyed = <N extends Keyed>(name: N, handler: Handler<N>): Handler<N> => ({
  lifetime: handler.lifetime,
  run: (services, data, emit, inlineMax) => {
    const { idempotency_key, ...asked } = data;
    const effect = handler.run(services, asked as typeof data, emit, inlineMax);
    return services.once.run(idempotency_key, { name, ...asked }, effect);
  },
});

export const HANDLERS: { readonly [N in RequestName]: Handler<N> } = {
  "agent/spawn": spawn,
  "agent/kill": keyed("agent/kill", kill),
  "agent/restart": keyed("agent/restart", restart),
  "agent/pause": keyed("agent/pause", pause),
  "agent/unpause": keyed("agent/unpause", unpause),
  "tree/apply": keyed("tree/apply", apply),
  "tree/down": keyed("tree/down", down),
  "agent/answer": keyed("agent/answer", answer),
  "agent/approvals": approvals,
  "agent/approve": keyed("agent/approve", approve),
  "agent/cancel": keyed("agent/cancel", cancel),
  "agent/send": send,
  "agent/ask": ask,
  "agent/messages": messages,
  "agent/list": list,
  "agent/info": info,
  "agent/tree": tree,
  "agent/why": why,
  "agent/watch": watch,
  "agent/wait": wait,
  "agent/output": output,
  "agent/raw": raw,
  "agent/capabilities": capabilities,
  "protocol/hello": hello,
  "daemon/status": status,
  "daemon/stop": stop,
  "db/check": check,
  "db/rebuild": rebuild,
  "db/gc": gc,
};
