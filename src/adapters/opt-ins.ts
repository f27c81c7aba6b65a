/** Capabilities that a kind has only where the configuration allows them. */
import type { KindOptions } from "./adapter.ts";

/** By the option that allows it. */
export type OptIns = Readonly<Partial<Record<keyof KindOptions, readonly string[]>>>;

export const optedIn = (optIns: OptIns, options: KindOptions): readonly string[] =>
  Object.entries(optIns).flatMap(([name, ids]) => (options[name as keyof KindOptions] === true ? ids : []));

/** Each of them: for whoever asks before it is known what the daemon's configuration allows. */
export const everyOptIn = (optIns: OptIns): readonly string[] => Object.values(optIns).flat();
