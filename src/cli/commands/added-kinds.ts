/** Kinds that the configuration of a daemon adds: it knows them, and what of its configuration is left out. */
import { existsSync } from "node:fs";
import type { AddedKind } from "../../commands/kinds.ts";
import { configurationPath } from "../../daemon/paths.ts";
import type { Replies } from "../../daemon/replies.ts";
import { CONFIGURATION_CHANGED } from "../../protocol/configuration-changed.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { AGENT_KIND_FORM } from "../../protocol/forms.ts";
import type { Client } from "../client.ts";
import type { Context } from "../context.ts";

type Told = Replies["agent/capabilities"];

/** Whether a word that names none of ours may name one of a configuration. The daemon knows; without a configuration nobody need be asked. */
export const mayBeAdded = (typed: string, stateDir: string): boolean =>
  AGENT_KIND_FORM.test(typed) && existsSync(configurationPath(stateDir));

const asAdded = ({ kind, aliases, default_restart, variables, variable }: Told["kinds"][number]) => ({
  kind,
  aliases,
  restart: default_restart,
  variables: [...variables, ...(variable === null ? [] : [variable])],
});

export const leftOutSentence = ({ module, why }: Told["refused"][number]): string =>
  `${module} is left out: ${why}`;

export const tellLeftOut = (context: Context, { refused }: Pick<Told, "refused">): void => {
  for (const each of refused) context.warn(leftOutSentence(each));
};

/** After a start: what of its configuration the daemon does not use, or not yet. That it cannot be asked is no failure of the start. */
export const tellConfiguration = async (context: Context): Promise<void> => {
  try {
    const client = await context.connect();
    const { configuration_changed } = await client.request("daemon/status", {});
    if (configuration_changed) return context.warn(CONFIGURATION_CHANGED);
    tellLeftOut(context, await client.request("agent/capabilities", {}));
  } catch {
    // The start has succeeded all the same.
  }
};

/** All of them. */
export const addedKinds = async (context: Context, client: Client): Promise<readonly AddedKind[]> => {
  const { kinds, refused } = await client.request("agent/capabilities", {});
  tellLeftOut(context, { refused });
  return kinds.filter(({ origin }) => origin === "user").map(asAdded);
};

/** The one that is named; INVALID_AGENT_KIND where there is none. */
export const addedKind = async (context: Context, client: Client, typed: string): Promise<AddedKind> => {
  const asked = await client.ask("agent/capabilities", { kind: typed });
  if (asked.ok) return asAdded(asked.value.kinds[0]!);
  if (asked.error.code === "INVALID_AGENT_KIND") await addedKinds(context, client);
  throw new HoldfastError(asked.error.code, asked.error.message, asked.error.info);
};
