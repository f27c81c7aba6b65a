/**
 * The proxy of one run of a skill: the only way out of its sandbox. It takes CONNECT and plain HTTP on a Unix socket that is
 * mounted there, resolves each name once, and connects to the addresses that were judged. Each decision goes to `record`
 * before it is carried out. Bytes in a tunnel are counted and not read.
 */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import * as z from "zod";
import {
  PROXY_AT_ONCE_MAX,
  PROXY_CONNECT_MS,
  PROXY_CONNECTIONS_MAX,
  PROXY_HEAD_MAX_BYTES,
  PROXY_HEAD_MS,
  PROXY_IDLE_MS,
  SKILL_HOSTS_MAX,
} from "../../base/limits.ts";
import { SkillHost } from "../../protocol/skill-requests.ts";
import type { SkillDenial } from "../policy.ts";
import {
  addressDenial,
  authorityOf,
  entryFor,
  fixedAddresses,
  hostDenial,
  type NetworkDenial,
  type NetworkRule,
  type Target,
  targetOf,
  targetOfUrl,
} from "./rules.ts";
import { HOSTS_PATH } from "./variables.ts";

/** One decision, as it is recorded. */
export interface NetworkDecision {
  /** `HOST:PORT`. */
  readonly host: string;
  /** The address that is connected first; null where none is. */
  readonly address: string | null;
  readonly isAllowed: boolean;
  /** The entry that allows it, or the rule that does not. */
  readonly rule: string;
  /** One sentence. */
  readonly reason: string;
}

export interface ProxyOptions {
  /** A free path for its socket, which its owner removes. */
  readonly socket: string;
  readonly hosts: readonly string[];
  /** Judges hosts that the run itself asks for, once; absent where it may not. */
  readonly judge?: ((hosts: readonly string[]) => SkillDenial | undefined) | undefined;
  /** Resolves once the decision is on record; a rejection refuses it. */
  readonly record: (decision: NetworkDecision) => Promise<void>;
  /** All addresses of a name. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** Addresses of the machine's own interfaces. */
  readonly own: () => readonly string[];
  /** Bytes of the run, both ways together. */
  readonly max_bytes: number;
  /** The head of a request takes no longer. */
  readonly head_ms?: number;
}

type Connection = { readonly upstream: Socket } | { readonly status: number; readonly denial: NetworkDenial };

const Hosts = z.array(SkillHost).max(SKILL_HOSTS_MAX);

export class NetworkProxy {
  private readonly options: ProxyOptions;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  /** The denials so far, the first of each rule and host. */
  readonly denials = new Map<string, NetworkDenial>();
  private declared: readonly string[] | undefined;
  private connections = 0;
  /** Requests that are judged or have a connection outward: one socket of a client may carry many. */
  private open = 0;
  private bytes = 0;
  private isClosed = false;

  private constructor(options: ProxyOptions) {
    this.options = options;
    const { head_ms = PROXY_HEAD_MS } = options;
    this.server = createServer(
      {
        maxHeaderSize: PROXY_HEAD_MAX_BYTES,
        headersTimeout: head_ms,
        requestTimeout: 0,
        keepAliveTimeout: 1,
        connectionsCheckingInterval: head_ms,
      },
      (asked, answer) => void this.forward(asked, answer).catch(() => answer.destroy()),
    );
    // Node refuses those beyond it.
    this.server.maxConnections = PROXY_AT_ONCE_MAX;
    this.server.on("connection", (socket: Socket) => this.watch(socket));
    this.server.on("connect", (asked, socket, head) => {
      void this.tunnel(asked, socket, head).catch(() => socket.destroy());
    });
    this.server.on("clientError", (_, socket) => socket.destroy());
  }

  static open(options: ProxyOptions): Promise<NetworkProxy> {
    const proxy = new NetworkProxy(options);
    return new Promise((opened, failed) => {
      proxy.server.once("error", failed);
      proxy.server.listen(options.socket, () => opened(proxy));
    });
  }

