/** `agent weblisk register` and `agent weblisk task`: this state directory at an orchestrator elsewhere. */
import { randomBytes } from "node:crypto";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { type RemotePlace, type RemoteTaskOrder, remotePlace } from "../../protocol/weblisk-lines.ts";
import type { CommandHandler, Context } from "../context.ts";
import { inputsIn } from "./inputs.ts";

const client = () => import("../../weblisk/client/opened.ts");

/** Its words were checked (elsewhere-words.ts). */
const placeIn = ({ call, flags }: Context): RemotePlace =>
  remotePlace(call.args[0] as string, flags.as as string | undefined);

export const register: CommandHandler = async (context) => {
  const { OrchestratorClient, clientGround, fingerprintOf } = await client();
  const { flags } = context;
  const place = placeIn(context);
  const { capability, url, ...more } = flags as {
    readonly capability?: readonly string[];
    readonly url?: string;
    readonly "new-keys"?: boolean;
  };
  const known = await new OrchestratorClient(clientGround(context.stateDir), place).register({
    ...(capability !== undefined && { capabilities: [...new Set(capability)] }),
    ...(url !== undefined && { own_url: url }),
    isNewKeys: more["new-keys"] === true,
  });
  context.hint(
    `A registration gives no rights. Its operator gives them: agent weblisk grant ${known.name} ${known.capabilities.join(" ")}`,
  );
  return success({
    url: place.url,
    name: known.name,
    agent_id: known.agent_id,
    fingerprint: fingerprintOf(context.stateDir, place.as),
    capabilities: known.capabilities,
    orchestrator_key: known.key?.publicKey ?? null,
    expires_at: new Date(known.expires_at * 1_000).toISOString(),
    effect: "updated",
  });
};

export const task: CommandHandler = async (context) => {
  const { RemoteTask, clientGround, failureOf } = await client();
  const [, agent = "", prompt] = context.call.args;
  const { id, inputs, workspace } = context.flags as {
    readonly id?: string;
    readonly inputs?: string;
    readonly workspace?: string;
  };
  const place = placeIn(context);
  const task_id = id ?? randomBytes(16).toString("hex");
  const order: RemoteTaskOrder = {
    task_id,
    agent,
    inputs: { ...inputsIn(inputs), ...(prompt !== undefined && { prompt }) } as RemoteTaskOrder["inputs"],
    priority: "normal",
    trace_id: task_id,
    ...(workspace !== undefined && { workspace_root: workspace }),
  };
  context.onInterrupt = { sentence: `The task goes on; ask again with --id ${task_id}.` };
  const end = context.progress(`the agent ${agent} works on the task ${task_id}`);
  try {
    const asked = new RemoteTask(clientGround(context.stateDir), place, order);
    const { status, output, changes, observations, duration_ms } = await asked.result(
      new AbortController().signal,
    );
    if (status !== "success")
      throw new HoldfastError("TASK_FAILED", failureOf(agent, output), { details: { task_id } });
    return success({ url: place.url, agent, task_id, output, changes, observations, duration_ms });
  } finally {
    end();
  }
};
