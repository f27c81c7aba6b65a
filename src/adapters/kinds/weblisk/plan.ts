/** Plans the launch of the client: a variable says the task, the same for each incarnation of a worker, and stdin has the prompt. */
import { WEBLISK_REMOTE_TASK_MAX_MS } from "../../../base/limits.ts";
import { idTime } from "../../../protocol/ids.ts";
import type { JsonValue } from "../../../protocol/records.ts";
import { parseTraceparent, traceIdOf } from "../../../protocol/trace-context.ts";
import {
  REMOTE_OPENING,
  type RemoteOpening,
  type RemoteTaskOrder,
  remotePlace,
} from "../../../protocol/weblisk-lines.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { ownProgram } from "../../own-program.ts";
import { AS, INPUTS, WORKSPACE } from "./settings.ts";

/** The worker's id is the task's: both are 128 bits. Times follow from it too, so that a later incarnation says the same. */
const orderOf = ({ spec, worker_id }: PlanContext): RemoteTaskOrder => {
  const { argv, priority, deadline_at, ext, trace } = spec;
  const until_ms =
    deadline_at === undefined ? idTime(worker_id) + WEBLISK_REMOTE_TASK_MAX_MS : Date.parse(deadline_at);
  const above = trace === undefined ? undefined : parseTraceparent(trace.traceparent);
  const workspace_root = ext[WORKSPACE] as string | undefined;
  return {
    task_id: traceIdOf(worker_id),
    agent: argv[1] ?? "",
    inputs: (ext[INPUTS] as Readonly<Record<string, JsonValue>> | undefined) ?? {},
    priority,
    deadline: Math.floor(until_ms / 1_000),
    trace_id: above?.trace_id ?? traceIdOf(worker_id),
    ...(workspace_root !== undefined && { workspace_root }),
  };
};

/** Stands for the id in the plan of a worker that does not exist yet. */
const NO_ID = "0".repeat(26);

/** `state_dir`: the directory whose keys sign. */
export const planOn =
  (state_dir: string) =>
  (context: PlanContext): LaunchPlan => {
    const worker_id = context.worker_id === "" ? NO_ID : context.worker_id;
    const { argv, ext } = context.spec;
    const opening: RemoteOpening = {
      state_dir,
      place: remotePlace(argv[0] ?? "", ext[AS] as string | undefined),
      order: orderOf({ ...context, worker_id }),
    };
    return {
      argv: ownProgram("weblisk/client/child.ts", "weblisk-task.js"),
      env: { [REMOTE_OPENING]: JSON.stringify(opening) },
      stdin: { kind: "text", text: context.spec.prompt ?? "" },
    };
  };
