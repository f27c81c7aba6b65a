/** The door: a named token, typed or in the fragment of the URL. */
import { useState } from "preact/hooks";
import { Command, Failure } from "../parts/texts.tsx";
import type { RequestFailure } from "../state/login.ts";

export const LoginPage = ({
  failure,
  isBusy,
  onLogin,
}: {
  readonly failure: RequestFailure | undefined;
  readonly isBusy: boolean;
  readonly onLogin: (secret: string) => void;
}) => {
  const [secret, setSecret] = useState("");
  return (
    <main class="login">
      <h1>Holdfast</h1>
      <p>This command prints an address that opens the dashboard by itself:</p>
      <Command text="agent dashboard" />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (secret.trim() !== "") onLogin(secret.trim());
        }}
      >
        <label for="token">Or a token of yours</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="hft_…"
          value={secret}
          onInput={({ currentTarget }) => setSecret(currentTarget.value)}
        />
        <button type="submit" disabled={isBusy}>
          {isBusy ? "Opening…" : "Open"}
        </button>
      </form>
      <Failure failure={failure} />
    </main>
  );
};
