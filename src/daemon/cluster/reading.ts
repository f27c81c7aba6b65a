/** The copy of the logs, as this daemon reads it for people. */
import { CLUSTER_COPY_ANSWER_MS } from "../../base/limits.ts";
import type { CopyReads } from "../cluster-api.ts";
import { copiedPage } from "./copied.ts";
import { elsewherePage } from "./elsewhere.ts";
import { foundElsewhere } from "./found.ts";
import { atMost, type TreeGround } from "./tree.ts";

export const copyReads = (atDesk: TreeGround["atDesk"], self: () => string): CopyReads => {
  const slowly: TreeGround["atDesk"] = (ask) => atMost(atDesk(ask), CLUSTER_COPY_ANSWER_MS);
  return {
    records: (asked) => slowly((store) => copiedPage(store.copies, asked)),
    workers: (asked) => atMost(atDesk((store) => elsewherePage(store.copies, self(), asked))),
    search: (asked) => slowly((store) => foundElsewhere(store.copies, self(), asked)),
  };
};
