/**
 * Questions that several workers ask in their own logs, and that are one: the spent budget of a file whose workers run on several
 * machines (docs/decisions/0094). One of them is told, in the whole cluster.
 */
import { Effect } from "effect";
import { LOCAL_HOST } from "../../base/host-address.ts";
import { NOTIFY_SHARED_MAX } from "../../base/limits.ts";
import type { HoldView } from "../../runtime/replies.ts";
import type { ClusterApi } from "../cluster-api.ts";

export class SharedQuestions {
  private readonly cluster: Pick<ClusterApi, "tellsOfBudget">;
  /** Those that this daemon tells, the oldest first, each with its teller; also of hosts that it follows without being a node. */
  private readonly own = new Map<string, string>();

  constructor(cluster: Pick<ClusterApi, "tellsOfBudget">) {
    this.cluster = cluster;
  }

  /** Whether this daemon tells of the question of a host. Without an answer of the cluster it does: twice is better than never. */
  isTold({ id, shared_id, limit, bound }: HoldView, host = LOCAL_HOST): Effect.Effect<boolean> {
    if (shared_id === undefined || limit === undefined || bound === undefined) return Effect.succeed(true);
    const teller = `${host}/${id}`;
    const question = [shared_id, limit, bound].join(" ");
    const known = this.own.get(question) ?? teller;
    if (known !== teller) return Effect.succeed(false);
    const asked = this.cluster.tellsOfBudget({ shared_id, limit, bound, teller });
    return Effect.map(
      Effect.catch(asked, () => Effect.succeed(true)),
      (isOurs) => {
        if (isOurs) this.keep(question, teller);
        return isOurs;
      },
    );
  }

  private keep(question: string, teller: string): void {
    this.own.delete(question);
    this.own.set(question, teller);
    const [oldest] = this.own.keys();
    if (this.own.size > NOTIFY_SHARED_MAX && oldest !== undefined) this.own.delete(oldest);
  }
}
