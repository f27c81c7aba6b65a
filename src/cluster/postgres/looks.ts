/**
 * The looks of a node at its cluster, four a second. The database sends those of the node's own placements that were written since its
 * last look, and the number of all: a node may hold thousands.
 */
import type { ClusterView, Placement } from "../rows.ts";
import { VIEW } from "./statements.ts";

export interface SeenView extends ClusterView {
  /** The number of the node's own placements. */
  readonly own: number;
  readonly since: string;
}

/** The newest look of a node, with its own placements. */
interface SeenOwn {
  readonly node: string;
  readonly since: string;
  readonly own: ReadonlyMap<string, Placement>;
}

type ViewRows = (text: string, values: readonly unknown[]) => Promise<readonly SeenView[]>;

export class NodeLooks {
  private readonly rows: ViewRows;
  private seen: SeenOwn | undefined;

  constructor(rows: ViewRows) {
    this.rows = rows;
  }

  async view(node: string): Promise<ClusterView> {
    const before = this.seen?.node === node ? this.seen : undefined;
    const { nodes, placements, own: all, since } = await this.look(node, before);
    const own = new Map(before?.own);
    for (const placement of placements) if (placement.node === node) own.set(placement.worker, placement);
    // The database sends no placement that the node holds no longer: the number alone shows it.
    if (own.size !== all && before !== undefined) {
      if (this.seen === before) this.seen = undefined;
      return this.view(node);
    }
    if (node !== "") this.seen = { node, since, own };
    const others = placements.filter((placement) => placement.node !== node);
    return { nodes, placements: [...own.values(), ...others] };
  }

  private async look(node: string, before: SeenOwn | undefined): Promise<SeenView> {
    try {
      return (await this.rows(VIEW, [node, before?.since ?? null]))[0]!;
    } catch (cause) {
      // Another database may answer next, which counts its transactions anew.
      this.seen = undefined;
      throw cause;
    }
  }
}
