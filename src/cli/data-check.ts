/**
 * In test mode (HOLDFAST_VALIDATE=1), checks the `data` of each success against the published JSON Schema of its command
 * before it is printed. The schema is read back from its JSON, so that the check is as strict as the published one.
 */
import * as z from "zod";
import type { CommandDef } from "../commands/command.ts";
import { SENT_WHOLE } from "../protocol/artifactize.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { outputSchemaOf } from "./output-schemas.ts";
import { answersIn, rowsMember } from "./render/host-rows.ts";
import { LIST_MEMBER } from "./render/json.ts";
import type { Renderer } from "./render/renderer.ts";

interface PublishedLine {
  readonly ok?: boolean;
  readonly status?: string;
  readonly data: unknown;
  readonly meta: { readonly not_modified?: boolean; readonly cas_digest?: string };
}

/** Returns undefined if the schema accepts the value, otherwise the findings. */
export const makeDataCheck = (schema: object): ((data: unknown) => string | undefined) => {
  const published = z.fromJSONSchema(JSON.parse(JSON.stringify(schema)));
  return (data) => {
    const { error } = published.safeParse(data);
    return error && z.prettifyError(error);
  };
};

/** The data to check; undefined for a failure, a cached answer, or a summary of an artifact. */
const dataOf = (
  { ok, status, data, meta }: PublishedLine,
  command: CommandDef,
): { readonly data: unknown } | undefined => {
  if (meta.not_modified === true || meta.cas_digest !== undefined) return undefined;
  if (ok === true) return { data };
  if (status !== "ok") return undefined;
  const { hint, ...rest } = data as Readonly<Record<string, unknown>>;
  // The hint is a part of the envelope (decision 0026), for which only `data` has room.
  const isSentWhole = typeof hint === "string" && hint.includes(SENT_WHOLE);
  const told = isSentWhole ? rest : (data as Readonly<Record<string, unknown>>);
  const member = LIST_MEMBER[command.command];
  return { data: member === undefined || !(member in told) ? told : told[member] };
};

/** The findings in the rows of several hosts: without their hosts, they are the answers of each. */
const ofHosts = (command: string, data: unknown, check: (data: unknown) => string | undefined) => {
  const member = rowsMember(command);
  const rows = Array.isArray(data) ? { [member]: data } : (data as object);
  return [...answersIn(command, rows).values()]
    .map((answer) => check(member === LIST_MEMBER[command] ? Object.values(answer)[0] : answer))
    .find((findings) => findings !== undefined);
};

/** In test mode, throws if the data of an envelope does not match its command's schema. */
export const withDataCheck = (renderer: Renderer, command: CommandDef, isOverHosts = false): Renderer => {
  const checkOne = makeDataCheck(outputSchemaOf(command));
  const check = isOverHosts ? (data: unknown) => ofHosts(command.command, data, checkOne) : checkOne;
  return {
    ...renderer,
    end(ended) {
      const printed = renderer.end(ended);
      const last = printed.stdout.trimEnd().split("\n").at(-1) ?? "";
      const told = dataOf(JSON.parse(last) as PublishedLine, command);
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
