/**
 * Masks secrets as "***" before anything is stored or shown (protocol-v1.txt, Security invariants; notes 2.13): by the
 * shapes of keys and tokens, by the names of fields and variables, and by their values if known (docs/reference/secrets.md).
 * An unchanged value is returned as the same object. A secret that an agent prints in pieces, over several events, is not
 * seen.
 */

import { DATA_MAX_DEPTH } from "../base/limits.ts";
import { ASSIGNMENT_HINTS, isLongNumber, redactAssignments } from "../base/secrets/assignments.ts";
import { knownSecrets } from "../base/secrets/known.ts";
import { isReference, isSecretName, secretArguments } from "../base/secrets/names.ts";
import { makeScanner } from "../base/secrets/scan.ts";
import { CURL_USER, CUT_TOKEN, MASK, SHAPES } from "../base/secrets/shapes.ts";
import { HoldfastError } from "./errors.ts";
import type { Outcome } from "./outcome.ts";

export { isSecretName, secretArguments } from "../base/secrets/names.ts";

/** A cache of short texts without a hint: names, ids and sentences of decoders come again with every event. */
const clean = new Set<string>();
const CLEAN_MAX = 1_024;
const CLEAN_TEXT_MAX_UNITS = 96;

const noteClean = (text: string): void => {
  if (text.length > CLEAN_TEXT_MAX_UNITS) return;
  if (clean.size === CLEAN_MAX) clean.clear();
  clean.add(text);
};

/** A shorter text cannot hold a secret and the name or shape that identifies it. */
const SECRET_TEXT_MIN_UNITS = 8;
const scan = makeScanner(SHAPES, ASSIGNMENT_HINTS);

/** Masks the shapes of secrets in a text, and values after a secret's name. */
export const redactText = (text: string): string => {
  if (text.length < SECRET_TEXT_MIN_UNITS) return text;
  if (text.length <= CLEAN_TEXT_MAX_UNITS && clean.has(text)) return text;
  const { text: scanned, hinted } = scan(text);
  let masked = scanned;
  if (masked.includes("curl")) masked = masked.replace(CURL_USER, `$1${MASK}`);
  if (hinted) masked = redactAssignments(masked);
  if (masked === text) noteClean(text);
  return masked;
};

export interface Redactor {
  /**
   * Masks a line of output before it is decoded: only known values, so that no part of one stays in a text that is cut or
   * remembered later. It leaves out a secret that may be a word or number of the agent's own protocol; the other functions
   * mask it.
   */
  readonly line: (line: string) => string;
  /** Masks the beginning of a line that is cut, including a token or known value that the cut has shortened. */
  readonly head: (head: string) => string;
  readonly text: (text: string) => string;
  /**
   * Masks JSON in depth: strings and names by shape, and all strings and long numbers below a secret's name. Everything
   * below DATA_MAX_DEPTH is masked.
   */
  readonly value: <T>(value: T) => T;
  /** Variables as people may see them: values of secret names are masked; references (`@env:NAME`, `@file:PATH`) stay. */
  readonly env: (env: Readonly<Record<string, string>>) => Record<string, string>;
}

/**
 * A redactor that also masks these values anywhere: as they are, escaped (in JSON, in JSON inside JSON, in a URL) or encoded
 * (base64, hex), and each of their long lines. Values shorter than KNOWN_SECRET_MIN_CHARS would mask ordinary words, so they
 * are skipped.
 */
export function makeRedactor(secrets: readonly string[] = []): Redactor {
  const known = knownSecrets(secrets, MASK);
  const clear = secrets.filter((secret) => !MAY_BE_PROTOCOL.test(secret));
  const unmistakable = clear.length === secrets.length ? known : knownSecrets(clear, MASK);
  const line = (input: string): string => unmistakable?.mask(input) ?? input;
  const text = (input: string): string => redactText(known?.mask(input) ?? input);
  // The names of our own members are ordinary words, which may equal a secret.
  const name = memberNames(line);
  return {
    line,
    head: (head) => redactText(unmistakable?.maskCut(head) ?? head).replace(CUT_TOKEN, MASK),
    text,
    value: <T>(value: T): T => redactDeep(value, { text, name }, false, DATA_MAX_DEPTH) as T,
    env: (env) =>
      Object.fromEntries(
        Object.entries(env).map(([name, value]) => [
          name,
          isSecretName(name) && !isReference(value) ? MASK : text(value),
        ]),
      ),
  };
}

/** The same error with its secrets masked, and without its cause. */
export const redactError = (error: HoldfastError, redact: Redactor): HoldfastError => {
  const { cause: _, problems, suggestion, details, redirect, ...info } = error.info;
  return new HoldfastError(error.code, redact.text(error.message), {
    ...info,
    ...(problems === undefined ? {} : { problems: problems.map(redact.text) }),
    ...(suggestion === undefined ? {} : { suggestion: redact.text(suggestion) }),
    ...(details === undefined ? {} : { details: redact.value(details) }),
    ...(redirect === undefined ? {} : { redirect: { ...redirect, command: redact.text(redirect.command) } }),
  });
};

