/** Connects to the daemon of a state directory, or at an address. */
import { resolve } from "node:path";
import { parseHost } from "../../base/host-address.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import type { RuntimeCalls } from "../calls.ts";
import { checkConnect } from "../checked.ts";
import { directoryOf } from "../opening.ts";
import type { ConnectOptions } from "../options.ts";
import { aborted } from "../promises.ts";
import { inProgram } from "../suggestions.ts";
import { remoteCalls } from "./calls.ts";
import { RemoteLink } from "./link.ts";

export const connected = async (options: ConnectOptions): Promise<RuntimeCalls> => {
  let link: RemoteLink | undefined;
  try {
    checkConnect(options);
    const { stateDir, socketPath, url, host, token = process.env.HOLDFAST_TOKEN, signal } = options;
    if (url !== undefined && (stateDir !== undefined || socketPath !== undefined))
      throw new HoldfastError("INVALID_REQUEST", "Give url, or stateDir and socketPath, not both.");
    if (host !== undefined && (url !== undefined || socketPath !== undefined || options.token !== undefined))
      throw new HoldfastError("INVALID_REQUEST", "With host, give neither url, nor socketPath, nor token.");
    if (signal?.aborted) throw aborted(signal);
    const there = host === undefined ? undefined : parseHost(host);
    link = new RemoteLink({
      stateDir: directoryOf(stateDir),
      socketPath: socketPath && resolve(socketPath),
      host: there && { host: there, stateDir, start: false },
      url: url === undefined ? undefined : new URL(url),
      token: token === "" ? undefined : token,
    });
    const status = await link.ask("daemon/status", {}, signal);
    if (!status.ok) throw status.error;
    return remoteCalls(link, status.value.epoch);
  } catch (cause) {
    link?.close();
    throw options?.signal?.aborted ? aborted(options.signal) : inProgram(asHoldfastError(cause));
  }
};
