/** Plans the launch of the engine: its own program, with an open stdin that begins with all that it must know. */
import { resolve } from "node:path";
import type { EngineGround, EngineOpening, EngineSettings } from "../../../protocol/engine-lines.ts";
import { agentOptions } from "../../../protocol/extensions.ts";
import { mcpVariables } from "../../../protocol/mcp-references.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { givenHeaders, mcpLaunch } from "../../mcp-launch.ts";
import { mcpNames } from "./facts.ts";
import { engineArguments } from "./program.ts";
import {
  COMPACTION,
  CONTEXT_TOKENS,
  MAX_OUTPUT_TOKENS,
  MAX_STEPS,
  MAX_TRIES,
  MCP,
  SYSTEM,
} from "./settings.ts";

/** Without a configuration and without a daemon. */
export const NO_GROUND: EngineGround = { providers: {}, mcp: {} };

const settingsOf = ({ ext, budget, interactive, profile, output_schema }: WorkerSpec): EngineSettings => {
  // A turn of one prompt is the whole run, so its turns are the answers of the model.
  const max_steps = interactive ? ext[MAX_STEPS] : (budget.turns ?? ext[MAX_STEPS]);
  const given = {
    system: ext[SYSTEM],
    profile,
    output_schema,
    max_steps,
    max_tries: ext[MAX_TRIES],
    max_output_tokens: ext[MAX_OUTPUT_TOKENS],
    compaction: ext[COMPACTION],
    context_tokens: ext[CONTEXT_TOKENS],
  };
  // JSON leaves out what is not given.
  return given as EngineSettings;
};

const openingOf = (context: PlanContext, ground: EngineGround): EngineOpening => {
  const { spec, worker_id, session: known, interrupted = false } = context;
  const { model = "", session, fork } = agentOptions(spec);
  const asked = session?.by === "id" ? session.id : undefined;
  return {
    type: "open",
    worker_id,
    model,
    cwd: spec.cwd,
    interactive: spec.interactive,
    ...(known !== undefined
      ? { session: known }
      : asked === undefined
        ? {}
        : { session: asked, ...(fork ? { fork } : {}) }),
    ...(interrupted ? { interrupted } : {}),
    settings: settingsOf(spec),
    policy: { permission: spec.permission, rules: spec.permission_rules },
    ground: {
      ...ground,
      mcp: { ...namedOnly(ground.mcp, mcpNames(spec.ext[MCP]) ?? []), ...ownServers(context) },
    },
  };
};

const namedOnly = (mcp: EngineGround["mcp"], names: readonly string[]): EngineGround["mcp"] =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(mcp, name) ? [[name, mcp[name]!]] : [])));

/** The engine may run in another directory than its agent. */
const absolute = (
  headers: Readonly<Record<string, string>>,
  { cwd }: WorkerSpec,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replace(/@file:(.+)$/s, (_, path: string) => `@file:${resolve(cwd, path)}`),
    ]),
  );

/** The servers of the spec itself. None of their tools is believed to only read. */
const ownServers = (context: PlanContext): EngineGround["mcp"] =>
  Object.fromEntries(
    Object.entries(mcpLaunch(context)?.targets ?? {}).map(([name, target]) => {
      if (!("url" in target))
        return [name, { command: [target.command, ...target.args], env: {}, trusted: false }];
      const headers = absolute(givenHeaders(target), context.spec);
      return [name, { url: target.url, headers, trusted: false }];
    }),
  );

export const planOn =
  (ground: EngineGround) =>
  (context: PlanContext): LaunchPlan => {
    const { scripts = {}, references: headers = {} } = mcpLaunch(context) ?? {};
    // The engine reads the references of headers itself.
    const named = mcpVariables({ all: { headers } });
    return {
      argv: engineArguments(),
      env: {},
      stdin: { kind: "open", text: `${JSON.stringify(openingOf(context, ground))}\n` },
      scripts,
      references: Object.fromEntries(named.map((name) => [name, `@env:${name}`])),
    };
  };
