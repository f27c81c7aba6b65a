/** Defaults of spawn as text. */
import { formatDuration } from "../../base/durations.ts";
import type { DefaultName, DefaultValue, ResolvedDefault } from "../../protocol/defaults.ts";
import type { ConfigListReply, InitReply } from "../reports.ts";
import { oneLine, type Paint, table } from "./terminal.ts";

const valueWords = (name: DefaultName, value: DefaultValue | null): string => {
  if (value === null) return "the agent's own";
  if (value === true) return "on";
  if (value === false) return "off";
  if (name === "timeout") return value === 0 ? "none" : formatDuration(value as number);
  return oneLine(String(value));
};

const sourceWords = ({ source, from }: Pick<ResolvedDefault, "source" | "from">): string =>
  `${source.replaceAll("_", " ")}${from === null ? "" : ` (${oneLine(from)})`}`;

const refusedWords = ({ name, refused }: ResolvedDefault): string =>
  refused === undefined
    ? ""
    : `; the repository's ${valueWords(name, refused)} would give the agent more, and does not count`;

/** One row a default: its name, its value, and the source of the value. */
export const defaultRows = (defaults: readonly ResolvedDefault[]): readonly (readonly [string, string])[] =>
  defaults.map((one) => [
    one.name,
    `${valueWords(one.name, one.value)}  ${sourceWords(one)}${refusedWords(one)}`,
  ]);

const nameOf = (key: string): DefaultName => key.split(".").at(-1) as DefaultName;

const list = ({ defaults }: ConfigListReply): string =>
  table(
    defaults.map(({ key, value, source, from }) => [
      key,
      valueWords(nameOf(key), value),
      sourceWords({ source, from }),
    ]),
  );

const get = (one: ResolvedDefault, { paint }: { readonly paint: Paint }): string =>
  `${valueWords(one.name, one.value)}  ${paint("dim", `${sourceWords(one)}${refusedWords(one)}`)}`;

const changed = ({
  key,
  path,
  effect,
}: {
  readonly key: string;
  readonly path: string;
  readonly effect: string;
}): string => `${key} ${effect === "noop" ? "is already so" : effect} in ${oneLine(path)}`;

const init = ({ path, text, effect }: InitReply): string =>
  effect.startsWith("would") ? text.trimEnd() : `${oneLine(path)} ${effect}`;

export const CONFIG_TEXTS = {
  "agent/init": init,
  "config/list": list,
  "config/get": get,
  "config/set": changed,
  "config/unset": changed,
};
