/** Skills by the socket of the daemon that runs this agent. Each call has a connection of its own: whoever closes it ends the run. */
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { DAEMON_START_POLL_MS, REPLY_MAX_BYTES, SKILL_DAEMON_WAIT_MS } from "../../base/limits.ts";
import { makeLineSplitter } from "../../base/line-splitter.ts";
import { outcomeOf } from "../../protocol/envelope-v1.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { SkillToolsReply } from "../../protocol/replies/skills.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import type { SkillRunner } from "./skills.ts";

export interface DaemonLink {
  /** The path of the socket. */
  readonly socket: string;
  /** The marker of the run, by which the daemon knows the worker. */
  readonly run: string | undefined;
  readonly workspace: string;
  readonly profile: RequestInput<"skill/run">["profile"];
}

type FinalEnvelope = Parameters<typeof outcomeOf>[0];

const isGone = (why: string): HoldfastError =>
  new HoldfastError("SUPERVISOR_DOWN", `The daemon of this agent ${why}.`);

/** Rejects with SUPERVISOR_DOWN if the daemon cannot be reached or goes away, and with the signal's reason once it is aborted. */
const ask = async <T, N extends RequestName>(
  { socket: path, run }: DaemonLink,
  command: N,
  data: RequestInput<N>,
  signal?: AbortSignal,
): Promise<Outcome<T>> => {
  const socket = await connected(path, signal);
  const onAbort = (): void => void socket.destroy();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const meta = { request_id: "1", inline_max_bytes: REPLY_MAX_BYTES, ...(run !== undefined && { run }) };
    socket.write(`${JSON.stringify({ version: 1, command, data, meta })}\n`);
    const splitter = makeLineSplitter(REPLY_MAX_BYTES);
    for await (const chunk of socket)
      for (const line of splitter.push(chunk as Buffer)) {
        if ("tooLong" in line) throw isGone(`sent more than ${REPLY_MAX_BYTES} bytes`);
        return outcomeOf(JSON.parse(line.text.toString("utf8")) as FinalEnvelope) as Outcome<T>;
      }
    throw isGone("went away before it had answered");
  } catch (cause) {
    signal?.throwIfAborted();
    throw cause instanceof HoldfastError ? cause : isGone("cannot be reached");
  } finally {
    signal?.removeEventListener("abort", onAbort);
    socket.destroy();
  }
};

/** Waits for a daemon that is just replaced. */
const connected = async (path: string, signal?: AbortSignal): Promise<Socket> => {
  const until = performance.now() + SKILL_DAEMON_WAIT_MS;
  for (;;) {
    signal?.throwIfAborted();
    const socket = createConnection({ path });
    try {
      await once(socket, "connect");
      return socket;
    } catch {
      socket.destroy();
      if (performance.now() > until) throw isGone("cannot be reached");
      await wait(DAEMON_START_POLL_MS);
    }
  }
};

export const daemonSkills = (link: DaemonLink): SkillRunner => ({
  tools: async () => {
    const { workspace, profile } = link;
    const outcome = await ask<SkillToolsReply, "skill/tools">(link, "skill/tools", { workspace, profile });
    if (!outcome.ok) throw outcome.error;
    return outcome.value.tools;
  },
  run: (call, signal) => ask(link, "skill/run", { ...call, profile: link.profile } as never, signal),
});