/** The masked outcome. Raw bytes stay unmasked: the caller asked for them raw. */
export const redactOutcome = <T>(outcome: Outcome<T>): Outcome<T> => {
  const { value, warnings } = outcome;
  const told = {
    ...(value !== undefined && { value: holdsBytes(value) ? value : redactValue(value) }),
    ...(warnings !== undefined && { warnings: warnings.map(redactText) }),
  };
  return outcome.ok
    ? ({ ...outcome, ...told } as Outcome<T>)
    : ({
        ...outcome,
        ...told,
        error: redactError(outcome.error, { ...plain, value: redactValue }),
      } as Outcome<T>);
};

/** Names and ids are shown to every caller unmasked, so a name that looks like a secret is refused. */
export const isTellable = (name: string): boolean => redactText(name) === name;
export const NOT_TELLABLE = "a name has to be one that everybody may see, and this one looks like a secret";

/** Secrets in raw bytes cannot be found. */
export const holdsBytes = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "base64" in value;

const MAY_BE_PROTOCOL = /^(?:[a-z_]+|[\d.]+)$/;

/** The name of a member: how it is shown, and whether its value is a secret. */
interface MemberName {
  readonly shown: string;
  readonly isSecret: boolean;
}

/** Functions that mask a string and the name of a member. */
interface MaskFunctions {
  readonly text: (text: string) => string;
  readonly name: (name: string) => MemberName;
  /** Objects that never change, as they are shown. */
  readonly shown?: WeakMap<object, object>;
  /** True for our own answers, in which a number called `token` is the token of a lease, and an object so called tells of one. */
  readonly hasLeases?: boolean;
}

const LEASE_TOKEN = "token";

const redactDeep = (value: unknown, show: MaskFunctions, isBelowName: boolean, depth: number): unknown => {
  if (typeof value === "string") return isBelowName ? maskAll(value) : show.text(value);
  if (typeof value === "number") return isBelowName && isLongNumber(String(value)) ? MASK : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return MASK;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const isNamed = isBelowName || isSecretArgument(value, index);
      const masked = redactDeep(value[index], show, isNamed, depth - 1);
      if (masked === value[index]) continue;
      copy ??= [...value];
      copy[index] = masked;
    }
    return copy ?? value;
  }
  const known = isBelowName ? undefined : show.shown?.get(value);
  if (known !== undefined) return known;
  let copy: Record<string, unknown> | undefined;
  let hasSecretKey = false;
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    const { shown, isSecret } = show.name(name);
    if (shown !== name) hasSecretKey = true;
    const isLease = show.hasLeases === true && name === LEASE_TOKEN && typeof member !== "string";
    const masked = redactDeep(member, show, isBelowName || (isSecret && !isLease), depth - 1);
    if (masked === member) continue;
    copy ??= { ...value };
    copy[name] = masked;
  }
  return hasSecretKey ? renamed(copy ?? value, show.name) : (copy ?? value);
};

/** Whether a word of a command follows a flag like `--api-key`. */
const isSecretArgument = (words: readonly unknown[], index: number): boolean => {
  const [flag, word] = [words[index - 1], words[index]];
  if (typeof flag !== "string" || typeof word !== "string" || flag.charCodeAt(0) !== 45) return false;
  return secretArguments([flag, word]).includes(word);
};

/** Each member with a secret name gets a different masked name, so that no member is lost. */
const renamed = (value: object, name: MaskFunctions["name"]): object => {
  const shown = new Map<string, unknown>();
  for (const [key, member] of Object.entries(value)) {
    const first = name(key).shown;
    let unique = first;
    for (let n = 2; shown.has(unique) || (unique !== key && Object.hasOwn(value, unique)); n += 1)
      unique = `${first} ${n}`;
    shown.set(unique, member);
  }
  return Object.fromEntries(shown);
};

const maskAll = (text: string): string => (isReference(text) ? text : MASK);

/** Bounds of the cache of member names, which come again with every event. Longer names are not cached. */
const NAMES_MAX = 1_024;
const NAME_MAX_UNITS = 64;

const remembering = (look: MaskFunctions["name"]): MaskFunctions["name"] => {
  const looked = new Map<string, MemberName>();
  return (name) => {
    const known = looked.get(name);
    if (known !== undefined) return known;
    const named = look(name);
    if (named.shown === name && looked.size < NAMES_MAX && name.length <= NAME_MAX_UNITS)
      looked.set(name, named);
    return named;
  };
};

const memberNames = (mask: (name: string) => string): MaskFunctions["name"] =>
  remembering((name) => ({ shown: redactText(mask(name)), isSecret: isSecretName(name) }));

const plain = makeRedactor();
const shown = new WeakMap<object, object>();
const byShape: MaskFunctions = {
  text: redactText,
  name: memberNames((name) => name),
  shown,
  hasLeases: true,
};
/** Masks our own answers in depth, by the shapes and names of secrets. The output of agents was masked before, by their redactors. */
export const redactValue = <T>(value: T): T => redactDeep(value, byShape, false, DATA_MAX_DEPTH) as T;
/** An object of which redactOnce was told, as it is shown. */
export const shownOnce = (value: object): object | undefined => shown.get(value);

/**
 * Says that an object never changes, so that redactValue searches it only once: the spec of a worker is in every answer
 * about it.
 */
export const redactOnce = (value: object): void => {
  if (!shown.has(value)) shown.set(value, redactValue(value));
};
