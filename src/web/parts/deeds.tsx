/** The deeds of a person: a button, beside it the command that does the same, and a question before what cannot be undone. */
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { neutralise } from "../../cli/render/terminal.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import { Connected } from "../state/connected.ts";
import { asFailure, RequestFailure } from "../state/login.ts";
import { Command, Failure } from "./texts.tsx";

export interface DeedRequest<N extends RequestName = RequestName> {
  readonly label: string;
  readonly command: string;
  readonly name: N;
  readonly data: RequestInput<N>;
  /** Asked before it is done, for what ends something. */
  readonly question?: string;
  readonly tone?: "good" | "bad";
  readonly onDone?: () => void;
}

/** The name determines the data, which a list of deeds cannot express. */
export const deed = <N extends RequestName>(one: DeedRequest<N>): DeedRequest =>
  one as unknown as DeedRequest;

interface ItemResult {
  readonly ok: boolean;
  readonly error: { readonly message: string; readonly suggestion?: string } | null;
}

/** A request about several workers succeeds although one of them refused. */
const refusalIn = (reply: unknown): RequestFailure | undefined => {
  const { results = [] } = reply as { readonly results?: readonly ItemResult[] };
  const error = results.find(({ ok }) => !ok)?.error;
  return error == null ? undefined : new RequestFailure(error.message, { suggestion: error.suggestion });
};

const Question = ({
  one,
  onAnswer,
}: {
  readonly one: DeedRequest;
  readonly onAnswer: (isSure: boolean) => void;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onCancel={() => onAnswer(false)} aria-labelledby="question">
      <h2 id="question">{neutralise(one.question ?? "")}</h2>
      <Command text={one.command} />
      <div class="answers">
        <button type="button" onClick={() => onAnswer(false)}>
          Leave it
        </button>
        <button type="button" class="bad" onClick={() => onAnswer(true)}>
          {one.label}
        </button>
      </div>
    </dialog>
  );
};

const Deed = ({ one }: { readonly one: DeedRequest }) => {
  const { session } = useContext(Connected);
  const [step, setStep] = useState<"idle" | "asking" | "busy" | "done">("idle");
  const [failure, setFailure] = useState<RequestFailure>();
  const act = async (): Promise<void> => {
    setStep("busy");
    setFailure(undefined);
    try {
      const refusal = refusalIn(await session.ask(one.name, one.data));
      if (refusal !== undefined) throw refusal;
      setStep("done");
      one.onDone?.();
    } catch (cause) {
      setFailure(asFailure(cause));
      setStep("idle");
    }
  };
  const answered = (isSure: boolean): void => {
    if (isSure) void act();
    else setStep("idle");
  };
  return (
    <li class="deed">
      <button
        type="button"
        class={one.tone ?? ""}
        disabled={step === "busy"}
        onClick={() => (one.question === undefined ? void act() : setStep("asking"))}
      >
        {one.label}
      </button>
      <Command text={one.command} />
      {step === "done" && (
        <span class="done" role="status">
          ✓ done
        </span>
      )}
      <Failure failure={failure} />
      {step === "asking" && <Question one={one} onAnswer={answered} />}
    </li>
  );
};

/** Nothing is offered that this token may not ask for. */
export const Deeds = ({
  deeds,
  label,
}: {
  readonly deeds: readonly DeedRequest[];
  readonly label: string;
}) => {
  const { session } = useContext(Connected);
  const possible = deeds.filter(({ name }) => session.can(name));
  return possible.length === 0 ? null : (
    <ul class="deeds" aria-label={label}>
      {possible.map((one) => (
        <Deed key={`${one.label} ${one.command}`} one={one} />
      ))}
    </ul>
  );
};
