/**
 * Questions that several workers ask in their own logs, and that are one: the spent budget of a file whose workers run on several
 * machines (docs/decisions/0094). One of them is told, in the whole cluster.
 */
import { Effect } from "effect";
import { LOCAL_HOST } from "../../base/host-address.ts";
import { NOTIFY_SHARED_MAX, NOTIFY_SHARED_WAIT_MS } from "../../base/limits.ts";
import type { SharedQuestion, Telling } from "../../cluster/budgets.ts";
import type { Notice } from "../../control/notify/notice.ts";
import type { HoldView } from "../../runtime/replies.ts";
import type { ClusterApi } from "../cluster-api.ts";

/** `later`: it is looked at again. `never`: it was told, or nothing is asked any more. */
export type WhenTold = "now" | "later" | "never";

/** A question that was looked at. */
interface SeenQuestion extends Pick<SharedQuestion, "shared_id" | "limit"> {
  /** Another one that tells, and since when, in monotonic milliseconds. */
  readonly by: string | undefined;
  readonly since_ms: number;
}

export class SharedQuestions {
  private readonly cluster: Pick<ClusterApi, "tellingOfBudget">;
  private readonly monoMs: () => number;
  /** By their tellers, the oldest first. */
  private readonly seen = new Map<string, SeenQuestion>();
  /** Those that no row decides, each with its teller here. */
  private readonly own = new Map<string, { readonly teller: string; readonly since_ms: number }>();

  constructor(cluster: Pick<ClusterApi, "tellingOfBudget">, monoMs = () => performance.now()) {
    this.cluster = cluster;
    this.monoMs = monoMs;
  }

  /** An open question of a host. One that is another's is looked at again until that has sent it, and taken over after a minute. */
  tellingOf({ id, shared_id, limit }: HoldView, host = LOCAL_HOST): Effect.Effect<WhenTold> {
    if (shared_id === undefined || limit === undefined) return Effect.succeed("now");
    const teller = tellerOf(host, id);
    const now = this.monoMs();
    const before = this.seen.get(teller);
    const isLate = before !== undefined && now - before.since_ms >= NOTIFY_SHARED_WAIT_MS;
    const over = isLate ? before.by : undefined;
    const asked = this.cluster.tellingOfBudget({ shared_id, limit, teller, over });
    const unknown: Telling = { telling: "unknown" };
    return Effect.map(
      Effect.catch(asked, () => Effect.succeed(unknown)),
      ({ telling, by }) => {
        const since_ms = before !== undefined && before.by === by ? before.since_ms : now;
        put(this.seen, teller, { shared_id, limit, by, since_ms });
        switch (telling) {
          case "yours":
            return "now";
          case "sent":
            return "never";
          case "others":
            return "later";
          case "unfound":
            return isLate ? "now" : "later";
          case "unknown":
            return this.isFirst([shared_id, limit].join(" "), teller, now) ? "now" : "never";
        }
      },
    );
  }

  /** Another one need not tell of it any more. */
  sent({ asks, host = LOCAL_HOST }: Notice): Effect.Effect<void> {
    const teller = tellerOf(host, asks?.hold ?? "");
    const known = this.seen.get(teller);
    if (known === undefined) return Effect.void;
    const { shared_id, limit } = known;
    return Effect.ignore(this.cluster.tellingOfBudget({ shared_id, limit, teller, isSent: true }));
  }

  /** A daemon that is no node, and follows several, tells one of the questions that come within a minute. */
  private isFirst(question: string, teller: string, now: number): boolean {
    const known = this.own.get(question);
    const isOver = known === undefined || now - known.since_ms >= NOTIFY_SHARED_WAIT_MS;
    if (isOver) put(this.own, question, { teller, since_ms: now });
    return isOver || known.teller === teller;
  }
}

const tellerOf = (host: string, hold: string): string => `${host}/${hold}`;

/** As the newest, and without the oldest where there are too many. */
const put = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > NOTIFY_SHARED_MAX && oldest !== undefined) map.delete(oldest);
};
