/** Channels (weblisk.txt, ChannelGrant): an hour in which one agent may send messages to one other, by a token of its own. */
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_CHANNELS_MAX } from "../../base/limits.ts";
import { publicTextOf } from "../identity/algorithms.ts";
import { ORCHESTRATOR } from "../identity/key-files.ts";
import { signedBy } from "../signing/operations.ts";
import { TOKEN_LIFETIMES_S } from "../signing/tokens.ts";
import { readAs } from "../types/read.ts";
import { ChannelRequest } from "../types/talk.ts";
import type { WireBody } from "../wire/body.ts";
import { newWireId } from "../wire/ids.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import type { ServerFiles } from "./files.ts";
import type { ServerGround } from "./ports.ts";
import { type AgentRegistry, isTokenOf, tokenDigest, type WireCaller } from "./registry.ts";
import { MESSAGE, needs } from "./rights.ts";

interface KeptChannel {
  readonly from: string;
  /** Another key of the same name has no part in it. */
  readonly from_key: string;
  readonly to: string;
  readonly token_digest: string;
  /** Epoch seconds. */
  readonly expires: number;
}

export class Channels {
  private readonly ground: ServerGround;
  private readonly files: ServerFiles;
  private readonly registry: AgentRegistry;

  constructor(ground: ServerGround, files: ServerFiles, registry: AgentRegistry) {
    this.ground = ground;
    this.files = files;
    this.registry = registry;
  }

  size(): number {
    return this.files.names("channels").length;
  }

  /** A signed grant. Throws FORBIDDEN without the capability or in another's name, and NOT_FOUND for an unknown target. */
  open(body: WireBody, { agent, capabilities }: WireCaller): JsonObject {
    const { from_agent, to_agent } = readAs(ChannelRequest, body.value);
    needs({ agent, capabilities }, MESSAGE);
    if (from_agent !== agent.name)
      throw forbidden("another_name", `The token is ${agent.name}'s; ask in that name.`);
    const target = this.targetOf(to_agent);
    const now = Math.floor(this.ground.now() / 1_000);
    this.files.removeOlder("channels", this.ground.now() - TOKEN_LIFETIMES_S.channel * 1_000);
    if (this.size() >= WEBLISK_CHANNELS_MAX)
      throw new WebliskRefusal(
        "RATE_LIMITED",
        `${WEBLISK_CHANNELS_MAX} channels are open; try again later.`,
        {
          reason: "channels_full",
          retry_after: 60,
        },
      );
    const channel_id = newWireId(this.ground.randomBytes);
    const expires = now + TOKEN_LIFETIMES_S.channel;
    const token = this.registry.issue({
      sub: from_agent,
      iat: now,
      exp: expires,
      cap: [MESSAGE],
      cid: channel_id,
    });
    const channel: KeptChannel = {
      from: from_agent,
      from_key: agent.public_key,
      to: to_agent,
      token_digest: tokenDigest(token),
      expires,
    };
    this.files.write("channels", channel_id, channel);
    const key = this.ground.keys.of(ORCHESTRATOR);
    const covered = { channel_id, agents: [from_agent, to_agent], expires };
    return {
      ...covered,
      token,
      ...signedBy(key, "grant", covered, agent.profile),
      from_agent,
      to_agent,
      target_url: target.url,
      target_pub_key: target.public_key,
      channel_token: token,
      expires_at: expires,
    };
  }

  /** The sender of a message to this agent, by a token of a channel to it, or by its own token. */
  sender(token: string | undefined, to: string): WireCaller {
    const { sub, cid } = this.registry.claims(token);
    if (cid === "") {
      const caller = this.registry.caller(token);
      needs(caller, MESSAGE);
      return caller;
    }
    const channel = this.files.read<KeptChannel>("channels", cid);
    const agent = this.registry.find(sub);
    const isOpen =
      channel !== undefined && agent?.public_key === channel.from_key && isTokenOf(channel, token!);
    if (!isOpen || agent === undefined)
      throw new WebliskRefusal("INVALID_SIGNATURE", "The channel is closed; ask for another one.", {
        reason: "channel_closed",
      });
    if (channel.to !== to) throw forbidden("another_channel", "The token is for a channel to another agent.");
    return { agent, capabilities: [MESSAGE] };
  }

  private targetOf(name: string): { readonly url: string; readonly public_key: string } {
    if (this.ground.agents.some((served) => served.name === name)) {
      const key = this.ground.keys.of(name);
      return { url: `${this.ground.url()}/agents/${name}`, public_key: publicTextOf(key) };
    }
    const registered = this.registry.find(name);
    if (registered !== undefined) return registered;
    throw new WebliskRefusal("NOT_FOUND", "There is no such agent; GET /v1/services lists them.", {
      reason: "agent_unknown",
    });
  }
}

const forbidden = (reason: string, message: string): WebliskRefusal =>
  new WebliskRefusal("FORBIDDEN", message, { reason });
