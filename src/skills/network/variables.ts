/** The places at which a run with hosts finds its proxy. */

/** The socket of the proxy, inside the sandbox. */
export const PROXY_SOCKET = "/run/holdfast/proxy";
/** The way to the same proxy for programs that know `HTTP_PROXY`: the loopback of the sandbox is the run's own. */
export const PROXY_PORT = 3128;
const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`;

/** A skill of ours puts the hosts of its document there. */
export const HOSTS_PATH = "/hosts";

/** Programs look for either spelling. Node asks for the last. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY_URL,
  HTTPS_PROXY: PROXY_URL,
  http_proxy: PROXY_URL,
  https_proxy: PROXY_URL,
  NODE_USE_ENV_PROXY: "1",
};
