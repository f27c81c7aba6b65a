/** agent peer … and agent audit …: federation. The audit trail is checked here, and not by the daemon that keeps it. */
import { AUDIT_PAGE_MAX } from "../../base/limits.ts";
import { type AuditCheck, checkAudit, NO_AUDIT } from "../../protocol/audit.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";

interface AddFlags {
  readonly share?: readonly string[];
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly "max-payload"?: number;
  readonly retention?: string;
  readonly rate?: number;
  readonly key?: string;
}

const hubOf = ({ call }: Context): string => call.args[0] as string;

export const add: CommandHandler = async (context) => {
  const { share, allow, deny, rate, key, retention, ...rest } = context.flags as AddFlags;
  const boundary = {
    allow_fields: allow,
    deny_fields: deny,
    max_payload_size: rest["max-payload"],
    retention,
  };
  // Terms that nobody types may be those of the configuration.
  const isSaid = Object.values(boundary).some((term) => term !== undefined);
  const asked = {
    hub_id: hubOf(context),
    url: context.call.args[1] as string,
    shared_capabilities: share,
    data_boundary: isSaid ? boundary : undefined,
    rate_limit: rate,
    public_key: key ?? null,
  };
  return success(await (await context.connect()).request("peer/add", asked as never));
};

export const list: CommandHandler = async (context) => {
  const reply = await (await context.connect()).request("peer/list", {});
  if (reply.peers.length === 0) context.hint("No peer. Add one with: agent peer add HUB URL");
  return success(reply);
};

export const show: CommandHandler = async (context) =>
  success(await (await context.connect()).request("peer/show", { hub_id: hubOf(context) }));

export const trust: CommandHandler = async (context) =>
  success(await (await context.connect()).request("peer/trust", { hub_id: hubOf(context) }));

export const revoke: CommandHandler = async (context) => {
  const reason = context.flags.reason as string | undefined;
  const client = await context.connect();
  return success(await client.request("peer/revoke", { hub_id: hubOf(context), ...(reason && { reason }) }));
};

export const audit: CommandHandler = async (context) => {
  const { after, limit } = context.flags as { readonly after?: number; readonly limit?: number };
  const client = await context.connect();
  const reply = await client.request("audit/list", { after, limit });
  if (!reply.is_end) context.warn(`More entries may follow: agent audit list --after ${reply.next}`);
  return success(reply);
};

const broken = (at: number): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `The audit trail is broken: entry ${at} does not follow from the one before.`,
    {
      suggestion: "Compare the entries before it with a backup of the log: agent audit list",
    },
  );

export const verify: CommandHandler = async (context) => {
  const wanted = context.flags.head as string | undefined;
  const client = await context.connect();
  let check: AuditCheck = NO_AUDIT;
  let isThere = wanted === undefined || wanted === check.hash;
  for (let after = 0, isEnd = false; !isEnd; ) {
    const page = await client.request("audit/list", { after, limit: AUDIT_PAGE_MAX });
    for (const { seq: _, ...entry } of page.entries) {
      check = checkAudit(check, [entry]);
      if (check.broken !== undefined) throw broken(check.broken);
      isThere ||= check.hash === wanted;
    }
    ({ next: after, is_end: isEnd } = page);
  }
  if (!isThere)
    throw new HoldfastError("INVALID_STATE", "The audit trail does not contain the hash of --head.", {
      suggestion:
        "The trail was cut or written anew, or the hash is of another one: compare with a backup of the log.",
    });
  return success(check);
};
