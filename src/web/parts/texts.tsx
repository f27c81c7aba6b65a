/** Small texts: states, times, commands, and the words of agents. */
import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { neutralise } from "../../cli/render/terminal.ts";
import { duration } from "../../cli/render/units.ts";
import { atHost } from "../model/commands.ts";
import { signOf } from "../model/states.ts";
import { Connected } from "../state/connected.ts";
import type { RequestFailure } from "../state/login.ts";

export const State = ({
  state,
  isPaused = false,
}: {
  readonly state: string;
  readonly isPaused?: boolean;
}) => {
  const { sign, word, tone } = signOf(state, isPaused);
  return (
    <span class={`state tone-${tone}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {word}
    </span>
  );
};

/** How long ago, or how long until then, with the whole time as its title. */
export const Age = ({
  at,
  now,
  ago = "",
}: {
  readonly at: string | null;
  readonly now: number;
  readonly ago?: string;
}) => {
  if (at === null) return <span class="dim">–</span>;
  const ms = now - Date.parse(at);
  return (
    <time class="figure" dateTime={at} title={new Date(at).toLocaleString()}>
      {Math.abs(ms) < 1_000
        ? "now"
        : ms < 0
          ? `in ${duration(-ms)}`
          : duration(Math.floor(ms / 1_000) * 1_000) + ago}
    </time>
  );
};

/** The words of an agent: no control character of them acts. */
export const Words = ({ text }: { readonly text: string }) => <pre class="words">{neutralise(text)}</pre>;

export const Command = ({ text }: { readonly text: string }) => {
  // There is none before the login.
  const connected = useContext(Connected) as { readonly session: { readonly host?: string } } | undefined;
  return <code class="command">{neutralise(atHost(connected?.session.host, text))}</code>;
};

export const Failure = ({ failure }: { readonly failure: RequestFailure | undefined }) =>
  failure === undefined ? null : (
    <p class="failure" role="alert">
      <span aria-hidden="true">✕ </span>
      {neutralise(failure.message)} {neutralise(failure.suggestion)}
    </p>
  );

export const Empty = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="empty">{children}</p>
);

/** Names and their values, one under the other. */
export const Facts = ({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

export const shownDollars = (usd: number): string =>
  usd === 0 ? "–" : usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;

const THOUSAND = 1_000;
export const shownCount = (count: number): string => {
  if (count < THOUSAND) return String(count);
  if (count < THOUSAND ** 2) return `${(count / THOUSAND).toFixed(count < 10 * THOUSAND ? 1 : 0)}k`;
  return `${(count / THOUSAND ** 2).toFixed(1)}M`;
};
