/** A hub in one process: a real gateway over HTTP, whose daemon is the decisions alone, on a clock of the test's own. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SealedVault } from "../../../src/base/files/sealed-vault.ts";
import {
  decideAdd,
  decideKeyChange,
  decideMeet,
  decideNotify,
  decideRevoke,
} from "../../../src/control/federation/registry.ts";
import { admissionId, decideAdmit, decideSettle } from "../../../src/control/federation/tasks.ts";
import { auditOf, noticeOf } from "../../../src/control/federation/trail.ts";
import type { AuditNote } from "../../../src/protocol/audit.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { FederatedPeer } from "../../../src/protocol/peer.ts";
import type { PeerTerms } from "../../../src/protocol/peer-records.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import type { PeerView } from "../../../src/protocol/replies/peers.ts";
import { HubAsker } from "../../../src/weblisk/federation/asking.ts";
import { type HubPost, postToHub } from "../../../src/weblisk/federation/exchange.ts";
import { FederationGateway } from "../../../src/weblisk/federation/gateway.ts";
import { keepOwnHub } from "../../../src/weblisk/federation/hub-files.ts";
import type { HubGround, PeerDesk } from "../../../src/weblisk/federation/ports.ts";
import { KeptKeys } from "../../../src/weblisk/identity/kept-keys.ts";
import { ensureIdentity, ORCHESTRATOR } from "../../../src/weblisk/identity/key-files.ts";
import { ServerFiles } from "../../../src/weblisk/server/files.ts";
import { TaskForwarder } from "../../../src/weblisk/server/forwarding.ts";
import { listen } from "../../../src/weblisk/server/listener.ts";
import type { TaskOrder, TaskWorkers } from "../../../src/weblisk/server/ports.ts";
import { AgentRegistry } from "../../../src/weblisk/server/registry.ts";
import { TaskTable } from "../../../src/weblisk/server/tasks.ts";
import { Registry, TERMS } from "../../control/federation/support.ts";

const viewOf = ({ fingerprint, admitted, refused: _, timestamp: __, ...shown }: FederatedPeer): PeerView => ({
  ...shown,
  tier_max: shown.trust_tier ?? "verified",
  source: shown.source ?? "flags",
  rate_remaining: shown.rate_limit - admitted.length,
  fingerprint: { since: fingerprint.since, tasks: fingerprint.recent.length, failed: 0, odd: 0 },
});

export interface Hub {
  readonly hub_id: string;
  readonly url: string;
  readonly stateDir: string;
  readonly ground: HubGround;
  readonly registry: Registry;
  readonly asker: HubAsker;
  readonly orders: readonly TaskOrder[];
  /** Entries of the trail. */
  readonly trail: readonly AuditNote[];
  /** Agrees to federate with it, or changes the terms. */
  add(peer: Pick<Hub, "hub_id" | "url">, terms?: Partial<PeerTerms>): void;
  revoke(peer: Pick<Hub, "hub_id">): void;
  /** Starts it after it was killed. */
  start(): void;
  close(): void;
}

/** Kills a hub at one of its steps: from then on nothing of it goes on, until it is started again. */
export class Killer {
  /** The steps so far: each change of a file, each request of the daemon, each worker, before it and after it. */
  readonly steps: string[] = [];
  readonly at: number;
  isDead = false;

  /** `at`: how many steps it lives. */
  constructor(at = Number.POSITIVE_INFINITY) {
    this.at = at;
  }

  step(name: string): void {
    if (!this.isDead) this.steps.push(name);
    if (this.steps.length === this.at + 1) this.isDead = true;
    if (this.isDead) throw new HubKilled(`killed ${name}`);
  }

  /** The same object, with a step before and after each call of these names. */
  on<T extends object>(target: T, names: readonly (keyof T & string)[]): T {
    return new Proxy(target, {
      get: (_, name) => {
        const found = target[name as keyof T];
        if (typeof found !== "function") return found;
        if (!names.includes(name as keyof T & string)) return found.bind(target);
        return (...args: unknown[]) => {
          this.step(`before ${String(name)}`);
          const result = found.apply(target, args);
          const after = (value: unknown): unknown => {
            this.step(`after ${String(name)}`);
            return value;
          };
          return result instanceof Promise ? result.then(after) : after(result);
        };
      },
    });
  }
}

export class HubKilled extends Error {}

export interface HubOptions {
  /** The answer of its agent. */
  readonly answer?: (order: TaskOrder) => string;
  /** Called while a worker is at work. */
  readonly during?: () => Promise<void> | void;
  readonly post?: HubPost;
  readonly killer?: Killer;
  readonly hasDaemon?: () => boolean;
}

const CAPABILITY = "seo:analyze";

/** All hubs of a test have one clock, which stands still: an age is exact to the second. */
const STARTED_MS = Date.now();

