/**
 * Decides what crosses the border between two hubs (weblisk.txt, Data Boundary Contracts), the same in both directions. A denied
 * name is stripped at every depth, also in JSON that is written in a text; deny beats allow. Names are compared without their case and
 * separators, so that apiKey and API-KEY are api_key. Pure.
 */
import { BOUNDARY_DEPTH_MAX, BOUNDARY_FIELD_MAX_CHARS, CROSSING_NAMES_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isObject, jsonBytes } from "../../protocol/forms.ts";
import type { DataBoundary } from "../../protocol/peer-records.ts";
import { redactText } from "../../protocol/redact.ts";

export interface CrossedPayload {
  readonly payload: unknown;
  /** Names of members that are in the payload, each once, sorted. */
  readonly fields: readonly string[];
  /** Names of members that were taken out, each once, sorted. */
  readonly stripped: readonly string[];
  /** Texts in which a secret was masked. */
  readonly masked: number;
  /** Size of the payload as JSON. */
  readonly bytes: number;
}

/** A name without case, separators, marks and signs that nobody sees. */
export const foldedName = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/[\p{M}\p{P}\p{S}\p{Z}\p{C}]/gu, "")
    .toLowerCase();

const violation = (message: string, details: Readonly<Record<string, string | number>>): HoldfastError =>
  new HoldfastError("BOUNDARY_VIOLATION", message, { details });

/** Carries the rules through one payload, and gathers names. */
class FieldFilter {
  readonly fields = new Set<string>();
  readonly stripped = new Set<string>();
  masked = 0;
  /** How often something was taken out. */
  private removed = 0;
  private readonly allow: ReadonlySet<string>;
  private readonly deny: ReadonlySet<string>;

  constructor({ allow_fields, deny_fields }: Pick<DataBoundary, "allow_fields" | "deny_fields">) {
    this.allow = new Set(allow_fields.map(foldedName));
    this.deny = new Set(deny_fields.map(foldedName));
  }

  /** `isTop`: the members of this value are those that the allowed names are about; an allowed one is allowed with its content. */
  value(value: unknown, depth: number, isTop: boolean): unknown {
    if (depth > BOUNDARY_DEPTH_MAX)
      throw violation(`The payload has more than ${BOUNDARY_DEPTH_MAX} levels.`, {
        depth_max: BOUNDARY_DEPTH_MAX,
      });
    if (typeof value === "string") return this.text(value, depth, isTop);
    if (Array.isArray(value)) return value.map((one) => this.value(one, depth + 1, isTop));
    if (!isObject(value)) return value;
    const kept: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (this.crosses(name, isTop)) {
        this.fields.add(name);
        kept.push([name, this.value(member, depth + 1, false)]);
      } else {
        this.removed += 1;
        this.stripped.add(name);
      }
    }
    // It makes own members of all names, `__proto__` too.
    return Object.fromEntries(kept);
  }

  private crosses(name: string, isTop: boolean): boolean {
    const folded = foldedName(name);
    if (this.deny.has(folded) || redactText(name) !== name) return false;
    return !isTop || this.allow.size === 0 || this.allow.has(folded);
  }

  /** JSON in a text is read, and written anew only if something of it may not cross. */
  private text(text: string, depth: number, isTop: boolean): string {
    const inner = jsonIn(text);
    const before = this.removed;
    const crossed = inner === undefined ? undefined : this.value(inner, depth + 1, isTop);
    if (this.removed !== before) return JSON.stringify(crossed);
    const plain = redactText(text);
    if (plain === text) return text;
    this.masked += 1;
    this.removed += 1;
    return plain;
  }
}

/** An object, a list or a text that a text holds as JSON; undefined for anything else. */
const jsonIn = (text: string): unknown => {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const namesOf = (names: ReadonlySet<string>): readonly string[] =>
  [...names]
    .map((name) => redactText(name).slice(0, BOUNDARY_FIELD_MAX_CHARS))
    .sort()
    .slice(0, CROSSING_NAMES_MAX);

/** The part of a payload that may cross. Fails with BOUNDARY_VIOLATION if that is too large, or nested too deeply. */
export const crossing = (
  payload: unknown,
  boundary: Pick<DataBoundary, "allow_fields" | "deny_fields" | "max_payload_size">,
): CrossedPayload => {
  const rules = new FieldFilter(boundary);
  const crossed = rules.value(payload, 0, true);
  const bytes = jsonBytes(crossed);
  const { max_payload_size } = boundary;
  if (bytes > max_payload_size)
    throw violation(`The payload has ${bytes} bytes, and ${max_payload_size} may cross.`, {
      bytes,
      max_payload_size,
    });
  return {
    payload: crossed,
    fields: namesOf(rules.fields),
    stripped: namesOf(rules.stripped),
    masked: rules.masked,
    bytes,
  };
};
