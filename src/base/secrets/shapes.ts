/**
 * Shapes of keys and tokens with an unmistakable beginning. Each is a beginning and a pattern for the rest. The characters
 * before it are ignored, so that a colour code, a dash or a letter in front hides no token. docs/reference/secrets.md
 * compares the table with a public list. No shape has a pattern after an unbounded run, so the search stays linear.
 */

import { escaped, type SecretRule } from "./scan.ts";

export const MASK = "***";

/** Literal beginnings, and the regular expression for the rest. */
type Shape = readonly [begins: readonly string[], body: string];

const HEX = "[A-Fa-f0-9]";
const ALNUM = "[A-Za-z0-9]";

/** These beginnings are clear after any character. */
const CLEAR: readonly Shape[] = [
  // Models: Anthropic, OpenAI, OpenRouter, xAI, Perplexity, NVIDIA, Groq, Replicate, E2B, Hugging Face, Tavily, LangSmith
  [["sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-"], "[\\w-]{8,}"],
  [["xai-", "pplx-", "nvapi-"], "[\\w-]{40,}"],
  [["gsk_", "r8_", "e2b_", "hf_", "api_org_"], `${ALNUM}{30,}`],
  [["tvly-"], "[\\w-]{20,}"],
  [["lsv2_pt_", "lsv2_sk_"], "\\w{32,}"],
  // Code hosts and registries: GitHub, GitLab, npm, Prefect, PyPI, RubyGems, Clojars, Sourcegraph, Sonar, Atlassian
  [["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], `${ALNUM}{20,}`],
  [["github_pat_"], "\\w{20,}"],
  [["glpat-", "gldt-", "glft-", "glrt-", "glrtr-", "glptt-"], `[\\w-]{16,}(?:\\.${ALNUM}{2,9}){0,2}`],
  [["glcbt-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "GR1348941"], "[\\w-]{16,}"],
  [["npm_", "pnu_"], `${ALNUM}{30,}`],
  [["pypi-"], "[\\w-]{50,}"],
  [["rubygems_"], `${HEX}{48}`],
  [["CLOJARS_"], `${ALNUM}{60}`],
  [["sgp_"], "[A-Fa-f0-9_]{40,}"],
  [["squ_", "sqp_", "sqa_"], `${HEX}{40}`],
  [["ATATT3", "ATCTT3"], "[\\w=-]{60,}"],
  [["ATBB"], `${ALNUM}{32}`],
  // Clouds: AWS, Google, Alibaba, Cloudflare, DigitalOcean, Fly, Heroku, Scalingo, OpenShift, PlanetScale, Supabase, Databricks
  [["AKIA", "ASIA", "ABIA", "ACCA"], "[A-Z0-9]{16}(?![A-Z0-9])"],
  [["ABSK"], "[A-Za-z0-9+/]{100,}"],
  [["bedrock-api-key-"], "[A-Za-z0-9+/=]{20,}"],
  [["AIza"], "[\\w-]{30,}"],
  [["ya29."], "[\\w-]{20,}"],
  [["GOCSPX-"], "[\\w-]{20,}"],
  [["LTAI"], `${ALNUM}{20}`],
  [["v1.0-"], `${HEX}{24}-${HEX}{100,}`],
  [["doo_v1_", "dop_v1_", "dor_v1_"], `${HEX}{64}`],
  [["fo1_"], "[\\w-]{43}"],
  [["fm1a_", "fm1r_", "fm2_"], "[A-Za-z0-9+/]{100,}"],
  [["HRKU-AA"], "[\\w-]{50,}"],
  [["tk-us-"], "[\\w-]{48}"],
  [["sha256~"], "[\\w-]{43}"],
  [["pscale_tkn_", "pscale_oauth_", "pscale_pw_"], "[\\w=.-]{32,}"],
  [["sbp_", "sb_secret_"], "\\w{30,}"],
  // Payment and shops: Stripe, Square, Shopify, Shippo, Flutterwave, EasyPost, Duffel
  [
    ["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "pk_live_", "pk_test_"],
    `${ALNUM}{10,}`,
  ],
  [["whsec_"], "[A-Za-z0-9+/]{16,}"],
  [["sq0atp-", "sq0csp-"], "[\\w-]{22,}"],
  [["shpat_", "shpca_", "shppa_", "shpss_"], `${HEX}{32}`],
  [["shippo_live_", "shippo_test_"], `${HEX}{40}`],
  [["FLWSECK_TEST-", "FLWSECK-"], `${ALNUM}{12,}`],
  [["EZAK", "EZTK"], `${ALNUM}{54}`],
  [["duffel_live_", "duffel_test_"], "[\\w=-]{40,}"],
  // Chat and mail: Slack, Teams, SendGrid, Brevo, Typeform
  [["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], "[A-Za-z0-9-]{8,}"],
  [
    ["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
    "[A-Za-z0-9+/]{30,}",
  ],
  [[".webhook.office.com/webhookb2/"], "[\\w@/-]{36,}"],
  [["SG."], "[\\w-]{16,32}\\.[\\w-]{32,}"],
  [["xkeysib-", "xsmtpsib-"], `${HEX}{64}-${ALNUM}{16}`],
  [["tfp_"], "[\\w.=-]{40,}"],
  // Tokens of this project (`agent token create`).
  [["hft_"], `${HEX}{64}`],
  // Operations: Vault, Pulumi, Grafana, New Relic, Sentry, Dynatrace, Doppler, Postman, Octopus, Artifactory
  [["hvs.", "hvb.", "hvr."], "[\\w-]{24,}"],
  [["pul-"], `${HEX}{40}`],
  [["glc_"], "[A-Za-z0-9+/]{32,}"],
  [["glsa_"], `${ALNUM}{32}_${HEX}{8}`],
  [["NRAK-", "NRII-", "NRJS-", "NRIQ-"], "[A-Za-z0-9-]{19,}"],
  [["sntrys_", "sntryu_"], "[\\w+/=]{40,}"],
  [["dt0c01.", "dt0s01."], `${ALNUM}{24}\\.${ALNUM}{60,}`],
  [["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], "[\\w.]{40,}"],
  [["PMAK-", "PMAT-"], "[A-Za-z0-9-]{40,}"],
  [["API-"], "[A-Z0-9]{26}(?![A-Z0-9])"],
  [["AKCp"], `${ALNUM}{60,}`],
  // Others: 1Password, age, Linear, Notion, Figma, ReadMe, Frame.io, Harness, SettleMint, 42, Adobe
  [["A3-"], "[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}"],
  [["ops_eyJ"], "[A-Za-z0-9+/=_-]{50,}"],
  [["AGE-SECRET-KEY-1"], "[A-Z0-9]{50,}"],
  [["lin_api_", "lin_oauth_"], `${ALNUM}{32,}`],
  [["ntn_"], `[0-9]{11}${ALNUM}{35}`],
  [["figd_"], "[\\w-]{40,}"],
  [["rdme_"], `${ALNUM}{70}`],
  [["fio-u-"], "[\\w=-]{60,}"],
  [["pat.", "sat."], `[\\w-]{22}\\.${ALNUM}{24}\\.${ALNUM}{20}`],
  [["sm_aat_", "sm_pat_", "sm_sat_"], `${ALNUM}{16}`],
  [["s-s4t2ud-", "s-s4t2af-"], `${HEX}{64}`],
  [["p8e-"], `${ALNUM}{32}`],
];

/** These beginnings also occur inside words and in base64, so they count only at the beginning of a word. */
const AT_A_START: readonly Shape[] = [
  [["sk-"], `${ALNUM}[\\w-]{18,}`],
  [["SK"], "[a-f0-9]{32}"],
  [["ico-"], `${ALNUM}{32}`],
  [["EAA"], `[A-Z]${ALNUM}{50,}`],
  [["ZXlK", "eyJrIjoi"], "[A-Za-z0-9+/]{40,}={0,2}"],
  [["cmVmd"], `${ALNUM}{59}`],
  [["dapi"], `${HEX}{32}`],
  [["AQVN", "YCAJ"], "[\\w-]{35,}"],
];

/** After a letter (another word may end in `sk`), a key must have digits and letters of both cases. */
const SK_IN_A_WORD = `sk-(?=[A-Za-z]{0,40}\\d)(?=[a-z0-9]{0,40}[A-Z])(?=[A-Z0-9]{0,40}[a-z])${ALNUM}{32,}`;

/** The beginning of a word: also after a colour code, an escape inside JSON, or a byte of a URL. */
export const WORD_START = "(?:(?<![A-Za-z0-9])|(?<=\\[[\\d;]{0,16}m)|(?<=\\\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))";

const hidden = (): string => MASK;
/** The part that stays, and the mask. */
const after = (kept: RegExp) => (match: string) => `${kept.exec(match)?.[0] ?? ""}${MASK}`;

const rulesOf = (shapes: readonly Shape[], before: string): readonly SecretRule[] =>
  shapes.flatMap(([begins, body]) =>
    begins.map((tells) => ({ tells, match: `${before}${escaped(tells)}${body}`, shown: hidden })),
  );

/** `https://TOKEN@host` and `https://user:password@host`: the text before the colon stays if it reads like a name. */
const shownUser = (match: string): string | undefined => {
  const [, user = "", password] = /^:\/\/([^:]*)(:[\s\S]*)?$/.exec(match) ?? [];
  const isToken = /^(?=\D{0,255}\d)[\w.~%+-]{16,}$/.test(user);
  if (password === undefined) return isToken ? `://${MASK}` : undefined;
  return `://${isToken ? MASK : user}:${MASK}`;
};

const KEY_LABEL = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
/** Shorter words without a digit are prose: "bearer authentication". */
const BEARER = "(?:\\s|%20|\\+){1,4}(?:(?=[a-z._~+/-]{0,40}\\d)[\\w.~+/-]{8,}|[\\w.~+/-]{20,})={0,2}";

export const SHAPES: readonly SecretRule[] = [
  // A private key: up to its end line, or to the end of the text if that line is missing.
  {
    tells: "-----BEGIN ",
    match: `-----BEGIN ${KEY_LABEL}[^]*?(?:-----END ${KEY_LABEL}|$)`,
    shown: hidden,
  },
  ...["Bearer", "bearer", "BEARER"].map((tells) => ({
    tells,
    match: tells + BEARER,
    shown: after(/^bearer(?:\s|%20|\+){1,4}/i),
  })),
  { tells: "://", match: ":\\/\\/[^\\s/:@\"'<>]{0,256}(?::[^\\s/\"'<>]{1,256})?(?=@)", shown: shownUser },
  ...rulesOf(CLEAR, ""),
  ...rulesOf(AT_A_START, WORD_START),
  { tells: "sk-", match: SK_IN_A_WORD, shown: hidden },
  // JWT: three base64url parts, the first of which begins with {". A run without the other parts is skipped, so that no run
  // is read twice.
  {
    tells: "eyJ",
    match: "eyJ[\\w-]{8,}(?:\\.[\\w-]{8,}\\.[\\w-]{8,})?",
    shown: (run) => (run.includes(".") ? MASK : undefined),
  },
  // The literal part of these is not at their beginning: Terraform, MaxMind, Azure, Telegram, Airtable
  { tells: ".atlasv1.", back: 14, match: `${ALNUM}{14}\\.atlasv1\\.[\\w=-]{60,}`, shown: hidden },
  { tells: "_mmk", back: 36, match: `${ALNUM}{6}_${ALNUM}{29}_mmk`, shown: hidden },
  { tells: "Q~", back: 4, match: "[\\w~.]{3}\\dQ~[\\w~.-]{31,}", shown: hidden },
  { tells: ":AA", match: "(?<=\\d{8}):AA[\\w-]{33}", shown: () => `:${MASK}` },
  { tells: "pat", match: `pat${ALNUM}{14}\\.[a-f0-9]{64}`, shown: hidden },
];

const beginsOf = (shapes: readonly Shape[]): string =>
  shapes.flatMap(([begins]) => begins.map(escaped)).join("|");

/** A run at the end of a text that begins like a token: the rest of the token was cut off. */
export const CUT_TOKEN = new RegExp(
  `(?:${beginsOf(CLEAR)}|eyJ|${WORD_START}(?:${beginsOf(AT_A_START)}))[\\w.+/=~@-]{0,8192}$`,
);

/** `curl -u NAME:PASSWORD` */
export const CURL_USER = /(?<![\w-])((?:-u|--user)[ =]{0,2}["']?[^\s:"']{1,64}:)[^\s"']{3,256}/g;
