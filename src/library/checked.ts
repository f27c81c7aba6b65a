/** Checks the arguments of the library's calls with the schemas of requests over the socket. */

import * as z from "zod";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import { isRuntime, NO_RUNTIME } from "../adapters/user-runtimes.ts";
import { parseHost } from "../base/host-address.ts";
import { DEPTH_MAX, PATH_MAX_BYTES, WORKERS_LIVE_MAX } from "../base/limits.ts";
import { BridgeConfiguration, Configuration, runtimesBy } from "../protocol/configuration.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { problemsOf } from "../protocol/problems.ts";
import { type RequestData, type RequestInput, type RequestName, Requests } from "../protocol/requests.ts";
import { Roles } from "../protocol/roles.ts";

/** Applies the same bounds as the socket. */
export const checked = <N extends RequestName>(name: N, input: RequestInput<N>): RequestData<N> =>
  checkedBy(Requests[name], input) as RequestData<N>;

const checkedBy = <S extends z.ZodType>(schema: S, input: unknown): z.output<S> => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw invalid(problemsOf(parsed.error, "options"));
};

/** Refuses options that are not an object. */
export const optionsOf = <O extends object>(options: O): O => {
  if (typeof options === "object" && options !== null && !Array.isArray(options)) return options;
  throw invalid(["options: they are not an object"]);
};

const path = z.string().min(1, "it is empty").max(PATH_MAX_BYTES);
const isFunction = z.custom<unknown>((value) => typeof value === "function", "it is not a function");

const isSignal = z.instanceof(AbortSignal, { error: "it is not an AbortSignal" });

const Open = z.strictObject({
  stateDir: path.optional(),
  serve: z.boolean().optional(),
  limits: z
    .strictObject({
      running_max: z.int().min(1).max(WORKERS_LIVE_MAX).optional(),
      depth_max: z.int().min(0).max(DEPTH_MAX).optional(),
      mem_min_bytes: z.int().min(0).optional(),
    })
    .optional(),
  prices: path.optional(),
  skills: Configuration.shape.skills,
  roles: Roles.optional(),
  adapters: z.array(z.unknown()).optional(),
  runtimes: runtimesBy(
    z.union([
      z.strictObject({ bridge: BridgeConfiguration }),
      z.custom<RuntimeSpawner>(isRuntime, NO_RUNTIME),
    ]),
  ).optional(),
  engine: z.looseObject({}).optional(),
  onApproval: isFunction.optional(),
  signal: isSignal.optional(),
  report: isFunction.optional(),
});

const Connect = Open.pick({ stateDir: true, onApproval: true, signal: true, report: true }).extend({
  socketPath: path.optional(),
  host: z
    .string()
    .refine(
      (host) => parseHost(host) !== undefined,
      "it is neither ssh://[USER@]MACHINE[:PORT] nor exec:PROGRAM ARGUMENT…",
    )
    .optional(),
  url: z
    .union([z.string(), z.instanceof(URL)])
    .refine(
      (url) => URL.canParse(String(url)) && /^https?:$/.test(new URL(url).protocol),
      "it is no address that begins with http:// or https://",
    )
    .optional(),
  token: z.string().min(1, "it is empty").optional(),
});

/** Refuses an unknown option of `connect`. */
export const checkConnect = (options: unknown): void => void checkedBy(Connect, options);

/** Refuses an unknown option of `open`, and an empty `stateDir`, which would mean the working directory. */
export const checkOpen = (options: unknown): z.output<typeof Open> => checkedBy(Open, options);

const Watch = Requests["agent/watch"]
  .pick({
    ids: true,
    subtree: true,
    types: true,
    kinds: true,
    from: true,
    since_ms: true,
    follow: true,
    tail: true,
  })
  .partial()
  .extend({ signal: isSignal.optional() })
  .refine(
    ({ from, since_ms }) => from === undefined || since_ms === undefined,
    "since_ms: it takes the place of from",
  )
  .refine(({ ids = [], subtree }) => subtree !== true || ids.length > 0, "subtree: it needs ids");

/** Refuses a `from` that is neither a seq nor a cursor, and an unknown option. */
export const checkWatch = (options: unknown): void => void checkedBy(Watch, options);

const Raw = Requests["agent/raw"]
  .pick({ stream: true, offset: true })
  .extend({ max_bytes: z.int().min(1).default(Number.MAX_SAFE_INTEGER), follow: z.boolean().default(false) });

export const checkedRaw = (options: unknown): z.output<typeof Raw> => checkedBy(Raw, options);

/** Refuses what is no text, or an empty one. */
export const checkText = (name: string, value: unknown): void => {
  if (typeof value !== "string" || value === "") throw invalid([`${name}: it is no text`]);
};

/** Refuses anything but an AbortSignal or nothing. */
export const checkSignal = (signal: unknown): void => {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw invalid(["signal: it is not an AbortSignal"]);
};

export const invalid = (problems: readonly string[]): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `${problems.join("; ")}.`, {
    problems,
    phase: "validation",
    suggestion: "Correct the options; nothing was done.",
  });
