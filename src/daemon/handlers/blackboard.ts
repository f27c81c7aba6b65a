/** bb/*: the blackboard. */
import type { RequestName } from "../../protocol/requests.ts";
import { command, type Handlers, read } from "./handler.ts";
import { recordStream } from "./record-stream.ts";

export const BLACKBOARD: Handlers<Extract<RequestName, `bb/${string}`>> = {
  "bb/post": command(({ blackboard }, item) => blackboard.post(item)),
  "bb/list": read(({ blackboard }, query) => blackboard.list(query)),
  "bb/search": read(({ blackboard }, query) => blackboard.list(query)),
  "bb/watch": recordStream(({ blackboard }, query, take) => blackboard.follow(query, take)),
  "bb/claim": command(({ blackboard }, asked) => blackboard.claim(asked)),
  "bb/release": command(({ blackboard }, asked) => blackboard.release(asked)),
};
