/** Beside a command that waits for agents: that one of them waits for a person, and how to answer it. Each request is told once. */
import { APPROVAL_TOLD_AFTER_MS } from "../../protocol/limits.ts";
import type { ApprovalView } from "../../supervisor/replies.ts";
import type { Client } from "../client.ts";
import type { Context } from "../context.ts";
import { oneLine } from "../render/terminal.ts";

export interface ApprovalsAside {
  /** What is asked for on this connection, with the news of permissions beside it. */
  beside<T>(client: Client, work: () => Promise<T>): Promise<T>;
}

/** `refs`: ids of workers, beginnings of ids, or names. */
export const approvalsAside = (context: Context, refs: readonly string[]): ApprovalsAside => {
  const told = new Set<string>();

  const isMeant = ({ worker, worker_id }: ApprovalView): boolean =>
    refs.some((ref) => worker === ref || worker_id.startsWith(ref.toUpperCase()));

  return {
    beside: async (client, work) => {
      let isOver = false;
      let timer: NodeJS.Timeout | undefined;
      // A rule answers at once: what is still open after a while waits for a person.
      const lookSoon = (): void => {
        timer ??= setTimeout(look, APPROVAL_TOLD_AFTER_MS);
      };
      const look = (): void => {
        timer = undefined;
        client.request("agent/approvals", {}).then(tell, () => undefined);
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
      client
        .watch({ ids: [...refs], types: ["approval_requested"], follow: true }, lookSoon)
        .catch(() => undefined);
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
