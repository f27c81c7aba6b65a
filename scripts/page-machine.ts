/** docs/explanation/machine.md: a worker's machine, drawn from its source. */
import type { AnyStateMachine } from "xstate";
import { workerMachine } from "../src/actors/machine/worker-machine.ts";
import { table } from "./markdown.ts";

type StateNode = AnyStateMachine["root"];

interface Move {
  readonly from: string;
  readonly to: string;
  readonly on: string;
  readonly guard: string;
  readonly actions: string;
}

const statesBelow = (node: StateNode): readonly StateNode[] =>
  Object.values(node.states).flatMap((child) => [child, ...statesBelow(child)]);

/** As people name it: the path below the machine. */
const nameOf = (node: StateNode): string => node.path.join(".");

/** A timer by its delay, an event by its type. */
const triggerOf = (event: string): string => {
  const timer = /^xstate\.after\.([a-zA-Z]+)\./.exec(event)?.[1];
  return timer === undefined ? event : `after ${timer}`;
};

const listed = (names: readonly unknown[]): string =>
  names
    .map((one) => (typeof one === "string" ? one : (one as { readonly type: string }).type))
    .filter((name) => name !== undefined && !name.startsWith("xstate."))
    .join(", ");

const movesOf = (node: StateNode): readonly Move[] =>
  [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map((one) => ({
    from: nameOf(node),
    to: (one.target ?? []).map(nameOf).join(", "),
    on: one.eventType === "" ? "at once" : triggerOf(one.eventType),
    guard: one.guard === undefined ? "" : listed([one.guard]),
    actions: listed(one.actions),
  }));

const isFinal = ({ type }: StateNode): boolean => type === "final";

const drawing = (states: readonly StateNode[], moves: readonly Move[]): string => {
  const id = (name: string) => name.replaceAll(".", "_");
  const arrows = moves
    .filter(({ from, to }) => from !== "" && to !== "")
    .map(({ from, to, on, guard }) => `  ${id(from)} --> ${id(to)}: ${on}${guard && ` [${guard}]`}`);
  const ends = states.filter(isFinal).map((node) => `  ${id(nameOf(node))} --> [*]`);
  return [
    "stateDiagram-v2",
    `  [*] --> ${workerMachine.root.initial.target[0]?.key}`,
    ...arrows,
    ...ends,
  ].join("\n");
};

export const machinePage = (): string => {
  const root = workerMachine.root as unknown as StateNode;
  const states = statesBelow(root);
  const moves = [root, ...states].flatMap(movesOf);
  return `# The machine of a worker

This page is made from [src/actors/machine/worker-machine.ts](../../src/actors/machine/worker-machine.ts) by \`npm run docs\`.
That file can be pasted into Stately's editor: every guard, action and delay of it has a name.
A worker's fiber lives this machine, and XState's own step decides each transition ([0035](../decisions/0035-workers-are-fibers.md)).
END holds in every state and leads to the end that the supervisor has decided.

\`\`\`mermaid
${drawing(states, moves)}
\`\`\`

## States

${table(
  ["state", "asks on entry", "final"],
  states.map((node) => [`\`${nameOf(node)}\``, listed(node.entry), isFinal(node) ? "yes" : ""]),
)}

## Transitions

${table(
  ["from", "on", "if", "to", "asks"],
  moves.map(({ from, to, on, guard, actions }) => [
    from === "" ? "any" : `\`${from}\``,
    on,
    guard,
    to === "" ? "" : `\`${to}\``,
    actions,
  ]),
)}
`;
};
