/** The network of a built-in skill, inside its sandbox: through the proxy, or none. */
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { HoldfastError } from "../../protocol/errors.ts";
import type { SkillContext } from "../skill.ts";
import { authorityOf, targetOfUrl } from "./rules.ts";
import { openTunnel } from "./tunnel.ts";
import { HOSTS_PATH, PROXY_SOCKET } from "./variables.ts";

type Network = Pick<SkillContext, "fetch" | "reach">;

const refused = (rule: string, reason: string): HoldfastError =>
  new HoldfastError("POLICY_VIOLATION", reason, {
    suggestion: "Name a host that the skill may reach, or have it allowed under skills.hosts in config.yaml.",
    details: { rule },
  });

const none = (): Promise<never> => Promise.reject(refused("network_none", "This run has no network."));
export const NO_NETWORK: Network = { fetch: none, reach: none };

const reach: Network["reach"] = async (url) => {
  const target = targetOfUrl(url);
  if (target === undefined) throw refused("network_form", "The server of the operation has no URL of HTTP.");
  const body = JSON.stringify([authorityOf(target)]);
  const { status, said } = await put(body);
  if (status === 204) return;
  const { rule = "network_form", reason = `${authorityOf(target)} is refused.` } =
    status === 403 && said.startsWith("{") ? JSON.parse(said) : {};
  throw refused(rule, reason);
};

const put = (body: string): Promise<{ readonly status: number | undefined; readonly said: string }> =>
  new Promise((told, failed) => {
    const headers = { "content-length": Buffer.byteLength(body) };
    const how = { socketPath: PROXY_SOCKET, path: HOSTS_PATH, method: "PUT", headers, agent: false };
    const sent = request(how, (answer) => {
      text(answer).then((said) => told({ status: answer.statusCode, said }), failed);
    });
    sent.once("error", failed);
    sent.end(body);
  });

/** Node itself sends each request of `fetch` to the proxy (`NODE_USE_ENV_PROXY`). */
export const networkByProxy = async (): Promise<Network> => {
  await openTunnel();
  return { fetch, reach };
};
