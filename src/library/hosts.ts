/** Several hosts for one program: their reads with the host in each row, and one watch of all logs. */
import { LOCAL_HOST, parseHost } from "../base/host-address.ts";
import { HOSTS_MAX } from "../base/limits.ts";
import { eachOnce } from "../base/shared-rows.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import type * as replies from "../runtime/replies.ts";
import type { AbortOptions } from "./answers.ts";
import type { LogRecord, RecordType } from "./events.ts";
import { allRecords, type HostWatch } from "./hosts-watch.ts";
import type * as given from "./options.ts";
import { warn } from "./promises.ts";
import type { WatchOptions } from "./run-options.ts";

/** Several hosts, and what the program does with them. */
export interface ConnectHostsOptions extends Pick<given.ConnectOptions, "onApproval" | "report" | "signal"> {
  /** At most 64: `"local"`, an address as `agent --host` takes it, or one with a name, which rows then bear. */
  readonly hosts: readonly (string | { readonly name: string; readonly host: string })[];
  /** The state directory on each of them. Default: that of its user. */
  readonly stateDir?: string;
}

/** The calls of one host that have an answer for several. */
export interface HostCalls {
  list(options?: given.ListOptions): Promise<readonly replies.WorkerView[]>;
  inbox(page?: given.PageOptions): Promise<replies.InboxReply>;
  tree(): Promise<replies.TreeSupervisor>;
  usage(ids?: readonly string[], options?: given.UsageOptions): Promise<replies.UsageReply>;
  status(): Promise<replies.RuntimeStatus>;
  watch(options?: WatchOptions): AsyncIterable<LogRecord>;
  close(): Promise<void>;
}

export type OfHost<T> = T & { readonly host: string };

/** A host that gave no answer, and why. */
export interface HostFailure {
  readonly host: string;
  readonly error: HoldfastError;
}

/** The rows of the hosts that answered, in the order of the hosts, and the hosts that did not. */
export interface HostsReply<T> {
  readonly rows: readonly OfHost<T>[];
  readonly failed: readonly HostFailure[];
}

/** A record of one host. `cursor` continues the watch of all hosts after it. */
export type HostRecord<T extends RecordType = RecordType> = OfHost<Extract<LogRecord, { type: T }>> & {
  readonly cursor: string;
};

/** Without workers: a worker has one host. `from` is 0, or the `cursor` of a record. Default: the live tail of each host. */
export type HostsWatchOptions<T extends RecordType = RecordType> = AbortOptions &
  Pick<WatchOptions<T>, "types" | "kinds" | "follow"> & { readonly from?: 0 | string };

/**
 * The runtimes of several hosts (`Runtime.connect({ hosts })`). A host that cannot be reached is in `failed` of each answer, and is
 * tried again with the next call; a call rejects only if no host answers.
 */
export class HostRuntimes<R extends HostCalls = HostCalls> {
  readonly names: readonly string[];
  readonly #connect: (name: string) => Promise<R>;
  readonly #report: (message: string, cause?: unknown) => void;
  readonly #runtimes = new Map<string, Promise<R>>();

  /** @internal */
  constructor(
    names: readonly string[],
    connect: (name: string) => Promise<R>,
    report: (message: string, cause?: unknown) => void,
  ) {
    this.names = names;
    this.#connect = connect;
    this.#report = report;
  }

