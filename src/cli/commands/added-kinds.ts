/** Kinds that the configuration of a daemon adds. The daemon knows them, and which parts of its configuration it ignores. */
import { existsSync } from "node:fs";
import type { AddedKind } from "../../commands/kinds.ts";
import type { Client } from "../../daemon/client.ts";
import { configurationPath } from "../../daemon/paths.ts";
import type { Replies } from "../../daemon/replies.ts";
import { CONFIGURATION_CHANGED } from "../../protocol/configuration-changed.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { AGENT_KIND_FORM } from "../../protocol/forms.ts";
import type { Context } from "../context.ts";

/** Whether an unknown word may name a kind of the configuration. Only the daemon knows; without a configuration it is not asked. */
export const mayBeAdded = (typed: string, stateDir: string): boolean =>
  AGENT_KIND_FORM.test(typed) && existsSync(configurationPath(stateDir));

const asAdded = ({
  kind,
  aliases,
  default_restart,
  variables,
  variable,
}: Replies["agent/capabilities"]["kinds"][number]) => ({
  kind,
  aliases,
  restart: default_restart,
  variables: [...variables, ...(variable === null ? [] : [variable])],
});

export const leftOutSentence = ({ module, why }: Replies["agent/capabilities"]["refused"][number]): string =>
  `${module} is left out: ${why}`;

export const tellLeftOut = (
  context: Pick<Context, "warn">,
  { refused }: Pick<Replies["agent/capabilities"], "refused">,
): void => {
  for (const each of refused) context.warn(leftOutSentence(each));
};

/** After a start, reports which parts of its configuration the daemon ignores or does not use yet. A failure to ask does not fail the start. */
export const tellConfiguration = async (context: Context): Promise<void> => {
  try {
    const client = await context.connect();
    const { configuration_changed } = await client.request("daemon/status", {});
    if (configuration_changed) return context.warn(CONFIGURATION_CHANGED);
    tellLeftOut(context, await client.request("agent/capabilities", {}));
  } catch {
    // The start has succeeded anyway.
  }
};

/** All added kinds. */
export const addedKinds = async (
  context: Pick<Context, "warn">,
  client: Client,
): Promise<readonly AddedKind[]> => {
  const { kinds, refused } = await client.request("agent/capabilities", {});
  tellLeftOut(context, { refused });
  return kinds.filter(({ origin }) => origin === "user").map(asAdded);
};

/** The added kind with this name; INVALID_AGENT_KIND if there is none. */
export const addedKind = async (
  context: Pick<Context, "warn">,
  client: Client,
  typed: string,
): Promise<AddedKind> => {
  const asked = await client.ask("agent/capabilities", { kind: typed });
  if (asked.ok) return asAdded(asked.value.kinds[0]!);
  if (asked.error.code === "INVALID_AGENT_KIND") await addedKinds(context, client);
  throw new HoldfastError(asked.error.code, asked.error.message, asked.error.info);
};
