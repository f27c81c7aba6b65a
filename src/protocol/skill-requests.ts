/** The requests that run skills, as zod schemas (protocol-v1.txt, Reserved commands). */
import * as z from "zod";
import { PATH_MAX_BYTES, SKILL_TIMEOUT_MAX_MS } from "../base/limits.ts";
import { COMMAND_FORM } from "./forms.ts";
import { BUILTIN_COMMANDS, type BuiltinCommand, PROFILE_NAMES } from "./words.ts";

/** `HOST:PORT`, `[ADDRESS]:PORT` of IPv6, or `*.DOMAIN:PORT` for every host below a domain. */
const HOST_FORM = /^(?:(?:\*\.)?[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\]):\d{1,5}$/;

/** As a URL writes it: an address has many forms, and one of them is compared. */
const isCanonical = (host: string): boolean => {
  const name = host.replace(/^\*\./, "").replace(/:\d+$/, "");
  return URL.parse(`http://${name}`)?.hostname === name;
};

export const SkillHost = z
  .string()
  .regex(HOST_FORM, "a host is HOST:PORT or *.DOMAIN:PORT, in lower case")
  .refine((host) => Number(host.split(":").at(-1)) <= 65_535, "a port is at most 65535")
  .refine(isCanonical, "an address is written as URLs write it, such as 127.0.0.1 or [::1]");

const workspace = z.string().max(PATH_MAX_BYTES).regex(/^\//, "it is no absolute path");

/** How a run is held, beside its input. */
const how = {
  /** The directory that the skill sees. */
  workspace,
  timeout_ms: z.int().min(1).max(SKILL_TIMEOUT_MAX_MS).optional(),
  /** Holds the run to what this profile names. A worker's own profile, and those above it, hold it as well. */
  profile: z.enum(PROFILE_NAMES).optional(),
  /** Variables of the client: those that the skill declares as its secrets reach it. */
  client_env: z.record(z.string(), z.string()).default({}),
};

const skill = z.string().regex(COMMAND_FORM, "a skill is NAMESPACE/VERB in a-z, 0-9 and hyphens");

/** A reserved command: what is not listed here is the input of the skill. */
const reserved = z.looseObject(how);

const builtin = Object.fromEntries(BUILTIN_COMMANDS.map((name) => [name, reserved])) as Readonly<
  Record<BuiltinCommand, typeof reserved>
>;

export const SKILL_REQUESTS = {
  "skill/run": z.strictObject({ skill, input: z.record(z.string(), z.json()).default({}), ...how }),
  "skill/list": z.strictObject({ workspace }),
  /** The skills that the caller may run, as a model sees tools. */
  "skill/tools": z.strictObject({ workspace, profile: how.profile }),
  "skill/info": z.strictObject({ skill, workspace }),
  /** Reads the manifest of a folder, wherever it is. */
  "skill/check": z.strictObject({ folder: workspace }),
  ...builtin,
} as const;
