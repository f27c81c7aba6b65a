/** Every command of `protocol/requests.ts` and its handler. */
import type { RequestName } from "../../protocol/requests.ts";
import { check, gc, rebuild, status, stop } from "./daemon.ts";
import type { Handler } from "./handler.ts";
import { hello } from "./hello.ts";
import { apply, down } from "./trees.ts";
import { watch } from "./watch.ts";
import {
  answer,
  ask,
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

export const HANDLERS: { readonly [N in RequestName]: Handler<N> } = {
  "agent/spawn": spawn,
  "agent/kill": kill,
  "agent/restart": restart,
  "agent/pause": pause,
  "agent/unpause": unpause,
  "tree/apply": apply,
  "tree/down": down,
  "agent/answer": answer,
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
