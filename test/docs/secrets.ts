/** docs/reference/secrets.md: what is masked and what is not, and a comparison with a public list of rules, each with a made-up sample that the test masks. */

/** The list: its rules' names, and when they were read. Nothing but the names comes from there. */
const LIST = {
  name: "gitleaks",
  version: "v8.30.0-27-gb58d3f10, config/gitleaks.toml",
  of: "2026-07-22",
  compared: "2026-11-23",
};

const LETTERS = "aB3dE5gH7jK9mN1pQ2rS4tU6";
const text = (length: number): string => LETTERS.repeat(20).slice(0, length);
const hex = (length: number): string => "0123456789abcdef".repeat(20).slice(0, length);
const upper = (length: number): string => text(length).toUpperCase();

/** By its own form, whatever stands around it. */
const SHAPES: Readonly<Record<string, string>> = {
  "1password-secret-key": `A3-${upper(6)}-${upper(6)}-${upper(5)}-${upper(5)}-${upper(5)}-${upper(5)}`,
  "1password-service-account-token": `ops_eyJ${text(260)}`,
  "adobe-client-secret": `p8e-${text(32)}`,
  "age-secret-key": `AGE-SECRET-KEY-1${upper(58)}`,
  "airtable-personnal-access-token": `pat${text(14)}.${hex(64)}`,
  "alibaba-access-key-id": `LTAI${text(20)}`,
  "anthropic-admin-api-key": `sk-ant-admin01-${text(93)}AA`,
  "anthropic-api-key": `sk-ant-api03-${text(93)}AA`,
  "artifactory-api-key": `AKCp${text(69)}`,
  "artifactory-reference-token": `cmVmd${text(59)}`,
  "aws-access-token": `AKIA${upper(16)}`,
  "aws-amazon-bedrock-api-key-long-lived": `ABSK${text(120)}`,
  "aws-amazon-bedrock-api-key-short-lived": `bedrock-api-key-${text(60)}`,
  "azure-ad-client-secret": `${text(3)}8Q~${text(34)}`,
  "clojars-api-token": `CLOJARS_${text(60)}`,
  "cloudflare-origin-ca-key": `v1.0-${hex(24)}-${hex(146)}`,
  "curl-auth-header": `curl -H 'Authorization: Bearer ${text(20)}'`,
  "curl-auth-user": `curl -u me:${text(12)} https://example.org`,
  "databricks-api-token": `dapi${hex(32)}`,
  "digitalocean-access-token": `doo_v1_${hex(64)}`,
  "digitalocean-pat": `dop_v1_${hex(64)}`,
  "digitalocean-refresh-token": `dor_v1_${hex(64)}`,
  "doppler-api-token": `dp.pt.${text(43)}`,
  "duffel-api-token": `duffel_live_${text(43)}`,
  "dynatrace-api-token": `dt0c01.${text(24)}.${text(64)}`,
  "easypost-api-token": `EZAK${text(54)}`,
  "easypost-test-api-token": `EZTK${text(54)}`,
  "facebook-page-access-token": `EAAM${text(110)}`,
  "flutterwave-encryption-key": `FLWSECK_TEST-${hex(12)}`,
  "flutterwave-secret-key": `FLWSECK_TEST-${hex(32)}-X`,
  "flyio-access-token": `fo1_${text(43)}`,
  "frameio-api-token": `fio-u-${text(64)}`,
  "gcp-api-key": `AIza${text(35)}`,
  "github-app-token": `ghu_${text(36)}`,
  "github-fine-grained-pat": `github_pat_${text(82)}`,
  "github-oauth": `gho_${text(36)}`,
  "github-pat": `ghp_${text(36)}`,
  "github-refresh-token": `ghr_${text(36)}`,
  "gitlab-cicd-job-token": `glcbt-1a_${text(20)}`,
  "gitlab-deploy-token": `gldt-${text(20)}`,
  "gitlab-feature-flag-client-token": `glffct-${text(20)}`,
  "gitlab-feed-token": `glft-${text(20)}`,
  "gitlab-incoming-mail-token": `glimt-${text(25)}`,
  "gitlab-kubernetes-agent-token": `glagent-${text(50)}`,
  "gitlab-oauth-app-secret": `gloas-${text(64)}`,
  "gitlab-pat": `glpat-${text(20)}`,
  "gitlab-pat-routable": `glpat-${text(27)}.01.${hex(9)}`,
  "gitlab-ptt": `glptt-${hex(40)}`,
  "gitlab-rrt": `GR1348941${text(20)}`,
  "gitlab-runner-authentication-token": `glrt-${text(20)}`,
  "gitlab-runner-authentication-token-routable": `glrt-t1_${text(27)}.01.${hex(9)}`,
  "gitlab-scim-token": `glsoat-${text(20)}`,
  "grafana-api-key": `eyJrIjoi${text(80)}`,
  "grafana-cloud-api-token": `glc_${text(40)}`,
  "grafana-service-account-token": `glsa_${text(32)}_${hex(8)}`,
  "harness-api-key": `pat.${text(22)}.${text(24)}.${text(20)}`,
  "hashicorp-tf-api-token": `${text(14)}.atlasv1.${text(64)}`,
  "heroku-api-key-v2": `HRKU-AA${text(58)}`,
  "huggingface-access-token": `hf_${text(34)}`,
  "huggingface-organization-api-token": `api_org_${text(34)}`,
  "infracost-api-token": `ico-${text(32)}`,
  "intra42-client-secret": `s-s4t2ud-${hex(64)}`,
  jwt: `eyJ${text(20)}.eyJ${text(30)}.${text(43)}`,
  "jwt-base64": `ZXlK${text(60)}`,
  "linear-api-key": `lin_api_${text(40)}`,
  "maxmind-license-key": `${text(6)}_${text(29)}_mmk`,
  "microsoft-teams-webhook": `https://acme.webhook.office.com/webhookb2/${hex(8)}-${hex(36)}@${hex(36)}/IncomingWebhook/${hex(32)}`,
  "new-relic-browser-api-token": `NRJS-${hex(19)}`,
  "new-relic-insert-key": `NRII-${text(32)}`,
  "new-relic-user-api-key": `NRAK-${upper(27)}`,
  "notion-api-token": `ntn_01234567890${text(35)}`,
  "npm-access-token": `npm_${text(36)}`,
  "octopus-deploy-api-key": `API-${upper(26)}`,
  "openai-api-key": `sk-proj-${text(74)}`,
  "openshift-user-token": `sha256~${text(43)}`,
  "perplexity-api-key": `pplx-${text(48)}`,
  "planetscale-api-token": `pscale_tkn_${text(40)}`,
  "planetscale-oauth-token": `pscale_oauth_${text(40)}`,
  "planetscale-password": `pscale_pw_${text(40)}`,
  "postman-api-token": `PMAK-${hex(24)}-${hex(34)}`,
  "prefect-api-token": `pnu_${text(36)}`,
  "private-key": `-----BEGIN RSA PRIVATE KEY-----\n${text(64)}\n-----END RSA PRIVATE KEY-----`,
  "pulumi-api-token": `pul-${hex(40)}`,
  "pypi-upload-token": `pypi-AgEI${text(60)}`,
  "readme-api-token": `rdme_${text(70)}`,
  "rubygems-api-token": `rubygems_${hex(48)}`,
  "scalingo-api-token": `tk-us-${text(48)}`,
  "sendgrid-api-token": `SG.${text(22)}.${text(43)}`,
  "sendinblue-api-token": `xkeysib-${hex(64)}-${text(16)}`,
  "sentry-org-token": `sntrys_${text(60)}`,
  "sentry-user-token": `sntryu_${hex(64)}`,
  "settlemint-application-access-token": `sm_aat_${text(16)}`,
  "settlemint-personal-access-token": `sm_pat_${text(16)}`,
  "settlemint-service-access-token": `sm_sat_${text(16)}`,
  "shippo-api-token": `shippo_live_${hex(40)}`,
  "shopify-access-token": `shpat_${hex(32)}`,
  "shopify-custom-access-token": `shpca_${hex(32)}`,
  "shopify-private-app-access-token": `shppa_${hex(32)}`,
  "shopify-shared-secret": `shpss_${hex(32)}`,
  "sidekiq-sensitive-url": `https://${hex(8)}:${hex(8)}@gems.example.org`,
  "slack-app-token": `xapp-1-${upper(10)}-1234567890-${hex(32)}`,
  "slack-bot-token": `xoxb-1234567890-1234567890${text(20)}`,
  "slack-config-access-token": `xoxe-${upper(160)}`,
  "slack-config-refresh-token": `xoxe-1-${upper(146)}`,
  "slack-legacy-bot-token": `xoxb-12345678-${text(20)}`,
  "slack-legacy-token": `xoxo-1-2-3-${hex(20)}`,
  "slack-legacy-workspace-token": `xoxa-${text(20)}`,
  "slack-user-token": `xoxp-1234567890-1234567890-1234567890-${text(30)}`,
  "slack-webhook-url": `https://hooks.slack.com/services/${text(44)}`,
  "sourcegraph-access-token": `sgp_${hex(40)}`,
  "square-access-token": `sq0atp-${text(22)}`,
  "stripe-access-token": `sk_live_${text(24)}`,
  "telegram-bot-api-token": `123456789:AA${text(33)}`,
  "twilio-api-key": `SK${hex(32)}`,
  "typeform-api-token": `tfp_${text(59)}`,
  "vault-batch-token": `hvb.${text(140)}`,
  "vault-service-token": `hvs.${text(96)}`,
  "yandex-api-key": `AQVN${text(36)}`,
};

