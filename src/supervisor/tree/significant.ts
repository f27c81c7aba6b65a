/** OTP's significant children: how the end of a child affects its supervisor (auto_shutdown). */
import type { Draft } from "./draft.ts";
import { shutDown } from "./operations.ts";
import {
  type ChildRef,
  isAlive,
  isRunning,
  memberOf,
  type SupervisorState,
  type TreeState,
} from "./state.ts";

/** A child has ended for good; a significant child may end its supervisor (OTP, auto_shutdown). */
export const onOver = (draft: Draft, { path }: SupervisorState, ref: ChildRef, significant: boolean) => {
  const supervisor = draft.supervisor(path);
  const { config } = supervisor;
  if (!significant || config.auto_shutdown === "never" || !isRunning(supervisor)) return;
  const others = supervisor.children.filter((one) => one.path !== ref.path && isSignificant(draft.tree, one));
  if (
    config.auto_shutdown === "all" &&
    others.some((one) => isAlive(draft.tree, one) || isOwed(supervisor, one))
  )
    return;
  shutDown(draft, path, "auto_shutdown", `its significant child ${ref.name} has ended`);
};

const isSignificant = (tree: TreeState, ref: ChildRef): boolean =>
  ref.worker_id === null
    ? tree.supervisors.get(ref.path)?.config.significant === true
    : memberOf(tree, ref.worker_id).significant;

/** An operation in progress will start the child. */
const isOwed = ({ operation }: SupervisorState, ref: ChildRef): boolean =>
  operation !== null &&
  operation.kind !== "stop" &&
  operation.scope.includes(ref.name) &&
  !operation.started.includes(ref.name);
