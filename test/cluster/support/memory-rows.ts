/** The deed of each transaction of a cluster's store: the measure of the Postgres form, and the store of the simulator. */
import {
  type ClusterNode,
  type ClusterView,
  isGone,
  type NewNode,
  type NewPlacement,
  type NodeFence,
  type Placement,
  type RunFence,
} from "../../../src/cluster/rows.ts";

export class MemoryRows {
  readonly nodes = new Map<string, ClusterNode>();
  readonly placements = new Map<string, Placement>();
  private readonly sessions = new Map<string, string>();

  private readonly drained = new Set<string>();

  join(node: NewNode, session: string): number | undefined {
    const known = this.nodes.get(node.id);
    if (known !== undefined && !isGone(known))
      return this.sessions.get(node.id) === session ? known.term : undefined;
    if (known?.state === "left" && this.sessions.get(node.id) === session) return undefined;
    const term = (known?.term ?? 0) + 1;
    const staysDrained =
      known?.state === "dead" && known.store_id === node.store_id && this.drained.has(node.id);
    if (!staysDrained) this.drained.delete(node.id);
    this.nodes.set(node.id, { ...node, term, beat: 0, state: staysDrained ? "draining" : "active" });
    this.sessions.set(node.id, session);
    return term;
  }

  renew(fence: NodeFence): boolean {
    const node = this.living(fence);
    if (node === undefined) return false;
    this.nodes.set(node.id, { ...node, beat: node.beat + 1 });
    return true;
  }

  drain(id: string, isDraining: boolean): boolean {
    const node = this.nodes.get(id);
    if (node === undefined || isGone(node)) return false;
    if (isDraining) this.drained.add(id);
    else this.drained.delete(id);
    this.nodes.set(id, { ...node, state: isDraining ? "draining" : "active" });
    return true;
  }

  leave(fence: NodeFence): boolean {
    const node = this.living(fence);
    if (node === undefined || this.holds(node.id)) return false;
    this.nodes.set(node.id, { ...node, state: "left" });
    return true;
  }

  bury(id: string, term: number, beat: number): boolean {
    const node = this.nodes.get(id);
    if (node === undefined || isGone(node) || node.term !== term || node.beat !== beat) return false;
    this.nodes.set(id, { ...node, state: "dead" });
    return true;
  }

  declareGone(id: string): boolean {
    const node = this.nodes.get(id);
    if (node?.state !== "dead") return false;
    this.nodes.set(id, { ...node, state: "left" });
    this.sessions.delete(id);
    return true;
  }

  place(placement: NewPlacement): boolean {
    if (this.placements.has(placement.worker)) return false;
    this.placements.set(placement.worker, {
      ...placement,
      desired: "running",
      node: null,
      node_term: null,
      term: 0,
      starts: 0,
    });
    return true;
  }

  claim(worker: string, seen: number, to: NodeFence): boolean {
    const placement = this.placements.get(worker);
    if (placement?.term !== seen || placement.desired !== "running") return false;
    if (this.living(to)?.state !== "active" || !this.isFree(placement, to.node)) return false;
    this.placements.set(worker, { ...placement, ...to, term: seen + 1 });
    return true;
  }

  adopt(run: RunFence): boolean {
    const placement = this.held(run);
    if (placement?.on_partition !== "continue" || this.living(run) === undefined) return false;
    this.placements.set(run.worker, { ...placement, node_term: run.node_term });
    return true;
  }

  release(run: RunFence, seen_starts: number): boolean {
    const placement = this.held(run);
    if (placement?.node_term !== run.node_term || placement.starts !== seen_starts) return false;
    this.placements.set(run.worker, { ...placement, node: null, node_term: null });
    return true;
  }

  begin(run: RunFence): boolean {
    const placement = this.held(run);
    if (placement?.node_term !== run.node_term || this.living(run) === undefined) return false;
    this.placements.set(run.worker, { ...placement, starts: placement.starts + 1 });
    return true;
  }

  end(run: RunFence): boolean {
    const placement = this.held(run);
    if (placement === undefined) return false;
    this.placements.set(run.worker, { ...placement, desired: "ended" });
    return true;
  }

  kill(worker: string): void {
    const placement = this.placements.get(worker);
    this.placements.set(worker, {
      ...(placement ?? {
        worker,
        spec_digest: "",
        on_partition: "stop",
        needs: null,
        node: null,
        node_term: null,
        term: 0,
        starts: 0,
      }),
      desired: "killed",
    });
  }

  /** Loads are counted while a worker waits for a node, as in Postgres. */
  view(id: string): ClusterView {
    const running = [...this.placements.values()].filter(({ desired }) => desired === "running");
    const isHeld = ({ node, node_term }: Placement): boolean =>
      node !== null && node_term !== null && this.living({ node, node_term }) !== undefined;
    const isAsked = !running.every(isHeld);
    const nodes = [...this.nodes.values()].map((node) => ({
      ...node,
      load: isAsked
        ? running.filter((each) => each.node === node.id && each.node_term === node.term).length
        : 0,
    }));
    return { nodes, placements: running.filter((each) => each.node === id || !isHeld(each)) };
  }

  /** Whether a record of this term is still the worker's: also of one that was killed or has ended. */
  isCurrent(node: string, { worker, term }: { readonly worker: string; readonly term: number }): boolean {
    const placement = this.placements.get(worker);
    return placement?.node === node && placement.term === term;
  }

  private living({ node, node_term }: NodeFence): ClusterNode | undefined {
    const row = this.nodes.get(node);
    return row === undefined || isGone(row) || row.term !== node_term ? undefined : row;
  }

  private held(run: RunFence): Placement | undefined {
    const placement = this.placements.get(run.worker);
    const isHeld =
      placement?.node === run.node && placement.term === run.term && placement.desired === "running";
    return isHeld ? placement : undefined;
  }

  private holds(id: string): boolean {
    return [...this.placements.values()].some(({ node, desired }) => node === id && desired === "running");
  }

  /** Nobody runs it: it was never placed, was released, or the lease under which it was placed is over. */
  private isFree({ node, node_term, on_partition, needs }: Placement, to: string): boolean {
    if (node === null) return true;
    if (needs === null && node !== to) return false;
    const row = this.nodes.get(node);
    if (row === undefined) return true;
    const isItsOwn = row.term === node_term;
    if (on_partition === "continue") return isItsOwn && row.state === "left";
    return !isItsOwn || isGone(row);
  }
}
