/** The notifications that machines have sent. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClusterMachine } from "./machines.ts";

const toldIn = ({ home }: ClusterMachine): string => join(home, "told");

/** Its notifications go into a file, one a line. */
export const withTarget = (machine: ClusterMachine): readonly string[] => {
  const command = { argv: ["sh", "-c", `cat >> ${toldIn(machine)}; echo >> ${toldIn(machine)}`] };
  const targets = { file: { command, debounce: "50ms", events: ["question", "budget"] } };
  writeFileSync(join(machine.home, "config.yaml"), JSON.stringify({ notifications: { targets } }));
  return [];
};

export const linesAbout = (machines: readonly ClusterMachine[], name: string): readonly string[] =>
  machines
    .flatMap((machine) =>
      existsSync(toldIn(machine)) ? readFileSync(toldIn(machine), "utf8").split("\n") : [],
    )
    .filter((line) => line.includes(name));

/** Nothing waits to be sent any more. */
export const isAllTold = async (machine: ClusterMachine): Promise<boolean> => {
  const { data } = await machine.agent("notify", "list");
  return (data.targets as readonly { readonly pending: number }[]).every(({ pending }) => pending === 0);
};