  /** The runtime of one host, with every call. Rejects if it cannot be reached. */
  of(name: string): Promise<R> {
    if (!this.names.includes(name))
      return Promise.reject(
        new HoldfastError(
          "INVALID_REQUEST",
          `There is no host "${name}"; there are ${this.names.join(", ")}.`,
        ),
      );
    const known = this.#runtimes.get(name);
    if (known !== undefined) return known;
    const made = this.#connect(name);
    this.#runtimes.set(name, made);
    made.catch(() => this.#runtimes.delete(name));
    return made;
  }

  /** Workers of all hosts, as `Runtime.list`. */
  list(options?: given.ListOptions): Promise<HostsReply<replies.WorkerView>> {
    return this.#rows((runtime) => runtime.list(options));
  }

  /** Everything that waits for a person: the first page of each host, a question of a whole cluster once. Answer with `(await hosts.of(row.host)).answer(row.id, …)`. */
  async inbox(page?: given.PageOptions): Promise<HostsReply<replies.HoldView>> {
    const { rows, failed } = await this.#rows(async (runtime) => (await runtime.inbox(page)).holds);
    return { rows: eachOnce(rows), failed };
  }

  /** One tree a host. */
  tree(): Promise<HostsReply<replies.TreeSupervisor>> {
    return this.#rows(async (runtime) => [await runtime.tree()]);
  }

  /** One reply a host, with its own total. */
  usage(options?: given.UsageOptions): Promise<HostsReply<replies.UsageReply>> {
    return this.#rows(async (runtime) => [await runtime.usage([], options)]);
  }

  /** One row a host. */
  status(): Promise<HostsReply<replies.RuntimeStatus>> {
    return this.#rows(async (runtime) => [await runtime.status()]);
  }

  /**
   * The records of all hosts as they come, each with its host and with a cursor of all. It begins once each host has answered or
   * failed; `report` hears of those that failed. A host that was away, or whose connection is cut, is waited for up to an hour, and
   * goes on where the watch began or where it was; with `follow: false` only those that answer are read. It ends with the hosts'
   * streams, and rejects if each of them has failed.
   */
  watch<T extends RecordType = RecordType>(options: HostsWatchOptions<T> = {}): AsyncIterable<HostRecord<T>> {
    const { from, signal, ...query } = options;
    const watch: HostWatch = {
      begin: () => this.#each((runtime) => runtime.status()),
      status: async (host) => (await this.of(host)).status(),
      records: async (host, start, ended) =>
        (await this.of(host)).watch({ ...query, ...start, signal: ended }),
      report: this.#report,
    };
    return allRecords(watch, { from, signal, follow: query.follow !== false }) as AsyncIterable<
      HostRecord<T>
    >;
  }

  /** Ends the connections alone: daemons and agents go on. */
  async close(): Promise<void> {
    const open = await Promise.allSettled(this.#runtimes.values());
    await Promise.all(open.map((each) => (each.status === "fulfilled" ? each.value.close() : undefined)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #rows<T extends object>(ask: (runtime: R) => Promise<readonly T[]>): Promise<HostsReply<T>> {
    const { rows, failed } = await this.#each(ask);
    return { rows: rows.flatMap(({ host, value }) => value.map((row) => ({ ...row, host }))), failed };
  }

  /** Rejects with the error of the first host if none answers. */
  async #each<T>(ask: (runtime: R) => Promise<T>) {
    const rows: { readonly host: string; readonly value: T }[] = [];
    const failed: HostFailure[] = [];
    const answers = await Promise.allSettled(this.names.map(async (name) => ask(await this.of(name))));
    for (const [at, host] of this.names.entries()) {
      const answer = answers[at]!;
      if (answer.status === "fulfilled") rows.push({ host, value: answer.value });
      else failed.push({ host, error: asHoldfastError(answer.reason) });
    }
    if (rows.length === 0) throw failed[0]!.error;
    return { rows, failed };
  }
}

/** Name and address, as far as a program without types has given them. */
const pairOf = (each: ConnectHostsOptions["hosts"][number] | null): [string, string] =>
  typeof each === "string" ? [each, each] : ([each?.name, each?.host] as [string, string]);

/** Rejects if the hosts are no hosts, or if none can be reached. `connect` makes the runtime of one. */
export const connectHosts = async <R extends HostCalls>(
  { hosts, ...rest }: ConnectHostsOptions,
  connect: (options: given.ConnectOptions) => Promise<R>,
): Promise<HostRuntimes<R>> => {
  const pairs = Array.isArray(hosts) ? hosts.map(pairOf) : [];
  const named = new Map(pairs);
  const isHost = ([name, host]: readonly [unknown, unknown]): boolean =>
    typeof name === "string" &&
    typeof host === "string" &&
    (host === LOCAL_HOST || parseHost(host) !== undefined);
  const isWhole = named.size === pairs.length && pairs.every(isHost);
  if (!isWhole || named.size === 0 || named.size > HOSTS_MAX)
    throw new HoldfastError(
      "INVALID_REQUEST",
      `hosts: 1 to ${HOSTS_MAX} hosts, each once: ssh://[USER@]MACHINE[:PORT], exec:PROGRAM ARGUMENT…, "${LOCAL_HOST}", or { name, host }.`,
      { phase: "validation" },
    );
  const all = new HostRuntimes<R>(
    [...named.keys()],
    (name) => {
      const host = named.get(name)!;
      return connect(host === LOCAL_HOST ? rest : { ...rest, host });
    },
    rest.report ?? warn,
  );
  try {
    const { failed } = await all.status();
    const mistaken = failed.find(({ error }) => error.code === "INVALID_REQUEST");
    if (mistaken !== undefined) throw mistaken.error;
    return all;
  } catch (error) {
    await all.close();
    throw error;
  }
};
