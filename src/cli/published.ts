/**
 * Test mode, HOLDFAST_VALIDATE=1: the `data` of each success is held against the JSON Schema that is published for its command, before it
 * is printed. The schema is read back from its JSON, so that what it forbids is forbidden here.
 */
import * as z from "zod";
import type { CommandDef } from "../commands/commands.ts";
import { SENT_WHOLE } from "../protocol/artifactize.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { schemasOf } from "./manifest.ts";
import { LIST_MEMBER } from "./render/json.ts";
import type { Renderer } from "./render/renderer.ts";

interface Line {
  readonly ok?: boolean;
  readonly status?: string;
  readonly data: unknown;
  readonly meta: { readonly not_modified?: boolean; readonly cas_digest?: string };
}

/** Takes the JSON of a value; undefined where the schema accepts it, otherwise its findings. */
export const makeDataCheck = (schema: object): ((data: unknown) => string | undefined) => {
  const published = z.fromJSONSchema(JSON.parse(JSON.stringify(schema)));
  return (data) => {
    const { error } = published.safeParse(data);
    return error && z.prettifyError(error);
  };
};

/** The data for which the schema stands: no failure, no cached answer, and no summary of what has moved to an artifact. */
const dataOf = (
  { ok, status, data, meta }: Line,
  command: CommandDef,
): { readonly data: unknown } | undefined => {
  if (meta.not_modified === true || meta.cas_digest !== undefined) return undefined;
  if (ok === true) return { data };
  if (status !== "ok") return undefined;
  const { hint, ...rest } = data as Readonly<Record<string, unknown>>;
  // The hint belongs to the envelope (decision 0026), which has no other place for it.
  const isSentWhole = typeof hint === "string" && hint.includes(SENT_WHOLE);
  const told = isSentWhole ? rest : (data as Readonly<Record<string, unknown>>);
  const member = LIST_MEMBER[command.command];
  return { data: member === undefined ? told : told[member] };
};

/** In test mode an envelope whose data its command's schema refuses is thrown instead of printed. */
export const heldToSchema = (renderer: Renderer, command: CommandDef): Renderer => {
  const check = makeDataCheck((schemasOf(command) as { readonly output: object }).output);
  return {
    ...renderer,
    end(ended) {
      const printed = renderer.end(ended);
      const last = printed.stdout.trimEnd().split("\n").at(-1) ?? "";
      const told = dataOf(JSON.parse(last) as Line, command);
      const findings = told && check(told.data);
      if (findings !== undefined)
        throw new HoldfastError(
          "INTERNAL",
          `The data of ${command.command} breaks its published schema: ${findings} ${last.slice(0, 2_000)}`,
        );
      return printed;
    },
  };
};
