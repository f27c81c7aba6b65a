/**
 * Plans the launch of Qwen Code, headless: stream-json on stdout and the prompt on stdin, which ends. In a
 * conversation, stdin is stream-json too and stays open. A first run gets the id of its session, and a later run resumes that session.
 */
import { uuidFor } from "../../../base/uuid.ts";
import { agentOptions } from "../../../protocol/extensions.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { type AddressToCall, givenHeaders, mcpLaunch, sharedForm } from "../../mcp-launch.ts";
import { OPENING } from "./messages.ts";
import { NAMES_SESSION } from "./state.ts";

/** No second copy of itself with more memory, and no warning that it runs unconfined. `--env` wins over both. */
export const ENVIRONMENT = { QWEN_CODE_NO_RELAUNCH: "true", QWEN_CODE_SUPPRESS_YOLO_WARNING: "1" } as const;

const addressOf = (target: AddressToCall): object => ({
  httpUrl: target.url,
  headers: givenHeaders(target),
});

export const plan = (context: PlanContext): LaunchPlan => {
  const { spec, session: known, binary, worker_id, incarnation } = context;
  const { model, session, fork, addDirs } = agentOptions(spec);
  const argv = [binary, "--output-format", "stream-json"];
  if (spec.interactive) argv.push("--input-format", "stream-json");
  if (model !== undefined) argv.push("--model", model);
  if (known !== undefined) argv.push("--resume", known);
  else if (session !== undefined) {
    argv.push(...(session.by === "id" ? ["--resume", session.id] : ["--continue"]));
    if (fork) argv.push("--fork-session");
  } else if (!spec.argv.some((arg) => NAMES_SESSION.test(arg)))
    argv.push("--session-id", uuidFor(`${worker_id}/${incarnation}`));
  for (const dir of addDirs) argv.push("--add-dir", dir);
  // By default, tools that need a permission are not even offered to the model. The CLI's own default is a
  // mode in which a model decides what is allowed.
  argv.push("--approval-mode", spec.permission === "allow" ? "yolo" : "default");
  // The CLI counts the steps of a session: those of a single prompt, and not those of a conversation.
  if (spec.budget.turns !== undefined && !spec.interactive)
    argv.push("--max-session-turns", String(spec.budget.turns));
  if (spec.output_schema !== undefined) argv.push("--json-schema", JSON.stringify(spec.output_schema));
  const mcp = mcpLaunch(context);
  if (mcp !== undefined) argv.push("--mcp-config", sharedForm(mcp, addressOf));
  argv.push(...spec.argv);
  return {
    argv,
    env: ENVIRONMENT,
    stdin: spec.interactive ? { kind: "open", text: OPENING } : { kind: "text", text: spec.prompt ?? "" },
    ...(mcp && { scripts: mcp.scripts }),
  };
};
