/** A tree is taken down, and meanwhile everything of it is killed; or the other way round. */
import type { TreeNode } from "../../../src/runtime/replies.ts";
import { sleep } from "../client.ts";
import type { Fleet } from "../fleet.ts";
import type { World } from "./world.ts";

/** A down has returned by then, on a busy machine and through restarts of the daemon too. */
const DOWN_MAX_MS = 60_000;
const RETRY_MS = 200;

/**
 * Answers with what is wrong afterwards. `agent kill --all` kills a tree by the name of it, and that is done here: the others
 * of the fleet are counted to the end. The daemon may die under all of this; then the down is asked for again.
 */
export const killDuringDown = async (
  world: World,
  fleet: Fleet,
  tree: string,
  isKillFirst: boolean,
): Promise<readonly string[]> => {
  // An apply that nobody was told of may be in the log all the same.
  await fleet.apply(world.daemon, tree).catch(() => undefined);
  const found = await nodeOf(world, tree).catch(() => undefined);
  const members = found?.children.map(({ id }) => id) ?? [];
  const { daemon } = world;
  const kill = () => daemon.kill([tree], 100).catch(() => undefined);
  const down = () => fleet.down(daemon, tree).catch(() => undefined);
  const asked = isKillFirst ? [kill(), down()] : [down(), kill()];
  const late = sleep(DOWN_MAX_MS).then(() => "late" as const);
  const isDown = Promise.all(asked).then(() => downAtLast(world, fleet, tree));
  if ((await Promise.race([isDown, late])) === "late")
    return [`the tree ${tree} is not down ${DOWN_MAX_MS} ms after it was taken down and killed at once`];
  return world
    .processes()
    .filter(({ worker_id }) => members.includes(worker_id))
    .map(({ worker_id }) => `the tree ${tree} is down, and a process of its worker ${worker_id} lives`);
};

const nodeOf = async ({ daemon }: World, tree: string): Promise<TreeNode | undefined> => {
  const { children } = await daemon.request<TreeNode>("agent/tree", {});
  return children.find(({ id, type }) => type === "supervisor" && id === tree);
};

/** A client that was not told that it is down asks again. */
const downAtLast = async (world: World, fleet: Fleet, tree: string): Promise<void> => {
  for (const until = performance.now() + DOWN_MAX_MS; performance.now() < until; await sleep(RETRY_MS)) {
    const known = await nodeOf(world, tree).then(
      (node) => node !== undefined,
      () => true,
    );
    if (!known) return;
    await fleet.down(world.daemon, tree).catch(() => undefined);
  }
};
