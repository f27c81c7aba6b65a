/** The parts of a daemon that it needs as a node. */
import type { RuntimeApi } from "../../runtime/api.ts";
import type { Log } from "../log.ts";
import type { Rights } from "../rights.ts";
import type { AnswerCall } from "./call-desk.ts";
import type { TellNotice } from "./questions.ts";

export interface ClusterGround {
  readonly stateDir: string;
  readonly runtime: Pick<
    RuntimeApi,
    | "follow"
    | "status"
    | "epoch"
    | "placeOf"
    | "spawn"
    | "kill"
    | "wait"
    | "placed"
    | "resolve"
    | "stateOf"
    | "hasOther"
    | "permitAll"
  >;
  readonly rights: Rights;
  readonly log: Log;
  readonly tell: TellNotice;
  readonly answer: AnswerCall;
}
