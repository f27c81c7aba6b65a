/** The tabs of a worker: its words, why it is as it is, its changes, its cost, and the messages to it. */
import { useContext, useState } from "preact/hooks";
import { sentenceOf } from "../../cli/render/sentences.ts";
import { neutralise, oneLine } from "../../cli/render/terminal.ts";
import { bytes, clock, duration } from "../../cli/render/units.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { WorkerInfo } from "../../protocol/replies/workers.ts";
import { commandOf, typedName } from "../model/commands.ts";
import { changesWorkers } from "../model/refresh.ts";
import { dollarsOf, tokensOf } from "../model/worker-rows.ts";
import { Deeds, deed } from "../parts/deeds.tsx";
import { Age, Command, Empty, Failure, shownCount, shownDollars, Words } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";
import { Connected } from "../state/connected.ts";
import { useNow } from "../state/hooks.ts";

export const OutputTab = ({
  id,
  name,
  maxBytes,
}: {
  readonly id: string;
  readonly name: string;
  readonly maxBytes: number;
}) => {
  const { reply, failure } = useAnswer("agent/output", { id, max_bytes: maxBytes }, changesWorkers);
  return (
    <section aria-label="Output">
      <Command text={commandOf("output", name)} />
      <Failure failure={failure} />
      {reply?.text === "" && <Empty>It has not answered yet.</Empty>}
      {reply !== undefined && reply.text !== "" && <Words text={reply.text} />}
      {reply?.truncated === true && <Empty>It goes on: the command shows all of it.</Empty>}
    </section>
  );
};

