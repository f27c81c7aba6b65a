/** One hold: its question, what it is about, and its answers. */
import { useContext } from "preact/hooks";
import type { HoldView } from "../../protocol/replies/talk.ts";
import { linkTo } from "../model/address.ts";
import { commandOf } from "../model/commands.ts";
import { Connected } from "../state/connected.ts";
import { Deeds, deed } from "./deeds.tsx";
import { Age, Words } from "./texts.tsx";

const ENDS = new Set(["kill", "stop"]);
const GOOD = new Set(["allow", "continue", "wait"]);
const toneOf = (answer: string): "good" | "bad" | undefined =>
  GOOD.has(answer) ? "good" : ENDS.has(answer) || answer === "deny" ? "bad" : undefined;

const shownInput = (input: unknown): string =>
  typeof input === "string" ? input : JSON.stringify(input, null, 2);

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export const HoldCard = ({ hold, now }: { readonly hold: HoldView; readonly now: number }) => {
  const { path } = useContext(Connected);
  const { id, worker, worker_id, supervisor, question } = hold;
  const named = worker ?? supervisor ?? worker_id ?? id;
  const deeds = hold.answers.map((answer) =>
    deed({
      label: capital(answer),
      command: commandOf("answer", id, answer),
      name: "agent/answer",
      data: { id, answer },
      tone: toneOf(answer),
      ...(ENDS.has(answer) ? { question: `${capital(answer)} ${named}?` } : {}),
    }),
  );
  return (
    <article class="hold" aria-labelledby={`hold-${id}`}>
      <p class="about">
        <span class="reason">{hold.reason}</span>
        {worker_id === null ? <span>{named}</span> : <a href={path + linkTo("worker", worker_id)}>{named}</a>}
        <span class="dim">
          waits for <Age at={hold.since} now={now} />
          {hold.expires_at !== null && (
            <>
              {" "}
              · {hold.otherwise} <Age at={hold.expires_at} now={now} />
            </>
          )}
        </span>
      </p>
      <h2 id={`hold-${id}`}>{question}</h2>
      {hold.input != null && <Words text={shownInput(hold.input)} />}
      <Deeds deeds={deeds} label="Answers" />
    </article>
  );
};
