/** board/*: cards of issues, and the dispatcher of each board. */
import type { RequestName } from "../../protocol/requests.ts";
import { command, type Handlers, read } from "./handler.ts";
import { recordStream } from "./record-stream.ts";

export const BOARDS: Handlers<Extract<RequestName, `board/${string}`>> = {
  "board/add": command(({ board }, asked) => board.add(asked)),
  "board/list": read(({ board }, query) => board.list(query)),
  "board/show": read(({ board }, query) => board.show(query)),
  "board/claim": command(({ board }, asked) => board.claim(asked)),
  "board/release": command(({ board }, asked) => board.release(asked)),
  "board/retry": command(({ board }, asked) => board.retry(asked)),
  "board/block": command(({ board }, asked) => board.block(asked)),
  "board/handoff": command(({ board }, asked) => board.handoff(asked)),
  "board/done": command(({ board }, asked) => board.done(asked)),
  "board/dispatch": command(({ board }, asked) => board.dispatch(asked)),
  "board/watch": recordStream(({ board }, query, take) => board.follow(query, take)),
};
