/** The decision about several agents, as text for people. */
import type { SpawnManyReply } from "../../protocol/replies/spawn-many.ts";
import { oneLine, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";

export const spawnManyText: TextOf<SpawnManyReply> = (
  { spawned_agents, denied_agents },
  { paint, columns },
) => {
  if (spawned_agents.length > 0)
    return table(
      [
        ["ID", "ROLE", "STATUS", "TASK"].map((head) => paint("dim", head)),
        ...spawned_agents.map(({ id, role, status, task }) => [id, role, status, oneLine(task)]),
      ],
      { fit: columns },
    );
  return denied_agents
    .map(({ role, task, reason }) => `${oneLine(role)}  ${paint("bad", reason)}  ${oneLine(task)}`)
    .join("\n");
};
