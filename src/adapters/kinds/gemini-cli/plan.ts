/**
 * How Gemini CLI runs headless: stream-json on stdout and the prompt on stdin, which ends. Without a terminal it needs no
 * `-p`. A first run is given the id of its session; a later one resumes it.
 */
import { uuidFor } from "../../../base/uuid.ts";
import {
  ADD_DIRS,
  agentOptions,
  HEADLESS,
  MODEL,
  NON_INTERACTIVE,
  RESUME,
} from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { agentProblems, forkProblems } from "../../decoding/agent-rules.ts";

export const capabilities = [...HEADLESS, RESUME, MODEL, NON_INTERACTIVE, ADD_DIRS] as const;

export const credentials = [
  "GEMINI_API_KEY",
  "GEMINI_CLI_HOME",
  "GEMINI_MODEL",
  "GOOGLE_API_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_CLOUD_ACCESS_TOKEN",
  "GOOGLE_CLOUD_LOCATION",
  "GOOGLE_CLOUD_PROJECT",
  "GOOGLE_CLOUD_PROJECT_ID",
  "GOOGLE_CLOUD_QUOTA_PROJECT",
  "GOOGLE_GEMINI_BASE_URL",
  "GOOGLE_GENAI_USE_GCA",
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_VERTEX_BASE_URL",
] as const;

/**
 * One process, not a parent that ignores signals and a child that outlives it (agent-clis.md §6). Headless it refuses a
 * directory that nobody has trusted by hand; whoever spawns an agent has chosen it. `--env` wins over both.
 */
export const ENVIRONMENT = { GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_CLI_TRUST_WORKSPACE: "true" } as const;

/** Arguments of the user's own that name a session: the CLI takes one only. */
const NAMES_SESSION = /^(?:-r|--resume|--session-id|--session-file)(?:=|$)/;

export const validate = (spec: WorkerSpec): readonly string[] => [
  ...agentProblems(spec, capabilities),
  ...forkProblems(spec),
  ...commaProblems(spec),
];

/** The CLI splits a directory at its commas, and has no way to write one that is meant. */
const commaProblems = (spec: WorkerSpec): readonly string[] =>
  agentOptions(spec)
    .addDirs.filter((dir) => dir.includes(","))
    .map(
      (dir) =>
        `Gemini CLI takes no directory with a comma in its path: link to ${dir} by a path without one.`,
    );

export const plan = ({ spec, session: known, binary, worker_id, incarnation }: PlanContext): LaunchPlan => {
  const { model, session, addDirs } = agentOptions(spec);
  const argv = [binary, "--output-format", "stream-json"];
  if (model !== undefined) argv.push("--model", model);
  if (known !== undefined) argv.push("--resume", known);
  else if (session !== undefined) argv.push("--resume", session.by === "id" ? session.id : "latest");
  else if (!spec.argv.some((arg) => NAMES_SESSION.test(arg)))
    argv.push("--session-id", uuidFor(`${worker_id}/${incarnation}`));
  for (const dir of addDirs) argv.push("--include-directories", dir);
  // By default what would need a permission is not even offered to the model (agent-clis.md §8).
  argv.push("--approval-mode", spec.permission === "allow" ? "yolo" : "default");
  argv.push(...spec.argv);
  return { argv, env: ENVIRONMENT, stdin: { kind: "text", text: spec.prompt ?? "" } };
};
