/**
 * While a command waits for agents, reports when an agent waits for a person, and how to answer. Each is reported once: a
 * permission request, an interactive worker that waits for a message, and a reason for a pause.
 */
import { APPROVAL_TOLD_AFTER_MS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { WAITS_FOR_MESSAGE } from "../../protocol/worker-status.ts";
import type { ApprovalView, WorkerView } from "../../runtime/replies.ts";
import type { Context } from "../context.ts";
import { oneLine } from "../render/terminal.ts";

export interface NeedsAside {
  /** Does the work of this connection, and meanwhile reports when agents wait for a person. */
  beside<T>(client: Client, work: () => Promise<T>): Promise<T>;
}

/** Why a worker takes no message now, and how to continue it; undefined if it is not paused. */
export const standingStill = async (client: Client, ref: string): Promise<string | undefined> => {
  const asked = await client.ask("agent/why", { id: ref });
  if (!asked.ok || asked.value.suggestion === null) return undefined;
  const { id, name, reason, suggestion } = asked.value;
  return `${oneLine(name ?? id)} does not take it yet (${oneLine(reason, 300)}); ${oneLine(suggestion, 300)}`;
};

/**
 * `refs`: ids of workers, beginnings of ids, or names. `ends`: the command waits for the workers' ends, so a worker that
 * waits for a message is reported; otherwise it waits for an answer, so a paused worker is.
 */
export const needsAside = (context: Context, refs: readonly string[], ends = false): NeedsAside => {
  const told = new Set<string>();
  const types = ["approval_requested", ...(ends ? MAY_WAIT_AFTER : ["worker_paused", "worker_question"])];

  const isMeant = ({ worker, worker_id }: ApprovalView): boolean =>
    refs.some((ref) => worker === ref || worker_id.startsWith(ref.toUpperCase()));

  return {
    beside: async (client, work) => {
      let isOver = false;
      let timer: NodeJS.Timeout | undefined;
      // A rule answers at once; a request that is open after a while waits for a person.
      const lookSoon = (): void => {
        timer ??= setTimeout(look, APPROVAL_TOLD_AFTER_MS);
      };
      const look = (): void => {
        timer = undefined;
        client.request("agent/approvals", {}).then(tell, () => undefined);
        if (ends) conversations(client, refs).then(tellWaiting, () => undefined);
        else for (const ref of refs) standingStill(client, ref).then(tellOnce, () => undefined);
      };
      const tellWaiting = (found: readonly WorkerView[]): void => {
        for (const { id, name } of found) {
          if (isOver || told.has(id)) continue;
          told.add(id);
          context.notice(sentenceOfWaiting(oneLine(name ?? id)));
        }
      };
      const tellOnce = (sentence: string | undefined): void => {
        if (isOver || sentence === undefined || told.has(sentence)) return;
        told.add(sentence);
        context.notice(sentence);
      };
      const tell = ({ approvals }: { readonly approvals: readonly ApprovalView[] }): void => {
        if (isOver) return;
        for (const one of approvals) {
          if (!isMeant(one) || told.has(one.approval_id)) continue;
          told.add(one.approval_id);
          context.notice(sentenceOf(one));
        }
      };
      lookSoon();
      client.watch({ ids: [...refs], types, follow: true }, lookSoon).catch(() => undefined);
      try {
        return await work();
      } finally {
        isOver = true;
        clearTimeout(timer);
      }
    },
  };
};

const sentenceOf = ({ worker, worker_id, tool, approval_id }: ApprovalView): string =>
  `${oneLine(worker ?? worker_id)} waits for a permission to use ${oneLine(tool ?? "a tool")}: agent approvals approve ${approval_id} (or deny)`;

/** At most this many workers are checked. */
const LOOKED_AT_MAX = 32;
/** After these records an interactive worker may wait for a message. */
const MAY_WAIT_AFTER = ["worker_spawned", "turn_completed"];

/** The workers that wait for a message and would not end by themselves without one. */
const conversations = async (client: Client, refs: readonly string[]): Promise<readonly WorkerView[]> => {
  const infos = await Promise.all(
    refs.slice(0, LOOKED_AT_MAX).map((id) => client.request("agent/info", { id })),
  );
  const waiting = infos.filter(({ reason }) => reason === WAITS_FOR_MESSAGE);
  const isClosing = async ({ id }: WorkerView): Promise<boolean> =>
    (await client.request("agent/messages", { id })).messages.some(({ closes }) => closes);
  const closing = await Promise.all(waiting.map(isClosing));
  return waiting.filter((_, index) => !closing[index]);
};

const sentenceOfWaiting = (worker: string): string =>
  `${worker} waits for a message, and does not end by itself: agent send ${worker} TEXT, or agent send ${worker} --close`;