export const WhyTab = ({ id, name }: { readonly id: string; readonly name: string }) => {
  const { reply, failure } = useAnswer("agent/why", { id }, changesWorkers);
  return (
    <section aria-label="Why">
      <Command text={commandOf("why", name)} />
      <Failure failure={failure} />
      {reply !== undefined && (
        <>
          <p class="because">{reply.reason}</p>
          {reply.suggestion !== null && <p>{reply.suggestion}</p>}
          <ol class="decisions">
            {(reply.records as readonly LogRecord[]).map((record) => (
              <li key={record.seq}>
                <span class="figure dim">{clock(record.recorded_at)}</span>{" "}
                <span class={`tone-${sentenceOf(record).tone}`}>{oneLine(sentenceOf(record).text, 400)}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
};

const CHANGE_SIGNS: Readonly<Record<string, string>> = {
  added: "+",
  modified: "~",
  deleted: "−",
  renamed: "→",
  type_changed: "~",
};

export const ChangesTab = ({ info }: { readonly info: WorkerInfo }) => {
  const hasWorktree = info.workspace !== null;
  const asked = hasWorktree ? { id: info.id } : undefined;
  const { reply, failure } = useAnswer("agent/changes", asked, changesWorkers);
  if (!hasWorktree)
    return (
      <section aria-label="Changes">
        <Empty>It works in the directory itself: only a worker with --worktree has changes of its own.</Empty>
      </section>
    );
  return (
    <section aria-label="Changes">
      <Command text={commandOf("changes", typedName(info))} />
      <Failure failure={failure} />
      {reply?.files.length === 0 && <Empty>Nothing has changed.</Empty>}
      {reply !== undefined && reply.files.length > 0 && (
        <>
          <p>
            {reply.totals.files} files, <span class="tone-good">+{reply.totals.insertions}</span>{" "}
            <span class="tone-bad">−{reply.totals.deletions}</span> on <code>{reply.workspace.branch}</code>
          </p>
          <ul class="files">
            {reply.files.map((file) => (
              <li key={file.path}>
                <span title={file.change}>
                  <span aria-hidden="true">{CHANGE_SIGNS[file.change]} </span>
                  <span class="unseen">{file.change} </span>
                </span>
                <code>{oneLine(file.path, 400)}</code>{" "}
                <span class="tone-good">+{file.insertions ?? "binary"}</span>{" "}
                <span class="tone-bad">−{file.deletions ?? "binary"}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
};

export const UsageTab = ({ info }: { readonly info: WorkerInfo }) => (
  <section aria-label="Usage">
    <Command text={commandOf("usage", typedName(info))} />
    <p class="sums">
      <b>{shownDollars(dollarsOf(info.usage))}</b> {shownCount(tokensOf(info.usage))} tokens · {info.turns}{" "}
      turns · {info.tool_calls} tool calls · {duration(info.turn_ms)}
    </p>
    {info.turn_list.length === 0 && <Empty>No turn has been completed.</Empty>}
    {info.turn_list.length > 0 && (
      <div class="scrolls">
        <table>
          <thead>
            <tr>
              <th scope="col">run</th>
              <th scope="col">turn</th>
              <th scope="col">began</th>
              <th scope="col">took</th>
              <th scope="col">model</th>
              <th scope="col">tools</th>
              <th scope="col">in</th>
              <th scope="col">cached</th>
              <th scope="col">out</th>
              <th scope="col">cost</th>
            </tr>
          </thead>
          <tbody>
            {[...info.turn_list].reverse().map((turn) => (
              <tr key={`${turn.incarnation}.${turn.turn}`}>
                <td>{turn.incarnation}</td>
                <td>{turn.turn}</td>
                <td>{clock(turn.started_at).slice(0, 8)}</td>
                <td>{turn.duration_ms === null ? "open" : duration(turn.duration_ms)}</td>
                <td class="text">{turn.models?.map(({ model }) => model ?? "unknown").join(", ") ?? "–"}</td>
                <td>{turn.tool_calls ?? "–"}</td>
                <td>{turn.usage === null ? "–" : shownCount(turn.usage.input_tokens)}</td>
                <td>{turn.usage === null ? "–" : shownCount(turn.usage.cached_tokens)}</td>
                <td>{turn.usage === null ? "–" : shownCount(turn.usage.output_tokens)}</td>
                <td>{turn.usage === null ? "–" : shownDollars(dollarsOf(turn.usage))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </section>
);

const isMessage = ({ type }: LogRecord): boolean => type === "worker_message";
const MESSAGES_SHOWN = 100;

/** Its text with the command that sends it. */
const Sender = ({ info }: { readonly info: WorkerInfo }) => {
  const [text, setText] = useState("");
  const [sent, setSent] = useState(0);
  const send = deed({
    label: "Send",
    command: commandOf("send", typedName(info), text === "" ? "TEXT" : text),
    name: "agent/send",
    data: { id: info.id, text },
    onDone: () => {
      setText("");
      setSent((count) => count + 1);
    },
  });
  return (
    <div class="sender">
      <label>
        <span>A message to the agent</span>
        <textarea rows={3} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <Deeds key={sent} deeds={text === "" ? [] : [send]} label="Send" />
    </div>
  );
};

export const MessagesTab = ({ info }: { readonly info: WorkerInfo }) => {
  const now = useNow();
  const { session } = useContext(Connected);
  const { reply, failure } = useAnswer("agent/messages", { id: info.id, limit: MESSAGES_SHOWN }, isMessage);
  const listens = info.spec.interactive && session.can("agent/send") && info.ended_at === null;
  return (
    <section aria-label="Messages">
      <Command text={commandOf("messages", typedName(info))} />
      <Failure failure={failure} />
      {listens && <Sender info={info} />}
      {!info.spec.interactive && <Empty>It reads no messages: only an agent with --interactive does.</Empty>}
      <ul class="messages">
        {reply?.messages.map((message) => (
          <li key={message.message_id}>
            <span class="figure">
              <Age at={message.accepted_at} now={now} />
            </span>{" "}
            <b>{message.state}</b> {message.line ? "line of its protocol" : bytes(message.bytes)}{" "}
            {message.reason !== null && <span class="dim">{neutralise(message.reason)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
};
