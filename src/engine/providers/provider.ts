/** The providers that a model's name may begin with, and where each is reached. Pure. */
import { builtInProviders } from "../../protocol/built-in-providers.ts";
import type { ProviderConfiguration } from "../../protocol/providers.ts";
import { ModelError } from "../model.ts";

export interface Provider extends ProviderConfiguration {
  readonly name: string;
}

/** All providers by name: a configured one replaces a built-in one. */
export const providersOf = (
  configured: Readonly<Record<string, ProviderConfiguration>>,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, Provider> =>
  new Map(
    Object.entries({ ...builtInProviders(env), ...configured }).map(([name, provider]) => [
      name,
      { name, ...provider },
    ]),
  );

export interface NamedModel {
  readonly provider: Provider;
  /** As the provider names it; it may have a `/`. */
  readonly model: string;
}

/** Throws a ModelError for a name that is not `PROVIDER/MODEL` of a known provider. */
export const findModel = (name: string, providers: ReadonlyMap<string, Provider>): NamedModel => {
  const slash = name.indexOf("/");
  const provider = providers.get(name.slice(0, Math.max(0, slash)));
  const model = name.slice(slash + 1);
  const known = [...providers.keys()].join(", ");
  if (slash < 1 || model === "")
    throw new ModelError(
      "no_such_model",
      `A model is PROVIDER/MODEL, and ${JSON.stringify(name.slice(0, NAME_SHOWN_MAX))} is not; the providers are ${known}.`,
    );
  if (provider === undefined)
    throw new ModelError(
      "no_such_model",
      `There is no provider ${JSON.stringify(name.slice(0, Math.min(slash, NAME_SHOWN_MAX)))}; the providers are ${known}.`,
    );
  return { provider, model };
};

/** UTF-16 units. */
const NAME_SHOWN_MAX = 128;
