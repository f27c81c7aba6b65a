/** What a supervisor can be set to do with its children. The plan carries it out (plan.ts). */
import type { SupervisorEnd } from "../../protocol/records.ts";
import type { Draft } from "./draft.ts";
import type { SupervisorState } from "./state.ts";

/** In start order. */
export const namesOf = ({ children }: SupervisorState): readonly string[] =>
  children.filter((ref) => !ref.removed).map(({ name }) => name);

/** Stop these children and start them anew, together with those that an operation in progress is about. */
export const redo = (
  draft: Draft,
  path: string,
  reason: string,
  { scope, delay_ms, asked = false }: { scope: readonly string[]; delay_ms: number; asked?: boolean },
) => {
  const supervisor = draft.supervisor(path);
  const { operation } = supervisor;
  const owed = operation === null ? [] : operation.scope.filter((name) => !operation.started.includes(name));
  const all = new Set([...scope, ...owed]);
  const left = operation === null ? 0 : operation.due_ms - draft.now.mono_ms;
  draft.move(path, "restarting", reason, {
    kind: "restart",
    stage: "stopping",
    scope: namesOf(supervisor).filter((name) => all.has(name)),
    delay_ms: Math.max(delay_ms, left, 0),
    ...(asked ? { asked } : {}),
  });
};

/** Stop all children, right to left, and then end for this reason. */
export const shutDown = (draft: Draft, path: string, end: SupervisorEnd, reason: string) => {
  const supervisor = draft.supervisor(path);
  const asked = supervisor.operation?.asked === true;
  draft.move(path, "stopping", reason, {
    kind: "stop",
    stage: "stopping",
    scope: namesOf(supervisor),
    delay_ms: 0,
    end,
    ...(asked ? { asked } : {}),
  });
};

/** The operation of a supervisor that begins its life. */
export const starts = (supervisor: SupervisorState) =>
  ({ kind: "start", stage: "starting", scope: namesOf(supervisor), delay_ms: 0 }) as const;
