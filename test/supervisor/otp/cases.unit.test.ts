import { describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { OTP_CASES, SUTURE_CASES } from "./cases.ts";
import { titlesIn } from "./page.ts";

const CASES_MIN = 50;
const suites = [
  { folder: "otp", cases: OTP_CASES },
  { folder: "suture", cases: SUTURE_CASES },
];

describe.each(suites)("the case list of $folder", ({ folder, cases }) => {
  it("has one test for each case that applies, and no test of a case that it does not list", () => {
    const listed = Object.keys(cases).filter((name) => cases[name] === null);
    expect(
      titlesIn(folder)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(listed.sort());
  });
});

it("covers at least fifty cases of OTP", () => {
  const covered = Object.values(OTP_CASES).filter((reason) => reason === null).length;
  expect(covered).toBeGreaterThanOrEqual(CASES_MIN);
  figure("R2", { rounds: covered, failures: 0, note: "cases of supervisor_SUITE, each a test" });
});