const named = (names: string): readonly string[] => names.split(" ");

/** A bare run of letters and digits: by the name before it, in a name that ends in key, token or secret, as these products write it. */
const BY_NAME: readonly string[] = named(
  "adafruit-api-key airtable-api-key algolia-api-key alibaba-secret-key asana-client-secret atlassian-api-token " +
    "authress-service-client-access-key beamer-api-token bitbucket-client-secret bittrex-access-key bittrex-secret-key " +
    "cisco-meraki-api-key clickhouse-cloud-api-secret-key cloudflare-api-key cloudflare-global-api-key codecov-access-token " +
    "cohere-api-token coinbase-access-token confluent-access-token confluent-secret-key contentful-delivery-api-token " +
    "datadog-access-token defined-networking-api-token discord-api-token discord-client-secret droneci-access-token " +
    "dropbox-api-token dropbox-long-lived-api-token dropbox-short-lived-api-token etsy-access-token facebook-access-token " +
    "facebook-secret fastly-api-token finicity-api-token finicity-client-secret finnhub-access-token flickr-access-token " +
    "freemius-secret-key freshbooks-access-token generic-api-key gitter-access-token gocardless-api-token " +
    "hashicorp-tf-password heroku-api-key hubspot-api-key intercom-api-key jfrog-api-key jfrog-identity-token " +
    "kraken-access-token kucoin-access-token kucoin-secret-key launchdarkly-access-token linear-client-secret " +
    "linkedin-client-secret lob-api-key looker-client-secret mailchimp-api-key mailgun-private-api-token " +
    "mailgun-signing-key mapbox-api-token mattermost-access-token messagebird-api-token netlify-access-token " +
    "nytimes-access-token okta-access-token plaid-api-token plaid-secret-key privateai-api-token rapidapi-access-token " +
    "sendbird-access-token sentry-access-token sidekiq-secret snyk-api-token sonar-api-token squarespace-access-token " +
    "sumologic-access-token travisci-access-token twitch-api-token twitter-access-secret twitter-access-token " +
    "twitter-api-key twitter-api-secret twitter-bearer-token yandex-access-token yandex-aws-access-token zendesk-secret-key",
);

