/** `agent peer connect` and `agent peer task`: this hub shows itself to another one, and has it do tasks. */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { armHere, crashPoint } from "../../base/crash-point.ts";
import type { JsonObject } from "../../base/json.ts";
import { success } from "../../protocol/outcome.ts";
import type { PeerDesk } from "../../weblisk/federation/opened.ts";
import type { CommandHandler, Context } from "../context.ts";
import { LastingLink } from "../lasting-link.ts";
import { inputsIn } from "./inputs.ts";

const federation = () => import("../../weblisk/federation/opened.ts");
const server = () => import("../../weblisk/server/opened.ts");
const identity = () => import("../../weblisk/identity/opened.ts");

/** The daemon has it on record. */
const decided = <T>(view: T): T => {
  crashPoint("weblisk-step");
  return view;
};

/** The daemon's decisions about peers. */
export const deskOf = (link: LastingLink): PeerDesk => ({
  show: (hub_id) => link.ask("peer/show", { hub_id }),
  meet: (declared) => link.ask("peer/meet", declared).then(decided),
  rekey: (change) => link.ask("peer/rekey", change).then(decided),
  revoke: (hub_id, reason) => link.ask("peer/revoke", { hub_id, reason }).then(decided),
  notify: (notice) => link.ask("peer/notify", notice).then(decided),
  admit: (task) => link.ask("peer/admit", task).then(decided),
  settle: (task) => link.ask("peer/settle", task).then(decided),
  audit: (after) => link.ask("audit/list", { after }),
});

const askerOf = async ({ stateDir, connect, env }: Context) => {
  armHere(env);
  const [{ HubAsker, ownHub, postToHub, SealedVault }, { ServerFiles }, { ensureIdentity, ORCHESTRATOR }] =
    await Promise.all([federation(), server(), identity()]);
  const files = new ServerFiles(stateDir);
  // A command that fails makes no identity.
  ownHub({ files });
  return new HubAsker({
    stateDir,
    files,
    vault: new SealedVault(stateDir),
    desk: deskOf(new LastingLink(connect)),
    key: ensureIdentity(stateDir, ORCHESTRATOR).key,
    now: Date.now,
    randomBytes,
    post: postToHub,
    pause,
  });
};

export const connectPeer: CommandHandler = async (context) => {
  const [hub_id = ""] = context.call.args;
  const { tier, public_key, capabilities } = await (await askerOf(context)).connect(hub_id);
  return success({ hub_id, tier, public_key, capabilities, effect: "updated" });
};

export const peerTask: CommandHandler = async (context) => {
  const [hub_id = "", capability = "", prompt] = context.call.args;
  const { id, inputs } = context.flags as { readonly id?: string; readonly inputs?: string };
  const given: JsonObject = { ...inputsIn(inputs), ...(prompt !== undefined && { prompt }) };
  const task_id = id ?? randomBytes(16).toString("hex");
  const end = context.progress(`the hub ${hub_id} works on the task ${task_id}`);
  try {
    return success(await (await askerOf(context)).task({ hub_id, task_id, capability, inputs: given }));
  } finally {
    end();
  }
};
