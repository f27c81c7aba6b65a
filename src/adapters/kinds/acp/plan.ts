/**
 * Plans the launch of an ACP agent: its own program with an open stdin that begins with the first request of
 * the protocol.
 */

import { agentOptions } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { LaunchPlan, Opening, PlanContext } from "../../adapter.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";
import { givenHeaders, mcpLaunch } from "../../mcp-launch.ts";
import { presetOf } from "./presets.ts";
import * as rpc from "./rpc.ts";
import { type AcpServer, type AcpState, begin } from "./state.ts";

export const plan = (context: PlanContext): LaunchPlan => {
  const { spec } = context;
  const preset = presetOf(spec);
  const stdin = { kind: "open", text: rpc.initialize() } as const;
  const scripts = mcpLaunch(context)?.scripts;
  const servers = scripts && { scripts };
  if (preset === undefined) return { argv: spec.argv, env: {}, stdin, ...servers };
  const { variable, binary, args, model_flag } = preset;
  const env = isFree(spec) ? preset.env : { ...preset.env, ...preset.guarded };
  const { model } = agentOptions(spec);
  const named = spec.env[variable] ?? spec.client_env[variable] ?? binary;
  const choice = model === undefined || model_flag === undefined ? [] : [model_flag, model];
  return { argv: [named, ...args, ...choice, ...spec.argv], env, stdin, ...servers };
};

/** Everything is allowed, and no question is asked. */
const isFree = (spec: WorkerSpec): boolean => spec.permission === "allow" && !asksPermission(spec);

/** Lines to an agent are on record, so headers are as the spec has them, which then hold no secret. */
const serversOf = (opening: Opening): readonly AcpServer[] =>
  Object.entries(mcpLaunch(opening)?.targets ?? {}).map(([name, target]) => {
    if (!("url" in target)) return { name, command: target.command, args: [...target.args], env: [] };
    const headers = Object.entries(givenHeaders(target)).map(([header, value]) => ({ name: header, value }));
    return { type: "http", name, url: target.url, headers };
  });

export const initial = (opening: Opening): AcpState => {
  const { spec, session: former } = opening;
  const servers = serversOf(opening);
  const { session, model } = agentOptions(spec);
  const hasFlag = presetOf(spec)?.model_flag !== undefined;
  return begin(spec.interactive, {
    step: "initialize",
    cwd: spec.cwd,
    resume:
      former !== undefined
        ? { id: former, asked: false }
        : session?.by === "id"
          ? { id: session.id, asked: true }
          : null,
    model: hasFlag ? null : (model ?? null),
    guarded: !isFree(spec),
    ...(servers.length === 0 ? {} : { servers }),
  });
};

/** Only those of the client's variables that this agent may need. */
export const needs = (spec: WorkerSpec): readonly string[] => {
  const preset = presetOf(spec);
  return preset === undefined ? [] : [...preset.credentials, preset.variable];
};