/** Not masked, each for its reason. */
const NOT: Readonly<Record<string, readonly string[]>> = {
  "It identifies somebody, and gives no access.": named(
    "adobe-client-id asana-client-id bitbucket-client-id discord-client-id linkedin-client-id looker-client-id " +
      "messagebird-client-id new-relic-user-api-id plaid-client-id sendbird-access-id sumologic-access-id",
  ),
  "It is a public key.": named("flutterwave-public-key lob-pub-api-key mailgun-pub-key"),
  "It looks like any cookie: it is masked only in a Cookie header.": ["gitlab-session-cookie"],
  "The name and the value are in two attributes, or on two lines.": [
    "kubernetes-secret-yaml",
    "nuget-config-password",
  ],
  "It is a kind of file, not a text.": ["pkcs12-file"],
};

/** A sample for each rule that is answered. */
export const samples = (): readonly (readonly [rule: string, sample: string])[] => [
  ...Object.entries(SHAPES),
  ...BY_NAME.map((rule) => [rule, `${rule.replaceAll("-", "_")} = ${text(32)}`] as const),
];
export const unanswered = (): readonly string[] => Object.values(NOT).flat();

const rows = (rules: readonly string[]): string => rules.map((rule) => `\`${rule}\``).join(" ");
const shapes = Object.keys(SHAPES);

