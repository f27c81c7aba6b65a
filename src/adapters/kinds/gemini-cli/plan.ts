/**
 * Plans the launch of Gemini CLI, headless: stream-json on stdout and the prompt on stdin, which ends.
 * Without a terminal it needs no `-p`. A first run gets the id of its session, and a later run resumes that
 * session.
 */
import { uuidFor } from "../../../base/uuid.ts";
import { agentOptions } from "../../../protocol/extensions.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";

/**
 * One process, instead of a parent that ignores signals and a child that outlives it.
 * Headless, it refuses a directory that no user has marked as trusted; the user who spawns an agent has
 * chosen the directory. `--env` wins over both.
 */
export const ENVIRONMENT = { GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_CLI_TRUST_WORKSPACE: "true" } as const;

/** Arguments of the user that name a session: the CLI accepts only one. */
const NAMES_SESSION = /^(?:-r|--resume|--session-id|--session-file)(?:=|$)/;

export const plan = ({ spec, session: known, binary, worker_id, incarnation }: PlanContext): LaunchPlan => {
  const { model, session, addDirs } = agentOptions(spec);
  const argv = [binary, "--output-format", "stream-json"];
  if (model !== undefined) argv.push("--model", model);
  if (known !== undefined) argv.push("--resume", known);
  else if (session !== undefined) argv.push("--resume", session.by === "id" ? session.id : "latest");
  else if (!spec.argv.some((arg) => NAMES_SESSION.test(arg)))
    argv.push("--session-id", uuidFor(`${worker_id}/${incarnation}`));
  for (const dir of addDirs) argv.push("--include-directories", dir);
  // By default, tools that need a permission are not even offered to the model.
  argv.push("--approval-mode", spec.permission === "allow" ? "yolo" : "default");
  argv.push(...spec.argv);
  return { argv, env: ENVIRONMENT, stdin: { kind: "text", text: spec.prompt ?? "" } };
};
