/**
 * The wire of a bridge (docs/how-to/bridge.md): JSON-RPC 2.0 over a Unix socket, one message a line. Pure. These schemas
 * check each answer of a bridge; unknown members are passed over, so that a newer bridge can talk to an older daemon.
 */
import * as z from "zod";
import {
  BRIDGE_CHUNK_MAX_BYTES,
  BRIDGE_MESSAGE_MAX_CHARS,
  BRIDGE_NAME_MAX_CHARS,
  BRIDGE_STATE_RUNS_MAX,
} from "../../base/limits.ts";
import type { ProfileName } from "../../protocol/words.ts";

/** The version of the methods below. A bridge of another one is not used. */
export const BRIDGE_PROTOCOL = 1;

/** The code of a refusal for a run that the bridge does not know. */
export const UNKNOWN_RUN = -32_001;

/** An answer: exactly one of `result` and `error` counts. Its id is one of ours. */
export const RpcAnswer = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.int().min(1),
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.int(),
      message: z.string().transform((text) => text.slice(0, BRIDGE_MESSAGE_MAX_CHARS)),
    })
    .optional(),
});

const name = z.string().min(1).max(BRIDGE_NAME_MAX_CHARS);

/** `unknown`: the bridge has never had this run, or has forgotten it. */
const RunState = z.enum(["running", "paused", "ended", "unknown"]);

const base64 = z
  .base64()
  .max(Math.ceil(BRIDGE_CHUNK_MAX_BYTES / 3) * 4)
  .transform((text) => Buffer.from(text, "base64"));

/** The results of the methods. */
export const BridgeResults = {
  "runtime.state": z.object({
    protocol: z.int(),
    /** Names this life of the bridge: its runs live as long as this name stays. */
    instance: name,
    name: name.default("bridge"),
    /** In the order in which they were asked. */
    runs: z
      .array(z.object({ run: name, state: RunState }))
      .max(BRIDGE_STATE_RUNS_MAX)
      .default([]),
  }),
  /** The bridge's own name for the run. A start that is repeated starts nothing, and has the same answer. */
  "runtime.start_agent": z.object({ ref: name }),
  "runtime.spawn_child": z.object({ ref: name }),
  "runtime.signal": z.object({ reached: z.boolean() }),
  /** Output from the offsets that were asked on. `exit` comes with the last of it. */
  "runtime.await": z.object({
    state: RunState,
    stdout: base64.default(Buffer.alloc(0)),
    stderr: base64.default(Buffer.alloc(0)),
    exit: z
      .object({
        code: z.int().min(0).max(255).nullable(),
        signal: z
          .string()
          .regex(/^SIG[A-Z0-9]{1,12}$/)
          .nullable(),
      })
      .refine(({ code, signal }) => (code === null) !== (signal === null), "an exit has a code or a signal")
      .optional(),
  }),
  /** Runs that live, in the order of their names. `next` is the last of them if there are more. */
  "runtime.get_children": z.object({
    runs: z.array(z.object({ run: name, parent: name.nullable().default(null) })).max(BRIDGE_STATE_RUNS_MAX),
    next: name.nullable().default(null),
  }),
} as const;

export type BridgeMethod = keyof typeof BridgeResults;
export type BridgeResult<M extends BridgeMethod> = z.output<(typeof BridgeResults)[M]>;

/** The part of a start that says what the run may do by the daemon's socket (runtime-architecture.txt, Tool policy hand-off). */
export interface PluginConfig {
  /** Absolute path of the `agent` command. */
  readonly binary: string;
  /** Absolute path. */
  readonly workspace: string;
  readonly transport: "daemon_rpc";
  readonly daemon: true;
  readonly tool_command: {
    readonly profile: ProfileName;
    /** Skills, or `NAMESPACE/*`. An empty list allows nothing. The daemon holds each run to the same list. */
    readonly allowed_tools: readonly string[];
    readonly default_timeout_ms: number;
  };
}

/** The params of each method. */
export interface BridgeParams {
  /** Without runs: who are you? `forget` names ended runs whose end and output the daemon has for good. */
  "runtime.state": {
    readonly protocol: number;
    readonly store_id: string;
    readonly runs: readonly string[];
    readonly forget: readonly string[];
  };
  "runtime.start_agent": BridgeStart;
  "runtime.spawn_child": BridgeStart & { readonly parent: string };
  "runtime.signal": { readonly run: string; readonly signal: string };
  "runtime.await": {
    readonly run: string;
    /** Bytes that the daemon has. */
    readonly stdout: number;
    readonly stderr: number;
    readonly max_bytes: number;
    readonly wait_ms: number;
  };
  "runtime.get_children": {
    readonly store_id: string;
    /** Only runs below this one. */
    readonly parent: string | null;
    readonly after: string | null;
    readonly limit: number;
  };
}

interface BridgeStart {
  /** `STORE/WORKER/INCARNATION`: the name of the run everywhere, and its `meta.run` on the daemon's socket. */
  readonly run: string;
  readonly worker_id: string;
  readonly incarnation: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The whole input. */
  readonly stdin: string;
  /** Both are absent for a program that serves no socket. */
  readonly daemon_socket?: string;
  readonly plugin_config?: PluginConfig;
}
