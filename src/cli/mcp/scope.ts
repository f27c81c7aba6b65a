/**
 * The workers that a server may name. For a person that is every worker. For a process inside a run it is the run's worker and
 * everything below it: another worker is as unknown as one that never was.
 */
import { HoldfastError } from "../../protocol/errors.ts";
import type { TreeNode, WorkerView } from "../../runtime/api.ts";

type ListBelow = (worker: string) => Promise<readonly WorkerView[]>;

export class ServerScope {
  /** The worker in whose run the server is; undefined for a person. */
  readonly worker: string | undefined;
  private readonly below: ListBelow;
  /** A worker that was once below is always. */
  private readonly known = new Set<string>();

  constructor(worker: string | undefined, below: ListBelow) {
    this.worker = worker;
    this.below = below;
    if (worker !== undefined) this.known.add(worker);
  }

  /** The reference as the daemon resolves it. In a run: the id of a worker of the subtree, by its whole id or its name. */
  async refOf(ref: unknown): Promise<string> {
    const text = String(ref);
    if (this.worker === undefined) return text;
    const id = text.toUpperCase();
    if (this.known.has(id)) return id;
    const workers = await this.members();
    const named = workers.filter(({ name }) => name === text);
    const found =
      workers.find((worker) => worker.id === id) ??
      named.find(({ ended_at }) => ended_at === null) ??
      named.at(-1);
    if (found !== undefined) return found.id;
    throw new HoldfastError("WORKER_NOT_FOUND", `No worker has the id or name "${text}".`);
  }

  async refsOf(refs: unknown): Promise<readonly string[]> {
    return Promise.all((Array.isArray(refs) ? refs : [refs]).map((ref) => this.refOf(ref)));
  }

  /** The ids of the subtree; undefined for a person. */
  async ids(): Promise<ReadonlySet<string> | undefined> {
    if (this.worker === undefined) return undefined;
    await this.members();
    return this.known;
  }

  /** Keys of different workers are different keys, so that none learns of another's. */
  keyOf(key: string): string {
    return this.worker === undefined ? key : `${this.worker}:${key}`;
  }

  /** The node of the run's worker in the tree, or the root without children if the tree has it no more. */
  branchOf(root: TreeNode): TreeNode {
    if (this.worker === undefined) return root;
    const nodes: TreeNode[] = [root];
    for (const node of nodes) {
      if (node.id === this.worker) return node;
      nodes.push(...node.children);
    }
    return { ...root, children: [] };
  }

  private async members(): Promise<readonly WorkerView[]> {
    const workers = await this.below(this.worker!);
    for (const { id } of workers) this.known.add(id);
    return workers;
  }
}
