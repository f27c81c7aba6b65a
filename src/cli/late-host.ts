/** A host that is away when the others of a call begin to be followed: it is told, tried again, and joins when it answers. */
import { setTimeout as sleep } from "node:timers/promises";
import { HOST_AGAIN_POLL_MS, HOST_AGAIN_WAIT_MS } from "../base/limits.ts";
import type { Client } from "../daemon/client.ts";
import { afterTries, asHoldfastError, type HoldfastError, isUnreached } from "../protocol/errors.ts";
import type { Context } from "./context.ts";
import type { Call } from "./parse.ts";
import type { StreamPlaces } from "./stream-places.ts";

/** Whether the call reads on for as long as its workers live; any other has an end, and its user waits for it. */
export const isFollowing = ({ command, flags }: Pick<Call, "command" | "flags">): boolean =>
  command.command === "agent/watch" || flags.follow === true;

export class Joining {
  /** The time for which the others were followed without this host; 0 if it was there. */
  late_ms = 0;
  private readonly host: string;
  private readonly reach: Context["connect"];
  private readonly places: StreamPlaces;
  private readonly notice: Context["notice"];
  private hasAnswered = false;

  /** `notice` names the host. */
  constructor(host: string, reach: Context["connect"], places: StreamPlaces, notice: Context["notice"]) {
    this.host = host;
    this.reach = reach;
    this.places = places;
    this.notice = notice;
  }

  /** The first connection waits for the host while another one is followed. A later one fails as any other does. */
  readonly connect: Context["connect"] = async (options) => {
    if (this.hasAnswered) return this.reach(options);
    const client = await this.reach(options).catch((cause) => this.joined(asHoldfastError(cause), options));
    this.hasAnswered = true;
    return client;
  };

  private async joined(away: HoldfastError, options: Parameters<Context["connect"]>[0]): Promise<Client> {
    const { host, places, notice } = this;
    if (!isUnreached(away)) throw away;
    const began = performance.now();
    places.leave(host);
    await places.begun;
    if (!places.isFollowed) throw away;
    notice(`${away.message} Its records follow once it answers.`);
    let tries = 1;
    for (let error = away; performance.now() - began < HOST_AGAIN_WAIT_MS; tries += 1) {
      await sleep(HOST_AGAIN_POLL_MS);
      try {
        const client = await this.reach(options);
        this.late_ms = performance.now() - began;
        notice("It answers: its records follow.");
        return client;
      } catch (cause) {
        error = asHoldfastError(cause);
        if (!isUnreached(error)) throw error;
      }
    }
    throw afterTries(away, tries, HOST_AGAIN_POLL_MS);
  }
}
