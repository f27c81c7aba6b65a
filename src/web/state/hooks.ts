/** Small facts of the browser that parts of the page follow. */
import { useContext, useEffect, useState } from "preact/hooks";
import { addressOf, linkTo, type PageAddress } from "../model/address.ts";
import { Connected } from "./connected.ts";
import type { FeedState } from "./feed.ts";

const SECOND_MS = 1_000;

/** The time of day in milliseconds, every second. */
export const useNow = (): number => {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
};

/** The page that the URL names. */
export const useAddress = (): PageAddress => {
  const [address, setAddress] = useState(() => addressOf(location.hash));
  useEffect(() => {
    const read = (): void => setAddress(addressOf(location.hash));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return address;
};

/** Puts filters into the URL in the place of the present ones, without a step back for each. */
export const refilter = (
  { page, id, filters }: PageAddress,
  changed: Readonly<Record<string, string>>,
): void => location.replace(linkTo(page, id, { ...filters, ...changed }));

export const useFeedState = (): FeedState => {
  const { feed } = useContext(Connected);
  const [state, setState] = useState(feed.state);
  useEffect(() => {
    setState(feed.state);
    return feed.onState(setState);
  }, [feed]);
  return state;
};
