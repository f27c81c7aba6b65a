/** The profiles of Protocol v1 that this daemon's requests form. */
import { profilesOf } from "../protocol/profiles.ts";
import { Requests } from "../protocol/requests.ts";

export const PROFILES: readonly string[] = profilesOf(Object.keys(Requests));