export const page = (): string => `# Secrets

<!-- Generated by \`npm run docs\` from test/docs/secrets.ts. Do not edit. -->

Holdfast writes \`***\` in place of each secret that it finds, before anything is stored and before anything is shown.
This holds for events, names of members, data, error messages, plans of \`--dry-run\`, exports, artifacts, the daemon's own log and all three output modes.
The raw output of an agent (\`agent logs --raw\`, the run directories) is the exception: it is kept as the agent wrote it, readable only by its user, and deleted 24 hours after the end.

## How a secret is found

- **By its value.** Values of variables with a secret's name, of \`@file:\` and \`@env:\` references, and of flags such as \`--api-key\` are known.
  They are masked in plain form, escaped in JSON, in JSON inside JSON, in a URL or a form, and in base64, base64url and hex.
- **By its form.** Keys and tokens with a distinctive beginning are masked whatever precedes them: a colour code, a dash, a letter, a digit.
  So are private keys, JWTs, bearers, and the password (or a token in place of the user) of a URL.
- **By its name.** A value after a secret's name is masked. The case does not matter, and the separator may be \`=\`, \`:\`, \`:=\`, \`=>\`, \`%3D\` or a flag's space: \`password=…\`, \`x-api-key: …\`, \`--token …\`, \`aws_secret_access_key = …\`, \`<password>…</password>\`.
  \`Authorization\` keeps its scheme, and \`Cookie\` the names of its cookies.
  In JSON all texts, and numbers of six digits and more, below a secret's name are masked; so is a member's name that is itself a secret.

A worker or a supervisor with a name that looks like a secret is refused, and so is a request with such an id.

References (\`@env:NAME\`, \`$NAME\`), placeholders (\`<token>\`, \`string\`, \`none\`), paths, short numbers and code (\`token = getToken()\`) stay readable.

## Secrets that are not found

- A known value that is reversed, split over two lines or two events, encrypted, compressed, or encoded twice.
- A value shorter than 6 characters, which would mask ordinary words, and an encoded form shorter than 8.
- A secret without a distinctive form and without a name before it, and a password of letters only in a longer sentence (\`Password: enter your password\`).
- A private key that a \`command\` prints as separate lines: each line is an event, and only the first one shows what it is.
- A value in code that reads like a name: \`password = my_secret\`.
- Records that an earlier version wrote: the log is never rewritten.

## Compared with ${LIST.name}

Compared on ${LIST.compared} with the rules of ${LIST.name} (${LIST.version}, of ${LIST.of}): ${shapes.length + BY_NAME.length} of its ${shapes.length + BY_NAME.length + unanswered().length} rules are covered.
Only the names of its rules were taken from it; the patterns here are written from the vendors' descriptions of their tokens.
A test masks a made-up sample of each covered rule (\`test/docs/secrets.unit.test.ts\`).

| covered | rules | names |
|---|---|---|
| by its form, anywhere | ${shapes.length} | ${rows(shapes)} |
| by the name before it | ${BY_NAME.length} | ${rows(BY_NAME)} |
${Object.entries(NOT)
  .map(([why, rules]) => `| no: ${why} | ${rules.length} | ${rows(rules)} |`)
  .join("\n")}

Beyond that list: keys of xAI, Groq, NVIDIA, Replicate, E2B, Tavily, LangSmith, OpenRouter, Supabase, Figma, Google OAuth, Bitbucket app passwords, and PGP private keys.

## Costs

\`npm run bench -- masking\` moves lines of claude from their spool to the durable log, in alternating batches: with six known secrets masked, one of them a private key, and without any masking.
The bench fails above +10 % of processor time; [performance.md](performance.md) has its rows.
On a quiet machine, 2026-11-23, recorded runs cost +8.9 %, whole transcripts +12.1 % and results of tools alone, of 3.4 KB a line, +15.3 %: the last two miss the bound.
In two runs on 2026-11-23, beside other work (a load of 10 to 19 on two cores), recorded runs cost +6.3 and +10.9 % (+45 % before the search below existed), whole transcripts +13.9 and +14.2 % (+108 %), and results of tools alone, of 3.4 KB each, +14.7 and +20.6 % (+246 %).
So short lines are about at the bound, and long lines **miss** it.

A known value is searched in about 25 spellings, and a private key line by line: a single regular expression for all of them reads every character of each line.
Before it runs an exact search that, with these secrets, reads only every thirteenth place of a text: a part of M characters has four known characters at one of any M - 3 places in a row (\`src/base/secrets/finder.ts\`).
A test compares it with the regular expression alone, on random texts with secrets in each spelling.
`;