  /** Ends every connection. No decision is recorded any more. */
  close(): void {
    this.isClosed = true;
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private watch(socket: Socket): void {
    this.sockets.add(socket);
    socket.setTimeout(PROXY_IDLE_MS, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.sockets.delete(socket));
  }

  private async tunnel({ url = "" }: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const opened = await this.connected(targetOf(url), url);
    if ("denial" in opened) {
      const { rule, reason } = opened.denial;
      const lines = [`HTTP/1.1 ${opened.status} Refused`, `${RULE_HEADER}: ${rule}`, "Connection: close", ""];
      return void client.end(`${lines.join("\r\n")}\r\n${reason}\n`);
    }
    const { upstream } = opened;
    client.on("error", () => upstream.destroy());
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
    this.count(client);
    this.count(upstream);
    client.write("HTTP/1.1 200 Connected\r\n\r\n");
    this.add(head.length);
    upstream.write(head);
    upstream.pipe(client).pipe(upstream);
  }

  private async forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { url = "", method = "GET" } = asked;
    if (url === HOSTS_PATH) return this.declare(asked, answer);
    const target = /^http:\/\//i.test(url) ? targetOfUrl(url) : undefined;
    const opened = await this.connected(target, url);
    if ("denial" in opened) return refuse(answer, opened);
    const { upstream } = opened;
    const { pathname, search } = new URL(url);
    const host = authorityOf(target!).replace(/:80$/, "");
    const headers = { ...framed(asked), host };
    const path = `${pathname}${search}`;
    let isRefused = false;
    const failed = () => {
      if (isRefused) return;
      isRefused = !answer.headersSent;
      if (isRefused) refuse(answer, unreachable(target!));
      else answer.destroy();
    };
    // A server may close, or change to another protocol, without an answer.
    upstream.once("close", () => answer.headersSent || failed());
    answer.once("close", () => upstream.destroy());
    const sent = request({ method, path, headers, setHost: false, createConnection: () => upstream });
    sent.on("error", failed);
    sent.once("response", (told: IncomingMessage) => {
      told.on("error", failed);
      this.count(told);
      try {
        answer.writeHead(told.statusCode ?? 0, endToEnd(told));
      } catch {
        // A server may send a status that no answer may have, such as 099.
        failed();
        return void upstream.destroy();
      }
      told.pipe(answer);
    });
    this.count(asked);
    asked.pipe(sent);
  }

  /** A skill of ours names the hosts of its document, before it connects to any of them. */
  private async declare(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { judge } = this.options;
    const body = Number(asked.headers["content-length"] ?? Number.POSITIVE_INFINITY);
    const parsed =
      judge !== undefined && this.declared === undefined && body <= PROXY_HEAD_MAX_BYTES
        ? Hosts.safeParse(JSON.parse(await text(asked)))
        : undefined;
    if (judge === undefined || parsed?.success !== true)
      return refuse(answer, { status: 403, denial: { rule: "network_form", reason: "No hosts are taken." } });
    const lists = { named: this.options.hosts, declared: [] };
    const wanted = parsed.data.filter((host) => entryFor(targetOf(host)!, lists) === undefined);
    const denial = wanted.length === 0 ? undefined : judge(wanted);
    this.declared = denial === undefined ? wanted : [];
    if (denial === undefined) return void answer.writeHead(204).end();
    await this.told({ host: wanted[0]!, address: null, isAllowed: false, ...denial });
    answer.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify(denial));
  }

  private async connected(target: Target | undefined, asked: string): Promise<Connection> {
    if (this.isClosed || ++this.connections > PROXY_CONNECTIONS_MAX + 1) return { status: 429, denial: MANY };
    this.open += 1;
    const closed = () => {
      this.open -= 1;
    };
    try {
      const opened = await this.judgedAndDialled(target, asked);
      if ("upstream" in opened && !opened.upstream.closed) opened.upstream.once("close", closed);
      else closed();
      return opened;
    } catch (cause) {
      closed();
      throw cause;
    }
  }

  private async judgedAndDialled(target: Target | undefined, asked: string): Promise<Connection> {
    const host = target === undefined ? asked.slice(0, HOST_TOLD_CHARS) : authorityOf(target);
    const judged = await this.judged(target);
    if ("reason" in judged) {
      this.denials.set(`${judged.rule} ${host}`, judged);
      await this.told({ host, address: null, isAllowed: false, ...judged });
      return { status: STATUS[judged.rule] ?? 403, denial: judged };
    }
    const { addresses, rule } = judged;
    const reason = `${host} is allowed by ${rule}.`;
    await this.told({ host, address: addresses[0]!, isAllowed: true, rule, reason });
    for (const address of addresses) {
      const upstream = this.isClosed ? undefined : await this.dialled(address, target!.port);
      if (upstream !== undefined) return { upstream };
    }
    return unreachable(target!);
  }

  /** The addresses to which it may connect, and the entry that allows it. */
  private async judged(
    target: Target | undefined,
  ): Promise<{ readonly addresses: readonly string[]; readonly rule: string } | NetworkDenial> {
    if (this.connections > PROXY_CONNECTIONS_MAX) return MANY;
    if (this.open > PROXY_AT_ONCE_MAX) return AT_ONCE;
    if (this.bytes > this.options.max_bytes) return MUCH;
    if (target === undefined)
      return { rule: "network_form", reason: "The request names no host and port of HTTP." };
    const lists = { named: this.options.hosts, declared: this.declared ?? [] };
    const byName = hostDenial(target, lists);
    if (byName !== undefined) return byName;
    const addresses = fixedAddresses(target) ?? (await this.resolved(target.host));
    if (addresses.length === 0)
      return { rule: "network_name", reason: `The name ${target.host} leads to no address.` };
    const byAddress = addressDenial(target, addresses, lists, this.options.own());
    return byAddress ?? { addresses, rule: entryFor(target, lists)! };
  }

  private resolved(name: string): Promise<readonly string[]> {
    const late = AbortSignal.timeout(PROXY_CONNECT_MS);
    return Promise.race([
      this.options.resolve(name).catch(() => []),
      new Promise<readonly string[]>((none) => late.addEventListener("abort", () => none([]))),
    ]);
  }

  private dialled(address: string, port: number): Promise<Socket | undefined> {
    return new Promise((told) => {
      const socket = connect({ host: address, port });
      const late = setTimeout(() => socket.destroy(), PROXY_CONNECT_MS);
      this.watch(socket);
      socket.once("close", () => told(undefined));
      socket.once("connect", () => told(socket));
      for (const end of ["close", "connect"]) socket.once(end, () => clearTimeout(late));
    });
  }

  private async told(decision: NetworkDecision): Promise<void> {
    if (this.isClosed) throw new Error("the run has ended");
    await this.options.record(decision);
  }

  private count(stream: NodeJS.ReadableStream): void {
    stream.on("data", (chunk: Buffer) => this.add(chunk.length));
  }

  private add(bytes: number): void {
    const { max_bytes } = this.options;
    const wasOver = this.bytes > max_bytes;
    this.bytes += bytes;
    if (wasOver || this.bytes <= max_bytes) return;
    this.denials.set(MUCH.rule, MUCH);
    void this.told({ host: "*", address: null, isAllowed: false, ...MUCH }).catch(() => undefined);
    for (const socket of this.sockets) socket.destroy();
  }
}

