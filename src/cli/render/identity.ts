/** Weblisk identities as text. */
import type { PublicIdentity } from "../../weblisk/identity/opened.ts";
import { type Paint, table } from "./terminal.ts";

interface ShownIdentity extends PublicIdentity {
  readonly directory?: string;
  readonly effect: string;
}

interface ShownRotation extends ShownIdentity {
  readonly registrations: readonly {
    readonly url: string;
    readonly name: string;
    readonly is_told: boolean;
  }[];
}

const rows = ({ name, algorithm, public_key, fingerprint, directory }: ShownIdentity, paint: Paint): string =>
  table(
    [
      ["identity", name],
      ["algorithm", algorithm],
      // A key of ML-DSA-65 fills a screen.
      ...(public_key.length > 128 ? [] : [["public key", public_key]]),
      ["fingerprint", `sha256:${fingerprint}`],
      ...(directory === undefined ? [] : [["directory", directory]]),
    ].map(([label, value]) => [paint("dim", label as string), value as string]),
  );

interface ShownGrant extends Pick<PublicIdentity, "name" | "fingerprint"> {
  readonly asked: readonly string[];
  readonly granted: readonly string[];
}

interface ShownRegistration extends Pick<PublicIdentity, "name" | "fingerprint"> {
  readonly url: string;
  readonly capabilities: readonly string[];
  readonly expires_at: string;
}

export const IDENTITY_TEXTS = {
  /** It has printed its URL, and ends only when it is stopped. */
  "weblisk/serve": (): string => "",
  "weblisk/grant": (
    { name, fingerprint, asked, granted }: ShownGrant,
    { paint }: { readonly paint: Paint },
  ): string =>
    table(
      [
        ["agent", name],
        ["fingerprint", `sha256:${fingerprint}`],
        ["asks for", asked.join(", ")],
        ["may", granted.join(", ") || "nothing"],
      ].map(([label, value]) => [paint("dim", label as string), value as string]),
    ),
  "weblisk/register": (
    { url, name, fingerprint, capabilities, expires_at }: ShownRegistration,
    { paint }: { readonly paint: Paint },
  ): string =>
    table(
      [
        ["orchestrator", url],
        ["name there", name],
        ["fingerprint", `sha256:${fingerprint}`],
        ["asks for", capabilities.join(", ")],
        ["until", expires_at],
      ].map(([label, value]) => [paint("dim", label as string), value as string]),
    ),
  "identity/show": (identity: ShownIdentity, { paint }: { readonly paint: Paint }): string =>
    rows(identity, paint),
  "identity/rotate": (
    { registrations, ...identity }: ShownRotation,
    { paint }: { readonly paint: Paint },
  ): string =>
    [
      rows(identity, paint),
      ...registrations.map(({ url, name, is_told }) =>
        is_told ? `${url} knows ${name} by the new key.` : `${url} does not know the new key of ${name} yet.`,
      ),
      paint("dim", "The statement with both signatures is in rotation.json."),
    ].join("\n"),
  /** Only the key, for use in scripts. */
  "identity/export": (
    { public_key, private_file }: PublicIdentity & { readonly private_file: string | null },
    { paint }: { readonly paint: Paint },
  ): string =>
    private_file === null
      ? public_key
      : `${public_key}\n${paint("dim", `The private key is in ${private_file}: whoever has it is you.`)}`,
};
