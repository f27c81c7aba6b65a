/** agent top: the workers live on the alternate screen of a terminal, and keys for what a person does with them. */
import { emitKeypressEvents } from "node:readline";
import type { ReadStream } from "node:tty";
import {
  HOST_AGAIN_POLL_MS,
  NEXT_DAEMON_POLL_MS,
  TOP_FRAME_MS,
  TOP_RECORDS_MAX,
  TOP_SEMI_SPACE_MAX_MIB,
  V8_THREADS,
} from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import { beginAnew } from "../begin-anew.ts";
import type { CommandHandler, Context } from "../context.ts";
import { LineWriter } from "../render/line.ts";
import { makePrinter } from "../render/pieces.ts";
import { isShown } from "../render/sentences.ts";
import { neutralise, wrapLines } from "../render/terminal.ts";
import { renderText } from "../render/text.ts";
import { bodyRows, frameOf, type TopSize } from "../top/frame.ts";
import { idAt, isOf, together } from "../top/hosts.ts";
import { type Key, pressed } from "../top/keys.ts";
import { pause, TopLink } from "../top/link.ts";
import { drawn, ENTER_SCREEN, LEAVE_SCREEN } from "../top/screen.ts";
import {
  EMPTY,
  heard,
  type TopDeed,
  type TopMode,
  type TopState,
  type TopWork,
  viewed,
} from "../top/state.ts";
import { newestRecords } from "./logs.ts";

export const top: CommandHandler = async (context) => {
  if (context.mode !== "text" || !context.isStdoutTerminal || !context.isStdinTerminal())
    throw new HoldfastError("INVALID_REQUEST", "agent top needs a terminal.", {
      phase: "validation",
      suggestion: "For a script: agent list --wide -o json",
    });
  // It stays for hours and makes little garbage: Node's own bounds would keep 12 MB more.
  beginAnew([`--max-semi-space-size=${TOP_SEMI_SPACE_MAX_MIB}`, `--v8-pool-size=${V8_THREADS}`]);
  await new Top(context, process.stdin as ReadStream).run();
  return success({});
};

/** Records of a worker that `l` shows. */
const LOG_RECORDS = 500;

class Top {
  private readonly context: Context;
  private readonly keyboard: ReadStream;
  private state: TopState = EMPTY;
  private shown: readonly string[] = [];
  private readonly links: readonly TopLink[];
  /** The link to which the question on the screen belongs. */
  private asked: TopLink | undefined;
  /** Those since the last frame. */
  private readonly records: LogRecord[] = [];
  private hasChanged = false;
  private isOver = false;
  private done: () => void = () => undefined;

  constructor(context: Context, keyboard: ReadStream) {
    this.context = context;
    this.keyboard = keyboard;
    const { hosts = [] } = context.call;
    this.links =
      hosts.length > 1
        ? hosts.map((host) => this.linkTo(host.name, context.connectTo(host), host.address !== undefined))
        : [this.linkTo("", context.connect, context.host !== undefined)];
  }

  private linkTo(host: string, connect: Context["connect"], isElsewhere: boolean): TopLink {
    return new TopLink(host, {
      connect,
      again_ms: isElsewhere ? HOST_AGAIN_POLL_MS : NEXT_DAEMON_POLL_MS,
      hear: (record) => {
        this.records.push(record);
        if (this.records.length >= TOP_RECORDS_MAX) this.hear();
      },
      note: (text) => this.note(host === "" || text === "" ? text : `${host}: ${text}`),
      isOver: () => this.isOver,
      changed: () => {
        this.hasChanged = true;
        // The first view need not wait for the next frame.
        if (this.state.workers === EMPTY.workers) this.frame();
      },
    });
  }

  async run(): Promise<void> {
    const { context, keyboard } = this;
    // Before the screen changes: without a daemon there is only an error to show.
    await Promise.any(this.links.map((link) => link.connect())).catch(({ errors }: AggregateError) => {
      throw errors[0];
    });
    const over = new Promise<void>((resolve) => {
      this.done = resolve;
    });
    context.cleanups.push(() => this.leave());
    emitKeypressEvents(keyboard);
    const onKey = (text: string | undefined, key: { readonly name?: string; readonly ctrl?: boolean }) =>
      this.press({ ...key, text });
    const onResize = () => this.redraw();
    keyboard.on("keypress", onKey);
    process.stdout.on("resize", onResize);
    process.on("SIGCONT", onResize);
    this.enter();
    // The end waits for none of them: a host may not answer for a minute.
    void Promise.all([this.show(), ...this.links.map((link) => link.look())]);
    await over;
    this.isOver = true;
    process.off("SIGCONT", onResize);
    process.stdout.off("resize", onResize);
    keyboard.off("keypress", onKey);
    this.leave();
    for (const { client } of this.links) client?.close();
  }

  private size(): TopSize {
    const { rows, columns } = process.stdout;
    return { rows: rows ?? 24, columns: columns ?? 80 };
  }

  private enter(): void {
    this.keyboard.setRawMode(true);
    this.keyboard.resume();
    void this.context.stdout(ENTER_SCREEN);
    this.shown = [];
  }

