/** One daemon of `agent top`: its newest view, and its records as they come, for as long as the screen is open. */
import { TOP_FRAME_MS, TOP_SAMPLE_MS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { asHoldfastError, type HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { Context } from "../context.ts";
import { cpuOf, type TopView } from "./state.ts";

/** The screen, as a link needs it. */
interface LinkedScreen {
  readonly connect: Context["connect"];
  /** Between two tries to connect. */
  readonly again_ms: number;
  hear(record: LogRecord): void;
  /** A sentence about the connection; empty once all is well. */
  note(text: string): void;
  isOver(): boolean;
  /** The view has changed. */
  changed(): void;
}

export class TopLink {
  /** Empty if it is the only one. */
  readonly host: string;
  view: TopView | undefined;
  /** Share of one processor by worker, in percent. */
  cpu: ReadonlyMap<string, number> = new Map();
  client: Client | undefined;
  private readonly screen: LinkedScreen;
  /** The view with the newest resources. */
  private sampled: TopView | undefined;
  private isStale = true;
  /** The first connection, while it is made. */
  private first: Promise<Client> | undefined;

  constructor(host: string, screen: LinkedScreen) {
    this.host = host;
    this.screen = screen;
  }

  /** Before the first look: without any daemon there is only an error to show. */
  connect(): Promise<Client> {
    this.first = this.screen.connect();
    return this.first;
  }

  /** Looks at the workers until the user leaves; a daemon that goes away is waited for. */
  async look(): Promise<void> {
    const { screen } = this;
    while (!screen.isOver()) {
      try {
        const connecting = this.first ?? screen.connect();
        this.first = undefined;
        await this.follow(await connecting);
      } catch {
        this.client = undefined;
        if (!screen.isOver()) screen.note("The daemon is gone; its agents run on. Waiting for the next.");
      }
      if (!screen.isOver()) await pause(screen.again_ms);
    }
  }

  private async follow(client: Client): Promise<void> {
    const { screen } = this;
    this.client = client;
    this.isStale = true;
    this.sampled = undefined;
    const { head } = await client.request("daemon/status", {});
    let ended: HoldfastError | undefined;
    client
      .watch({ from: head, follow: true, all: true }, (record) => {
        if (record.type !== "agent.event") this.isStale = true;
        screen.hear(record);
      })
      .catch((cause) => {
        ended = asHoldfastError(cause);
      });
    screen.note("");
    while (!screen.isOver()) {
      await this.refresh(client);
      await pause(TOP_FRAME_MS);
      if (ended !== undefined) throw ended;
    }
  }

  /** Asks for the workers if something has happened to them, and from time to time for what they use. */
  private async refresh(client: Client): Promise<void> {
    const isDue = performance.now() - (this.sampled?.at_ms ?? Number.NEGATIVE_INFINITY) >= TOP_SAMPLE_MS;
    if (!this.isStale && !isDue) return;
    this.isStale = false;
    const [{ workers }, root] = await Promise.all([
      client.request("agent/list", { resources: true }),
      client.request("agent/tree", {}),
    ]);
    const view = { workers, root, at_ms: performance.now() };
    this.cpu = cpuOf(view, this.sampled);
    this.view = view;
    if (isDue) this.sampled = view;
    this.screen.changed();
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
