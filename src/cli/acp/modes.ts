/** The modes that an editor offers for a session: how its agent's requests for permission are answered. Pure. */
import type { SessionMode, SessionModeState } from "@agentclientprotocol/sdk";
import { HoldfastError } from "../../protocol/errors.ts";
import { Permission } from "../../protocol/permission.ts";

const ABOUT: Readonly<Record<Permission, string>> = {
  ask: "You are asked for each request that no rule decides.",
  allow: "Each of these requests is allowed at once, while this editor has the session open.",
  deny: "Each of these requests is denied at once, while this editor has the session open.",
};
const MODES: SessionMode[] = Permission.options.map((id) => ({
  id,
  name: `${id[0]!.toUpperCase()}${id.slice(1)}`,
  description: ABOUT[id],
}));

/** Undefined for an agent that was started so that it asks nobody: no mode would change what it does. */
export const modesOf = (
  permission: Permission | undefined,
  mode: Permission,
): SessionModeState | undefined =>
  permission === "ask" ? { currentModeId: mode, availableModes: MODES } : undefined;

/** The mode with this id. Fails for one that `modesOf` does not offer. */
export const modeOf = (permission: Permission | undefined, id: string): Permission => {
  if (permission !== "ask")
    throw new HoldfastError(
      "INVALID_REQUEST",
      `The agent of this session asks for no permission: it was started with --permission ${permission ?? "allow"}.`,
      { suggestion: "Begin a session with --permission ask." },
    );
  const mode = Permission.safeParse(id);
  if (mode.success) return mode.data;
  throw new HoldfastError("INVALID_REQUEST", `There is no mode ${JSON.stringify(id)}.`, {
    suggestion: `Choose one of ${Permission.options.join(", ")}.`,
  });
};