/** Tells the rule of a denial to the program inside. */
const RULE_HEADER = "x-holdfast-rule";
/** Characters of a request that is no host and port. */
const HOST_TOLD_CHARS = 256;

const STATUS: Partial<Readonly<Record<NetworkRule, number>>> = {
  network_form: 400,
  network_connections: 429,
  network_name: 502,
};

const MANY: NetworkDenial = {
  rule: "network_connections",
  reason: `The run has made ${PROXY_CONNECTIONS_MAX} connections, and no more are allowed.`,
};
const AT_ONCE: NetworkDenial = {
  rule: "network_connections",
  reason: `The run has ${PROXY_AT_ONCE_MAX} connections open, and no more are allowed at a time.`,
};
const MUCH: NetworkDenial = {
  rule: "network_bytes",
  reason: "The run has moved as many bytes as one may, and no more are allowed.",
};

const unreachable = (target: Target): { readonly status: number; readonly denial: NetworkDenial } => ({
  status: 502,
  denial: { rule: "network_unreachable", reason: `${authorityOf(target)} does not answer.` },
});

const refuse = (
  answer: ServerResponse,
  { status, denial }: { readonly status: number; readonly denial: NetworkDenial },
): void => {
  answer.writeHead(status, { [RULE_HEADER]: denial.rule, connection: "close" }).end(`${denial.reason}\n`);
};

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "host", RULE_HEADER],
]);

/** The headers of a message that are for its other end. */
const endToEnd = ({ headersDistinct, headers }: IncomingMessage): Record<string, string[]> => {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  return Object.fromEntries(
    Object.entries(headersDistinct).flatMap(([name, values]) =>
      values === undefined || HOP_BY_HOP.has(name) || named.includes(name) ? [] : [[name, values]],
    ),
  );
};

/** A body without a length goes on in chunks, whatever its method: its bytes would be the next request otherwise. */
const framed = (asked: IncomingMessage): Record<string, string[]> => {
  const headers = endToEnd(asked);
  const { "content-length": length, "transfer-encoding": coding } = asked.headers;
  const isSized = headers["content-length"] !== undefined || (length ?? coding) === undefined;
  return isSized ? headers : { ...headers, "transfer-encoding": ["chunked"] };
};
