/**
 * Dialogues by JSON-RPC, read a second time. A harness has numbered its requests, we name ours: what an agent printed to the
 * harness is what it would have printed to us but for the ids of its answers, and for the answers to what only we ask.
 */
import { get, getText, type Printed, readLine, readLines } from "./printed.ts";

/** The request before the first line, as far as the lines alone do not say it. */
export interface Asked {
  /** A session to go on in. */
  readonly session?: string;
  readonly model?: string;
}

/** A request of a harness, as ours: its id, and that of what we ask together with it and no agent knows. */
export interface Ours {
  readonly id: string;
  readonly mark?: string;
}

/** By the method of a request, and how many of that method went before; undefined where we have none like it. */
export type OurNames = (method: string, nth: number) => Ours | undefined;

/** The id of the nth message; a ULID. */
export const messageId = (nth: number): string => `01JD00000000000000000000${String(nth).padStart(2, "0")}`;

type Message = NonNullable<Printed["value"]>;

export const isAnswer = ({ value }: Printed): boolean =>
  value !== undefined &&
  typeof value.method !== "string" &&
  (value.result !== undefined || value.error !== undefined);

/** Answers to requests with this id, or whose ids begin so, in order. */
export const answersTo = (lines: readonly Printed[], id: RegExp): readonly (readonly [number, Message])[] =>
  lines.flatMap((line, at) =>
    isAnswer(line) && id.test(getText(line.value, "id") ?? "") ? [[at, line.value!] as const] : [],
  );

export const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Notifications of a method, in order. */
export const notices = (lines: readonly Printed[], ...methods: readonly string[]): readonly Message[] =>
  lines.flatMap(({ value }) =>
    value !== undefined && (value.id ?? null) === null && methods.includes(getText(value, "method") ?? "")
      ? [value]
      : [],
  );

/** Lines that the agent would have printed to us. `said` and `printed` are both directions of one dialogue. */
export const asOurs = (said: string, printed: string, names: OurNames): string => {
  const counts = new Map<string, number>();
  const asked = readLines(said).flatMap(({ value }): readonly (readonly [unknown, Ours])[] => {
    const method = getText(value, "method") ?? "";
    const nth = counts.get(method) ?? 0;
    counts.set(method, nth + 1);
    const ours = names(method, nth);
    return ours === undefined ? [] : [[get(value, "id"), ours]];
  });
  const lines = readLines(printed).flatMap((line): readonly string[] => {
    const at = isAnswer(line) ? asked.findIndex(([id]) => id === line.value?.id) : -1;
    if (at === -1) return [line.text];
    const renamed = JSON.stringify({ ...line.value, id: asked[at]![1].id });
    // An agent that answered the request before has read our next line.
    const mark = asked[at + 1]?.[1].mark;
    return mark === undefined ? [renamed] : [renamed, refusal(mark)];
  });
  return lines.map((line) => `${line}\n`).join("");
};

const refusal = (id: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } });

/** The session that a harness asked for. */
export const askedOf = (said: string): Asked => {
  const load = readLines(said).find(({ value }) => value?.method === "session/load");
  const session = getText(load?.value, "params.sessionId");
  return session === undefined ? {} : { session };
};

export const TOMORROW = readLine('{"jsonrpc":"2.0","method":"of/tomorrow","params":{"text":"of tomorrow"}}');