  private leave(): void {
    if (!this.keyboard.isRaw) return;
    this.keyboard.setRawMode(false);
    this.keyboard.pause();
    void this.context.stdout(LEAVE_SCREEN);
  }

  /** Draws everything, on a screen that another program may have used meanwhile. */
  private redraw(): void {
    this.enter();
    this.draw();
  }

  private draw(): void {
    const frame = frameOf(this.state, this.size(), Date.now(), this.context.paint);
    const bytes = drawn(this.shown, frame);
    this.shown = frame;
    if (bytes !== "") void this.context.stdout(bytes);
  }

  /** Shows new words at least so often. */
  private async show(): Promise<void> {
    while (!this.isOver) {
      this.frame();
      await pause(TOP_FRAME_MS);
    }
  }

  private frame(): void {
    if (this.isOver) return;
    this.hear();
    if (this.hasChanged) this.view();
    this.draw();
  }

  private hear(): void {
    if (this.records.length > 0) this.state = heard(this.state, this.records.splice(0));
  }

  private view(): void {
    this.hasChanged = false;
    const views = this.links.flatMap(({ host, view }) => (view === undefined ? [] : [{ host, view }]));
    const view = this.links.length === 1 ? views[0]?.view : together(views);
    const cpu = new Map(this.links.flatMap((link) => [...link.cpu]));
    if (view !== undefined) this.state = viewed(this.state, view, cpu);
  }

  private press(key: Key): void {
    const { state, deed } = pressed(this.state, key, bodyRows(this.size()));
    this.state = state;
    if (deed !== undefined) this.carryOut(deed);
    this.draw();
  }

  private note(note: string): void {
    this.state = { ...this.state, note };
    this.draw();
  }

  private enterMode(mode: TopMode): void {
    this.state = { ...this.state, mode };
  }

  private carryOut(deed: TopDeed): void {
    if (deed.type === "quit") {
      this.done();
    } else if (deed.type === "suspend") {
      this.leave();
      process.kill(process.pid, "SIGTSTP");
    } else {
      const link = deed.type === "answer" ? this.asked : this.linkOf(deed.id);
      if (link?.client === undefined) this.note("There is no daemon now.");
      else this.work(link, link.client, deed).catch((cause) => this.note(asHoldfastError(cause).message));
    }
  }

  private linkOf(id: string): TopLink | undefined {
    const [only, ...more] = this.links;
    if (more.length === 0) return only;
    return this.links.find(({ host, view }) => view !== undefined && isOf(host, view, id));
  }

  private async work(link: TopLink, client: Client, asked: TopWork): Promise<void> {
    const deed = asked.type === "answer" ? asked : { ...asked, id: idAt(link.host, asked.id) };
    switch (deed.type) {
      case "kill":
        await client.request("agent/kill", { ids: [deed.id] });
        return this.note(`agent kill ${deed.ref}`);
      case "restart":
        await client.request("agent/restart", { ids: [deed.id] });
        return this.note(`agent restart ${deed.ref}`);
      case "pause":
        await client.request("agent/pause", { ids: [deed.id] });
        return this.note(`agent pause ${deed.ref}`);
      case "unpause":
        await client.request("agent/unpause", { ids: [deed.id] });
        return this.note(`agent unpause ${deed.ref}`);
      case "answer":
        await client.request("agent/answer", { id: deed.hold, answer: deed.answer });
        return this.note(`agent answer ${deed.ref} ${deed.answer}`);
      case "question": {
        const { holds } = await client.request("agent/inbox", { id: deed.id });
        const hold = holds.find(({ answers }) => answers.length > 0);
        if (hold === undefined) return this.note(`${deed.ref} does not wait for you any more.`);
        const { id, question, answers } = hold;
        this.asked = link;
        this.enterMode({
          type: "question",
          hold: id,
          ref: deed.ref,
          question: neutralise(question),
          answers,
        });
        return this.draw();
      }
      case "why": {
        const reply = await client.request("agent/why", { id: deed.id });
        return this.page(`agent why ${deed.ref}`, renderText("agent/why", reply, this.textContext()), false);
      }
      case "logs": {
        const worker = await client.request("agent/info", { id: deed.id });
        const lines = new LineWriter(this.context.paint, { verbose: false, columns: this.size().columns });
        lines.know(worker.id, worker.name);
        const printer = makePrinter(lines);
        const records = await newestRecords(client, worker, LOG_RECORDS, { shown: isShown });
        return this.page(`agent logs ${deed.ref}`, records.map(printer.record).join("").trimEnd(), true);
      }
    }
  }

  private textContext() {
    const { paint, flags } = this.context;
    return { paint, flags, now: Date.now(), terminal: true, columns: this.size().columns };
  }

  private page(title: string, text: string, isAtEnd: boolean): void {
    const lines = wrapLines(text, this.size().columns).split("\n");
    this.enterMode({
      type: "page",
      title,
      lines,
      top: isAtEnd ? Math.max(0, lines.length - bodyRows(this.size())) : 0,
    });
    this.draw();
  }
}
