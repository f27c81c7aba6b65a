/** Who said it? Records by their words, newest first, each with the worker that it is about. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { SEARCH_PAGE_DEFAULT, SEARCH_TEXT_ASKED_MAX_CHARS } from "../../base/limits.ts";
import { neutralise } from "../../cli/render/terminal.ts";
import type { SearchHit } from "../../protocol/replies/search.ts";
import { linkTo, type PageAddress } from "../model/address.ts";
import { commandOf } from "../model/commands.ts";
import { markedParts } from "../model/marked.ts";
import { Age, Command, Empty, Failure } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";
import { refilter, useNow } from "../state/hooks.ts";

/** A search is about the past: no record that comes asks again. */
const isNeverTouched = (): boolean => false;

const Marked = ({ hit }: { readonly hit: SearchHit }): ComponentChildren =>
  markedParts(hit.text, hit.marks).map(({ text, isMatch }, index) =>
    isMatch ? <mark key={index}>{neutralise(text)}</mark> : neutralise(text),
  );

const Hit = ({ hit, now }: { readonly hit: SearchHit; readonly now: number }) => (
  <li class="hit">
    <p class="about">
      {hit.worker_id === null ? (
        <span>{hit.stream}</span>
      ) : (
        <a href={linkTo("worker", hit.worker_id)}>{hit.worker_name ?? hit.worker_id}</a>
      )}
      <span class="dim">{hit.kind ?? hit.type}</span>
      <span class="dim">
        <Age at={hit.recorded_at} now={now} ago=" ago" />
      </span>
    </p>
    <p class="found">
      <Marked hit={hit} />
    </p>
  </li>
);

export const SearchPage = ({ address }: { readonly address: PageAddress }) => {
  const { q = "" } = address.filters;
  const [typed, setTyped] = useState(q);
  const now = useNow();
  const asked = q === "" ? undefined : { text: q, limit: SEARCH_PAGE_DEFAULT };
  const { reply, failure } = useAnswer("agent/search", asked, isNeverTouched);
  return (
    <main class="finds">
      <header class="title">
        <h1>Who said it?</h1>
        <Command text={commandOf("search", q === "" ? "WORDS" : q)} />
      </header>
      <search>
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            refilter(address, { q: typed.trim() });
          }}
        >
          <label class="grows">
            <span class="unseen">Words of agents and of the supervisor</span>
            <input
              type="search"
              placeholder={'words, "a phrase", begin*'}
              maxLength={SEARCH_TEXT_ASKED_MAX_CHARS}
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          </label>
          <button type="submit">Search</button>
        </form>
      </search>
      <Failure failure={failure} />
      {reply?.hits.length === 0 && <Empty>No record has these words.</Empty>}
      <ol class="hits" aria-label="Records">
        {reply?.hits.map((hit) => (
          <Hit key={hit.seq} hit={hit} now={now} />
        ))}
      </ol>
      {reply?.cursor !== undefined && <Empty>There are older ones: the command shows all of them.</Empty>}
    </main>
  );
};