export const makeHub = async (
  hub_id: string,
  {
    answer = ({ prompt }) => prompt,
    during = () => undefined,
    post = postToHub,
    killer = new Killer(),
    hasDaemon = () => true,
  }: HubOptions = {},
): Promise<Hub> => {
  const stateDir = mkdtempSync(join(tmpdir(), "holdfast-hub-"));
  const files = killer.on(new ServerFiles(stateDir), ["mark", "remove", "write", "writeOnce"]);
  const registry = new Registry();
  registry.wall_ms = STARTED_MS;
  const trail: Hub["trail"][number][] = [];
  const take = (drafts: readonly RecordDraft[] | HoldfastError): void => {
    for (const draft of registry.take(drafts)) {
      const entry = auditOf(draft, { id: randomBytes(16).toString("hex"), wall_ms: registry.wall_ms });
      if (entry !== undefined) trail.push(entry);
    }
  };
  const known = (id: string): FederatedPeer => {
    const peer = registry.peers.get(id);
    if (peer === undefined) throw new HoldfastError("PEER_NOT_FOUND", `There is no peer "${id}".`);
    return peer;
  };
  const decisions: PeerDesk = {
    show: async (id) => viewOf(known(id)),
    meet: async ({ hub_id: id, ...declared }) => {
      take(decideMeet(known(id), id, declared, registry.deciding()));
      return viewOf(known(id));
    },
    rekey: async ({ hub_id: id, ...change }) => {
      take(decideKeyChange(known(id), id, change, registry.deciding()));
      return viewOf(known(id));
    },
    revoke: async (id, reason) => {
      const peer = known(id);
      take(decideRevoke(peer, id, reason, registry.deciding()));
      return viewOf(peer);
    },
    notify: async (notice) => {
      take(decideNotify(known(notice.hub_id), notice.hub_id, notice.change, registry.deciding()));
      trail.push(noticeOf(notice, { id: randomBytes(16).toString("hex"), wall_ms: registry.wall_ms }));
      return viewOf(known(notice.hub_id));
    },
    admit: async ({ hub_id: id, ...asked }) => {
      const earlier = registry.admissions.get(admissionId(id, asked.direction, asked.task_id));
      const { drafts, refused } = decideAdmit(known(id), asked, earlier, registry.deciding());
      take(drafts);
      if (refused !== undefined) throw refused;
      return viewOf(known(id));
    },
    settle: async ({ hub_id: id, ...ended }) => {
      take(decideSettle(known(id), ended, registry.deciding()));
      return viewOf(known(id));
    },
    audit: async () => ({ entries: [], next: 0, is_end: true }),
  };
  const desk = killer.on(decisions, ["admit", "meet", "settle"]);
  const now = () => registry.wall_ms;
  const orders: TaskOrder[] = [];
  const runtime: TaskWorkers = {
    find: async ({ weblisk_task }) =>
      orders.flatMap(({ labels }, at) =>
        labels.weblisk_task === weblisk_task ? [{ id: String(at), labels }] : [],
      ),
    running: async () => [],
    approvals: async () => [],
    approval: async () => undefined,
    decide: async () => undefined,
    post: async () => undefined,
    trail: desk.audit,
    spawn: async (order) => String(orders.push(order) - 1),
    end: async (id, within_ms) => {
      if (within_ms === 0) return undefined;
      await during();
      const text = answer(orders[Number(id)]!);
      return {
        isSuccess: text !== "",
        text,
        isCut: false,
        attempts: 1,
        changes: [],
        measurements: {},
        begun_ms: now() - 5,
        ended_ms: now(),
      };
    },
    kill: async () => undefined,
    isReachable: async () => hasDaemon(),
  };
  const workers = killer.on(runtime, ["end", "spawn"]);
  const agents = [{ name: "clerk", description: "", capabilities: [], max_concurrent: 4 }];
  const tell = (defect: unknown): never => {
    throw defect;
  };
  const key = ensureIdentity(stateDir, ORCHESTRATOR).key;
  const vault = killer.on(new SealedVault(stateDir), ["seal"]);
  const ground = { files, vault, desk, key, now, randomBytes };
  const roots = [realpathSync(stateDir)];
  const served = {
    stateDir,
    keys: new KeptKeys(stateDir),
    version: "1.2.3",
    url: () => "",
    agents,
    roots,
    workers,
    exchange: async () => "silent" as const,
    now,
    pause: async () => undefined,
    randomBytes,
    tell,
  };
  let gateway: FederationGateway | undefined;
  const { address, close } = await listen(
    {
      answer: async (request) => {
        try {
          return await gateway!.answer(request);
        } catch (cause) {
          if (!(cause instanceof HubKilled)) throw cause;
          start();
          // A proxy before a gateway that is away says so; to the other hub it is silence.
          return { status: 503, body: {}, headers: {} };
        }
      },
    },
    { host: "127.0.0.1", port: 0 },
  );
  const url = `http://127.0.0.1:${address.port}`;
  const own = { hub_id, url, capabilities: [CAPABILITY] };
  /** Makes anew all that a process of it has in memory. */
  const start = (): void => {
    killer.isDead = false;
    const forwarder = new TaskForwarder(served, files, new AgentRegistry(served, files));
    const tasks = new TaskTable(served, files, forwarder);
    gateway = new FederationGateway({ ...served, ...ground, own, offers: { [CAPABILITY]: "clerk" }, tasks });
  };
  keepOwnHub({ files: new ServerFiles(stateDir) }, own);
  start();
  const asker = new HubAsker({ ...ground, stateDir, post, pause: async () => undefined });
  return {
    hub_id,
    url,
    stateDir,
    ground,
    registry,
    asker,
    orders,
    trail,
    add: (peer, terms = {}) => {
      const asked = { hub_id: peer.hub_id, url: peer.url, public_key: null, ...TERMS, ...terms };
      take(decideAdd([...registry.peers.values()], asked, registry.deciding()));
    },
    start,
    revoke: (peer) => take(decideRevoke(known(peer.hub_id), peer.hub_id, "", registry.deciding())),
    close: () => {
      close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
};
